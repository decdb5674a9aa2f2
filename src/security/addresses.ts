import { BlockList, isIP } from 'node:net';

type Range = readonly [network: string, prefix: number];

/**
 * Where clouds keep the credentials of the machine: never a target, whatever is allowed. Most live among the link-local
 * addresses, where nobody's server does; the others are those of Azure, Alibaba, Oracle, AWS, Google and Scaleway.
 */
const NEVER: readonly Range[] = [
  ['169.254.0.0', 16],
  ['168.63.129.16', 32],
  ['100.100.100.200', 32],
  ['192.0.0.192', 32],
  ['fe80::', 10],
  ['fd00:ec2::', 32],
  ['fd20:ce::254', 128],
  ['fd00:42::42', 128],
];

/** What is not on the public internet, by the registries of special addresses. */
const PRIVATE: readonly Range[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['::', 96],
  ['::ffff:0:0:0', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fec0::', 10],
  ['ff00::', 8],
];

/** Which addresses may be connected to. An IPv4 address is judged as such in whatever IPv6 form it comes. */
export class AddressRules {
  readonly #never = new Ranges(NEVER);
  readonly #private = new Ranges(PRIVATE);
  readonly #allowed: Ranges;

  constructor(allow: readonly string[]) {
    this.#allowed = new Ranges(allow.map(parseCidr));
  }

  /** Why not, or undefined. */
  refusalOf(address: string): string | undefined {
    const plain = address.replace(/%.*$/, '');
    const inner = innerIpv4(plain);
    const forms = inner === undefined ? [plain] : [plain, inner.address];
    if (forms.some(form => this.#never.include(form))) return 'the address is one of cloud metadata or link-local';
    const judged = inner?.isSame ? inner.address : plain;
    if (!this.#private.include(judged) || forms.some(form => this.#allowed.include(form))) return undefined;
    return 'the address is private; an operator can allow it by OUTBOUND_ALLOW';
  }
}

class Ranges {
  readonly #list = new BlockList();

  constructor(ranges: readonly Range[]) {
    for (const [network, prefix] of ranges) this.#list.addSubnet(network, prefix, familyOf(network));
  }

  include(address: string): boolean {
    return this.#list.check(address, familyOf(address));
  }
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

function parseCidr(cidr: string): Range {
  const [network = '', prefix] = cidr.split('/');
  return [network, prefix === undefined ? (isIP(network) === 6 ? 128 : 32) : Number(prefix)];
}

interface Inner {
  address: string;
  /** Whoever connects to the IPv6 form reaches just this address. */
  isSame: boolean;
}

/** The IPv4 address inside an IPv6 one: mapped, translated by NAT64, compatible, 6to4 or Teredo. */
function innerIpv4(address: string): Inner | undefined {
  if (isIP(address) !== 6) return undefined;
  const groups = groupsOf(address);
  const last = (mask: number) => dotted((groups[6] ?? 0) ^ mask, (groups[7] ?? 0) ^ mask);
  const head = groups.slice(0, 6).join();
  if (head === '0,0,0,0,0,65535' || head === `${0x64},${0xff9b},0,0,0,0`) return { address: last(0), isSame: true };
  if (groups[0] === 0x2002) return { address: dotted(groups[1] ?? 0, groups[2] ?? 0), isSame: false };
  if (groups[0] === 0x2001 && groups[1] === 0) return { address: last(0xffff), isSame: false };
  return { address: last(0), isSame: false };
}

const dotted = (high: number, low: number): string => [high >> 8, high & 255, low >> 8, low & 255].join('.');

/** The eight numbers of an IPv6 address. */
function groupsOf(address: string): number[] {
  const text = address.replace(/\d+\.\d+\.\d+\.\d+$/, tail => {
    const [a = 0, b = 0, c = 0, d = 0] = tail.split('.').map(Number);
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  });
  const [head = '', tail] = text.split('::');
  const read = (part: string) => (part === '' ? [] : part.split(':').map(group => Number.parseInt(group, 16)));
  const [before, after] = [read(head), read(tail ?? '')];
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}
