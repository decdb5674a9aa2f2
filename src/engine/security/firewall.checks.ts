import { SecuritySeverity } from '../../entities/security.ts';
import { byHand, type Check, type Finding, fail, fixable, pass, unknown, warn } from './check.ts';
import { publishedPorts, readDockerChain, readUfw, sshPorts } from './firewall-rules.ts';
import type { SecurityFacts } from './security-facts.ts';

/** What can be reached from outside. */
export const firewallChecks: readonly Check[] = [
  {
    id: 'firewall',
    title: 'A firewall lets in only what is allowed',
    severity: SecuritySeverity.HIGH,
    look: firewall,
  },
  {
    id: 'docker-firewall',
    title: 'Ports that Docker publishes respect the firewall',
    severity: SecuritySeverity.HIGH,
    look: dockerFirewall,
  },
  {
    id: 'fail2ban',
    title: 'Who guesses at SSH is shut out',
    severity: SecuritySeverity.MEDIUM,
    look(facts) {
      const wanted = 'fail2ban watches sshd';
      if (facts.isMissing('fail2ban')) return fixable(fail('fail2ban is not installed', wanted));
      if (facts.said('fail2ban') === undefined) return fixable(fail('fail2ban does not watch sshd', wanted));
      return pass('fail2ban watches sshd', wanted);
    },
  },
  {
    id: 'listening-ports',
    title: 'Nothing listens to the world unasked',
    severity: SecuritySeverity.MEDIUM,
    look: listening,
  },
];

/** Somebody who brought a firewall of their own keeps it: two of them contradict each other. */
export function hasOtherFirewall(facts: SecurityFacts): boolean {
  const ufw = readUfw(facts);
  const isNotUfw = ufw === undefined ? facts.isMissing('ufw') : !ufw.isActive;
  return facts.isTrue('firewalld') || (deniesInput(facts) && isNotUfw);
}

const deniesInput = (facts: SecurityFacts) => facts.lines('iptables')?.includes('-P INPUT DROP') ?? false;

function firewall(facts: SecurityFacts): Finding {
  const wanted = 'active, refusing what no rule allows';
  if (hasOtherFirewall(facts)) return pass('a firewall that is not ufw refuses what no rule allows', wanted);
  if (facts.isMissing('ufw')) return fixable(fail('no firewall', wanted));
  const ufw = readUfw(facts);
  if (ufw === undefined) return unknown('ufw did not answer', wanted);
  if (!ufw.isActive) return fixable(fail('ufw is installed and off', wanted));
  if (!ufw.deniesByDefault) return fixable(fail('ufw lets in whatever no rule forbids', wanted));
  return pass(`active; open: ${ufw.openPorts.join(', ') || 'nothing'}`, wanted);
}

function dockerFirewall(facts: SecurityFacts): Finding {
  const wanted = 'published ports are reached only where the firewall allows them';
  const chain = readDockerChain(facts);
  const published = publishedPorts(facts);
  if (chain === undefined && !facts.isMissing('iptables')) return unknown('iptables did not answer', wanted);
  const hasDocker = !facts.isMissing('docker');
  const open = [...new Set(published?.map(({ port }) => port))].join(', ');
  if (chain?.drops !== true) {
    const found = hasDocker ? `Docker goes round the firewall; published: ${open || 'nothing'}` : 'no rules for Docker';
    const finding = hasDocker ? fail(found, wanted) : warn(found, wanted);
    if (hasOtherFirewall(facts))
      return byHand(finding, 'Add rules to the chain DOCKER-USER in the firewall that is used');
    return fixable(finding);
  }
  const unlike = unlikeUfw(facts, chain.openPorts);
  if (unlike !== undefined) return fixable(warn(unlike, wanted));
  return pass(`rules are in place; published: ${open || 'nothing'}`, wanted);
}

/** Docker's rules are a copy of what ufw allowed when they were written. */
function unlikeUfw(facts: SecurityFacts, openPorts: readonly number[] | undefined): string | undefined {
  const ufw = readUfw(facts);
  if (openPorts === undefined || ufw === undefined) return undefined;
  if (facts.said('ufw-block') === '') return 'the rules are not written down and would be lost';
  const ssh = sshPorts(facts);
  const missing = ufw.openPorts.filter(port => !openPorts.includes(port) && !ssh.includes(port));
  const extra = openPorts.filter(port => !ufw.openPorts.includes(port));
  if (missing.length === 0 && extra.length === 0) return undefined;
  return `ufw and the rules for Docker differ in ${[...missing, ...extra].join(', ')}`;
}

const WELL_KNOWN = new Set([80, 443]);

function listening(facts: SecurityFacts): Finding {
  const wanted = 'SSH and the web, or what a firewall guards';
  const lines = facts.lines('listening');
  if (lines === undefined) return unknown('ss did not answer', wanted);
  const ssh = sshPorts(facts);
  const ufw = readUfw(facts);
  const isGuarded = (ufw?.isActive === true && ufw.deniesByDefault) || hasOtherFirewall(facts);
  const open = openToAll(lines).filter(port => !ssh.includes(port) && !WELL_KNOWN.has(port));
  const reached = isGuarded ? open.filter(port => ufw?.openPorts.includes(port)) : open;
  const found = open.length === 0 ? 'nothing else listens' : `listening: ${open.join(', ')}`;
  if (reached.length === 0) return pass(isGuarded ? `${found}; guarded by the firewall` : found, wanted);
  if (isGuarded) return pass(`${found}; allowed in the firewall: ${reached.join(', ')}`, wanted);
  return byHand(warn(found, wanted), 'The check "firewall" shuts them; what is needed goes into allowPorts');
}

/** Ports on which something listens on other addresses than the loopback. */
export function openToAll(lines: readonly string[]): number[] {
  const ports = lines.flatMap(line => {
    const [, , , local = ''] = line.split(/\s+/);
    const at = local.lastIndexOf(':');
    const address = local.slice(0, at).replace(/%.*$/, '');
    const isLoopback = /^(127\.|\[::1\]|\[::ffff:127\.)/.test(address);
    return isLoopback ? [] : [Number(local.slice(at + 1))];
  });
  return [...new Set(ports.filter(Number.isInteger))].sort((a, b) => a - b);
}
