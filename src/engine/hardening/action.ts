import type { PlannedCommand } from '../../commands/harden.commands.ts';
import type { Access } from '../security/check.ts';
import type { SecurityFacts } from '../security/security-facts.ts';

export const ACTION_NAMES = [
  'packages',
  'accounts',
  'file modes',
  'docker socket',
  'kernel',
  'upkeep',
  'time',
  'fail2ban',
  'ssh',
  'firewall',
] as const;
export type ActionName = (typeof ACTION_NAMES)[number];

/** A part of a plan: what is said to the server to mend some checks, and which files that changes. */
export interface Action {
  name: ActionName;
  checks: string[];
  commands: PlannedCommand[];
  /** Files it writes, which exist or not: the switch puts them back. */
  saves: string[];
}

/** What the plan is made from. */
export interface Wish {
  facts: SecurityFacts;
  access: Access;
  /** The checks to mend: open, fixable, and asked for. */
  checks: ReadonlySet<string>;
  allowPorts: readonly number[];
}

export type Fix = (wish: Wish) => Action | undefined;

export const chosen = ({ checks }: Wish, ids: readonly string[]): string[] => ids.filter(id => checks.has(id));
