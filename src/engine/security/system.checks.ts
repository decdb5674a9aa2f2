import { KERNEL_KEYS, NETWORK_KEYS, RARE_MODULES } from '../../commands/security.commands.ts';
import { SecuritySeverity } from '../../entities/security.ts';
import { byHand, type Check, type Finding, fail, fixable, pass, unknown, warn } from './check.ts';
import type { SecurityFacts } from './security-facts.ts';

/** The kernel and Docker. */
export const systemChecks: readonly Check[] = [
  {
    id: 'network-settings',
    title: 'The kernel does not believe strange packets',
    severity: SecuritySeverity.MEDIUM,
    look: facts => settings(facts, NETWORK_KEYS),
  },
  {
    id: 'kernel-settings',
    title: 'The kernel keeps its secrets',
    severity: SecuritySeverity.LOW,
    look(facts) {
      const finding = settings(facts, KERNEL_KEYS);
      if (!facts.isTrue('container') || finding.fixable !== true) return finding;
      return byHand({ ...finding, fixable: false }, 'The kernel is that of the machine around this container');
    },
  },
  {
    id: 'core-dumps',
    title: 'A program that crashes leaves no memory behind',
    severity: SecuritySeverity.LOW,
    look(facts) {
      const wanted = '* hard core 0';
      const lines = facts.lines('core-limits');
      if (lines === undefined) return unknown('/etc/security/limits.d', wanted);
      return lines.length > 0 ? pass('off', wanted) : fixable(warn('crashes may write memory to disk', wanted));
    },
  },
  {
    id: 'rare-modules',
    title: 'Parts of the kernel that nobody uses stay out',
    severity: SecuritySeverity.LOW,
    look: rareModules,
  },
  {
    id: 'docker-socket',
    title: "Docker's socket is for root and its own group",
    severity: SecuritySeverity.CRITICAL,
    look: dockerSocket,
  },
  {
    id: 'docker-tcp',
    title: 'Docker takes no orders from the network',
    severity: SecuritySeverity.CRITICAL,
    look: dockerTcp,
  },
];

/** Strict or loose: a server with two networks needs the loose kind, and both are a check. The first is the one to set. */
const RIGHT: Readonly<Record<string, readonly string[]>> = {
  'net.ipv4.conf.all.rp_filter': ['2', '1'],
  'net.ipv4.conf.default.rp_filter': ['2', '1'],
  'net.ipv4.icmp_echo_ignore_broadcasts': ['1'],
  'net.ipv4.icmp_ignore_bogus_error_responses': ['1'],
  'net.ipv4.tcp_syncookies': ['1', '2'],
  'fs.protected_fifos': ['2', '1'],
  'fs.protected_hardlinks': ['1'],
  'fs.protected_regular': ['2', '1'],
  'fs.protected_symlinks': ['1'],
  'kernel.dmesg_restrict': ['1'],
  'kernel.kptr_restrict': ['2', '1'],
  'kernel.randomize_va_space': ['2'],
  // 1 cannot be taken back before a restart, so 2 is what is set.
  'kernel.unprivileged_bpf_disabled': ['2', '1'],
};

export interface KernelSetting {
  key: string;
  value: string;
  /** What it has to be; its own value where that is right. */
  right: string;
}

/** A server without IPv6 has none of its settings: what is not there is not wrong. */
export function readSettings(facts: SecurityFacts, keys: readonly string[]): KernelSetting[] | undefined {
  const said = facts.lines('sysctl');
  if (said === undefined || said.length === 0) return undefined;
  return keys.flatMap(key => {
    const line = said.find(each => each.startsWith(`${key} = `));
    if (line === undefined) return [];
    const value = String(Number(line.slice(key.length + 3)));
    const right = RIGHT[key] ?? ['0'];
    return [{ key, value, right: right.includes(value) ? value : (right[0] ?? '0') }];
  });
}

function settings(facts: SecurityFacts, keys: readonly string[]): Finding {
  const all = readSettings(facts, keys);
  const wanted = all?.map(({ key, right }) => `${key} = ${right}`).join(', ') ?? 'safe values';
  if (all === undefined || all.length === 0) return unknown('sysctl did not answer', wanted);
  const wrong = all.filter(({ value, right }) => value !== right);
  if (wrong.length === 0) return pass('as it should be', wanted);
  return fixable(warn(wrong.map(({ key, value }) => `${key} = ${value}`).join(', '), wanted));
}

function rareModules(facts: SecurityFacts): Finding {
  const wanted = `never loaded: ${RARE_MODULES.join(', ')}`;
  const lines = facts.lines('modules');
  if (lines === undefined) return unknown('/etc/modprobe.d', wanted);
  const shut = new Set(lines.map(line => line.split(/\s+/)[1]?.replaceAll('_', '-')));
  const open = RARE_MODULES.filter(name => !shut.has(name));
  return open.length === 0
    ? pass('none is loaded', wanted)
    : fixable(warn(`may be loaded: ${open.join(', ')}`, wanted));
}

function dockerSocket(facts: SecurityFacts): Finding {
  const wanted = '660, root, docker';
  if (facts.isMissing('docker')) return pass('no Docker', wanted);
  const said = facts.said('docker-socket');
  if (said === undefined) return unknown('the socket is not there', wanted);
  const [mode = '', owner = ''] = said.split(' ');
  const isShut = (Number.parseInt(mode, 8) & 0o007) === 0 && owner === 'root';
  return isShut ? pass(said, wanted) : fixable(fail(said, wanted));
}

function dockerTcp(facts: SecurityFacts): Finding {
  const wanted = 'no port of its own';
  if (facts.isMissing('docker')) return pass('no Docker', wanted);
  const lines = facts.lines('listening');
  if (lines === undefined) return unknown('ss did not answer', wanted);
  // 2377 and 7946 are a cluster's own, with certificates.
  const ports = lines
    .filter(line => line.includes('("dockerd"'))
    .map(line => line.split(/\s+/)[3] ?? '')
    .filter(local => !/:(2377|7946)$/.test(local));
  if (ports.length === 0) return pass('none', wanted);
  return byHand(
    fail(ports.join(', '), wanted),
    'Whoever reaches it is root. Take the tcp:// address out of /etc/docker/daemon.json or the unit of docker.service',
  );
}
