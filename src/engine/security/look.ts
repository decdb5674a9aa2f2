import { clock } from '../../clock.ts';
import {
  type SecurityCheck,
  SecurityGrade,
  type SecurityLook,
  SecuritySeverity,
  SecurityStatus,
} from '../../entities/security.ts';
import { accountChecks } from './account.checks.ts';
import { type Access, byHand, type Check, carryOut, unknown } from './check.ts';
import { firewallChecks } from './firewall.checks.ts';
import type { SecurityFacts } from './security-facts.ts';
import { sshChecks } from './ssh.checks.ts';
import { systemChecks } from './system.checks.ts';
import { upkeepChecks } from './upkeep.checks.ts';

export const allChecks: readonly Check[] = [
  ...sshChecks,
  ...accountChecks,
  ...firewallChecks,
  ...upkeepChecks,
  ...systemChecks,
];

const WEIGHT: Readonly<Record<SecuritySeverity, number>> = { CRITICAL: 10, HIGH: 7, MEDIUM: 4, LOW: 1 };
const GRADES: readonly [SecurityGrade, number][] = [
  [SecurityGrade.A, 90],
  [SecurityGrade.B, 80],
  [SecurityGrade.C, 65],
  [SecurityGrade.D, 50],
];

/** Every check over what the server said, and what they come to. */
export function judge(facts: SecurityFacts, access: Access): SecurityLook {
  const checks = (facts.isTrue('root') ? allChecks : allChecks.map(unseen)).map(check =>
    carryOut(check, facts, access),
  );
  const score = scoreOf(checks);
  return { score, grade: gradeOf(score, checks), checkedAt: clock.now().toISOString(), checks };
}

/** Much of it only root can see, and half of a truth might look like a whole one. */
const unseen = (check: Check): Check => ({
  ...check,
  look: () => byHand(unknown('only root can', 'to be seen'), 'Slipway needs root, or sudo without a password'),
});

/** What is right, weighed by severity. What could not be read earns nothing. */
export function scoreOf(checks: readonly Pick<SecurityCheck, 'severity' | 'status'>[]): number {
  const credit: Readonly<Record<SecurityStatus, number>> = { PASS: 1, WARN: 0.5, FAIL: 0, UNKNOWN: 0 };
  const total = checks.reduce((sum, { severity }) => sum + WEIGHT[severity], 0);
  const earned = checks.reduce((sum, { severity, status }) => sum + WEIGHT[severity] * credit[status], 0);
  return total === 0 ? 0 : Math.round((100 * earned) / total);
}

/** A door that is wide open is not made good by many that are shut: it allows no grade above C, a critical one none above D. */
export function gradeOf(score: number, checks: readonly Pick<SecurityCheck, 'severity' | 'status'>[]): SecurityGrade {
  const failed = new Set(checks.filter(({ status }) => status === SecurityStatus.FAIL).map(({ severity }) => severity));
  const best = failed.has(SecuritySeverity.CRITICAL) ? 'D' : failed.has(SecuritySeverity.HIGH) ? 'C' : 'A';
  const [grade] = GRADES.find(([, least]) => score >= least) ?? [SecurityGrade.F];
  return grade < best ? SecurityGrade[best] : grade;
}
