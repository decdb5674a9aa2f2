import { lookup } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { Agent, type RequestInit, type Response, fetch as undiciFetch } from 'undici';

/** An address we do not talk to, or an answer larger or slower than we take. */
export class OutboundRefused extends Error {}

export interface OutboundOptions {
  /** CIDRs of private networks that may be reached. */
  allow: readonly string[];
  /** Certificates of private authorities, besides the well-known ones. */
  caFile: string | undefined;
}

interface Resolved {
  address: string;
  family: number;
}

const TIMEOUT_MS = 15_000;
const LARGEST_ANSWER = 16 * 1024 * 1024;

/** Where clouds keep the credentials of the machine: never a target, whatever is allowed. */
const METADATA = [
  ['169.254.169.254', 32],
  ['169.254.170.2', 32],
  ['100.100.100.200', 32],
  ['fd00:ec2::254', 128],
] as const;

const PRIVATE = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['::', 128],
  ['::1', 128],
  ['64:ff9b::', 96],
  ['100::', 64],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const;

/**
 * The one way to an address that a user gave. A name is resolved once, every address it has is checked, and the connection
 * goes to what was checked: a name that changes its mind in between gains nothing. Redirects are not followed.
 */
export class Outbound {
  readonly #metadata = blockList(METADATA);
  readonly #private = blockList(PRIVATE);
  readonly #allowed: BlockList;
  readonly #agent: Agent;
  readonly caFile: string | null;

  constructor({ allow, caFile }: OutboundOptions) {
    this.#allowed = blockList(allow.map(parseCidr));
    this.caFile = caFile ?? null;
    const ca = caFile === undefined ? {} : { ca: readFileSync(caFile, 'utf8') };
    this.#agent = new Agent({
      connect: { ...ca, timeout: TIMEOUT_MS, lookup: (host, _options, done) => void this.#lookUp(host, done) },
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
      maxResponseSize: LARGEST_ANSWER,
    });
  }

  /** Like `fetch`, to checked addresses only. */
  readonly fetch = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input);
    if (url.protocol !== 'https:' && url.protocol !== 'http:')
      throw new OutboundRefused('only http and https are spoken');
    const literal = url.hostname.replace(/^\[|\]$/g, '');
    if (isIP(literal) !== 0) this.check(literal);
    const limit = AbortSignal.timeout(TIMEOUT_MS);
    const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
    return undiciFetch(url, { ...init, signal, dispatcher: this.#agent, redirect: 'manual' });
  };

  /** The checked addresses of a host, for programs that connect by themselves and can be told where. */
  async resolve(host: string): Promise<Resolved[]> {
    const found = isIP(host) === 0 ? await lookup(host, { all: true }) : [{ address: host, family: isIP(host) }];
    for (const { address } of found) this.check(address);
    return found;
  }

  check(address: string): void {
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
    const family = isIP(plain) === 6 ? 'ipv6' : 'ipv4';
    const isForbidden =
      this.#metadata.check(plain, family) ||
      (this.#private.check(plain, family) && !this.#allowed.check(plain, family));
    if (isForbidden) throw new OutboundRefused('the address is private; an operator can allow it by OUTBOUND_ALLOW');
  }

  async #lookUp(host: string, done: (error: Error | null, found: Resolved[]) => void): Promise<void> {
    try {
      done(null, await this.resolve(host));
    } catch (error) {
      done(error as Error, []);
    }
  }

  close(): Promise<void> {
    return this.#agent.close();
  }
}

function blockList(ranges: readonly (readonly [network: string, prefix: number])[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of ranges) list.addSubnet(network, prefix, isIP(network) === 6 ? 'ipv6' : 'ipv4');
  return list;
}

function parseCidr(cidr: string): [string, number] {
  const [network = '', prefix] = cidr.split('/');
  return [network, prefix === undefined ? (isIP(network) === 6 ? 128 : 32) : Number(prefix)];
}
