import { type SecurityCheck, type SecuritySeverity, SecurityStatus } from '../../entities/security.ts';
import type { SecurityFacts } from './security-facts.ts';

/** How we ourselves come to the server: what must never be shut. */
export interface Access {
  username: string;
  /** By a key; otherwise by a password. */
  usesKey: boolean;
  /** The type of the host key by which we know the server. */
  hostKeyType: string | null;
}

export interface Finding {
  status: SecurityStatus;
  found: string;
  wanted: string;
  fixable?: boolean;
  hint?: string;
}

/** One thing to look at: a pure function of what the server said. What could not be read is UNKNOWN, never PASS. */
export interface Check {
  id: string;
  title: string;
  severity: SecuritySeverity;
  look(facts: SecurityFacts, access: Access): Finding;
}

export const pass = (found: string, wanted: string): Finding => ({ status: SecurityStatus.PASS, found, wanted });
export const warn = (found: string, wanted: string): Finding => ({ status: SecurityStatus.WARN, found, wanted });
export const fail = (found: string, wanted: string): Finding => ({ status: SecurityStatus.FAIL, found, wanted });
export const unknown = (why: string, wanted: string): Finding => ({
  status: SecurityStatus.UNKNOWN,
  found: `could not be read: ${why}`,
  wanted,
});

export const fixable = (finding: Finding): Finding => ({ ...finding, fixable: true });
export const byHand = (finding: Finding, hint: string): Finding => ({ ...finding, hint });

export function carryOut({ id, title, severity, look }: Check, facts: SecurityFacts, access: Access): SecurityCheck {
  const { status, found, wanted, fixable: canFix = false, hint = null } = look(facts, access);
  const isOpen = status === SecurityStatus.FAIL || status === SecurityStatus.WARN;
  return { id, title, severity, status, found: brief(found), wanted, fixable: canFix && isOpen, hint };
}

const LONGEST = 500;
const brief = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);
