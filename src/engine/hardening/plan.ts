import { createHash } from 'node:crypto';
import { typed } from '../../commands/harden.commands.ts';
import type { SecurityCheck } from '../../entities/security.ts';
import { DomainError, Invalid } from '../../errors.ts';
import type { Access } from '../security/check.ts';
import { openToAll } from '../security/firewall.checks.ts';
import { ownAddress, publishedPorts } from '../security/firewall-rules.ts';
import { allChecks, judge } from '../security/look.ts';
import type { SecurityFacts } from '../security/security-facts.ts';
import { refuseUnsupportedOs } from '../security/supported-os.ts';
import type { Action, Fix, Wish } from './action.ts';
import { firewallFix, openPorts } from './firewall.fix.ts';
import { packagesFix } from './packages.fix.ts';
import { sshFix } from './ssh.fix.ts';
import {
  accountsFix,
  dockerSocketFix,
  fail2banFix,
  fileModesFix,
  kernelFix,
  timeFix,
  updatesFix,
} from './system.fixes.ts';

export interface HardeningWish {
  /** Ids of checks; all that can be fixed if absent. */
  checks?: readonly string[] | undefined;
  /** Ports that stay or become reachable, besides SSH and the web. */
  allowPorts?: readonly number[] | undefined;
}

export interface Plan {
  id: string;
  actions: Action[];
  /** What somebody should know before they agree. */
  notes: string[];
  /** The checks that it mends. */
  checks: string[];
  /** The address by which the server sees us; empty if it did not say. */
  address: string;
}

/** In this order: what could shut us out comes last. */
const FIXES: readonly Fix[] = [
  packagesFix,
  accountsFix,
  fileModesFix,
  dockerSocketFix,
  kernelFix,
  updatesFix,
  timeFix,
  fail2banFix,
  sshFix,
  firewallFix,
];

/** What would be said to this server, as it is now, to mend what was asked for. The same server and wish make the same plan. */
export function makePlan(facts: SecurityFacts, access: Access, asked: HardeningWish): Plan {
  refuseUnsupportedOs(facts);
  if (!facts.isTrue('root')) throw new DomainError('CONFLICT', 'Hardening needs root, or sudo without a password');
  const { checks } = judge(facts, access);
  const wish: Wish = { facts, access, checks: toMend(checks, asked), allowPorts: asked.allowPorts ?? [] };
  const actions = FIXES.flatMap(fix => fix(wish) ?? []);
  const notes = notesOf(wish, actions);
  return { id: identify(wish, actions), actions, notes, checks: [...wish.checks], address: ownAddress(facts) };
}

export const commandsOf = ({ commands }: Action): string[] => commands.map(typed);

export function refuseUnknownChecks(ids: readonly string[] | undefined): void {
  const known = new Set(allChecks.map(({ id }) => id));
  const isStrange = ids?.some(id => !known.has(id));
  if (isStrange) throw new Invalid({ field: 'checks', message: `only these are known: ${[...known].join(', ')}` });
}

function toMend(checks: readonly SecurityCheck[], { checks: ids }: HardeningWish): Set<string> {
  refuseUnknownChecks(ids);
  const open = checks.filter(({ fixable, id }) => fixable && (ids === undefined || ids.includes(id)));
  return new Set(open.map(({ id }) => id));
}

function notesOf(wish: Wish, actions: readonly Action[]): string[] {
  const firewall = actions.find(({ name }) => name === 'firewall');
  if (firewall === undefined) return [];
  const open = openPorts(wish);
  const notes = [`Stays open: SSH, ${open.join(', ')}`];
  for (const { container, port } of publishedPorts(wish.facts) ?? [])
    if (!open.includes(port)) notes.push(`Will be shut: ${port}, published by the container ${container}`);
  return notes;
}

/** Of what the server said, all that does not change by itself. */
const LASTING = [
  ...['os', 'systemd', 'packages', 'sshd', 'sshd-root', 'sshd-include', 'sshd-drop-in', 'empty-passwords'],
  ...['root-accounts', 'ssh-modes', 'sudo-modes', 'ufw', 'ufw-block', 'periodic', 'docker-socket', 'sysctl'],
  ...['notices', 'core-limits', 'modules', 'debsums'],
];

function identify({ facts, checks, allowPorts }: Wish, actions: readonly Action[]): string {
  const seen = [
    LASTING.map(name => facts.said(name) ?? null),
    facts.lines('iptables')?.filter(line => /^-[AP] (INPUT|DOCKER-USER) /.test(line)) ?? null,
    facts.isTrue('fail2ban'),
    facts.lines('docker-ports')?.toSorted() ?? null,
    openToAll(facts.lines('listening') ?? []),
    [...checks],
    allowPorts,
    actions.map(commandsOf),
  ];
  return createHash('sha256').update(JSON.stringify(seen)).digest('hex').slice(0, 32);
}
