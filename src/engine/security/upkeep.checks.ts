import { SecuritySeverity } from '../../entities/security.ts';
import { byHand, type Check, type Finding, fail, fixable, pass, unknown, warn } from './check.ts';
import type { SecurityFacts } from './security-facts.ts';

const OLD_LISTS_DAYS = 8;

/** Whether the server is looked after. */
export const upkeepChecks: readonly Check[] = [
  {
    id: 'automatic-updates',
    title: 'Security updates install themselves',
    severity: SecuritySeverity.HIGH,
    look: automaticUpdates,
  },
  {
    id: 'pending-updates',
    title: 'No update is waiting',
    severity: SecuritySeverity.MEDIUM,
    look: pendingUpdates,
  },
  {
    id: 'reboot',
    title: 'No restart is waiting',
    severity: SecuritySeverity.LOW,
    look: reboot,
  },
  {
    id: 'time-sync',
    title: 'The clock is right',
    severity: SecuritySeverity.LOW,
    look: timeSync,
  },
  {
    id: 'package-integrity',
    title: 'Changed system files are noticed',
    severity: SecuritySeverity.LOW,
    look(facts) {
      const wanted = 'debsums compares installed files every week';
      if (!facts.isInstalled('debsums')) return fixable(warn('debsums is not installed', wanted));
      const setting = facts.said('debsums');
      if (setting === undefined) return unknown('/etc/default/debsums', wanted);
      const isOn = /^CRON_CHECK="?(daily|weekly|monthly)"?$/m.test(setting);
      return isOn ? pass('on', wanted) : fixable(warn('debsums is installed and never runs', wanted));
    },
  },
];

function automaticUpdates(facts: SecurityFacts): Finding {
  const wanted = 'unattended-upgrades, once a day';
  const periodic = facts.said('periodic');
  if (periodic === undefined) return unknown('apt-config did not answer', wanted);
  if (!facts.isInstalled('unattended-upgrades')) return fixable(fail('unattended-upgrades is not installed', wanted));
  const isOn = isDaily(periodic, 'Update-Package-Lists') && isDaily(periodic, 'Unattended-Upgrade');
  if (!isOn) return fixable(fail('unattended-upgrades is installed and off', wanted));
  if (!runsDaily(facts)) return fixable(fail('nothing starts it: neither systemd nor cron', wanted));
  return pass('on', wanted);
}

/** Who starts daily work: systemd's timers, or cron. */
export const runsDaily = (facts: SecurityFacts): boolean => facts.isTrue('systemd') || facts.isInstalled('cron');

const isDaily = (periodic: string, name: string) =>
  new RegExp(`^APT::Periodic::${name} "(?!0")[^"]+";`, 'm').test(periodic);

function pendingUpdates(facts: SecurityFacts): Finding {
  const wanted = 'none';
  const lines = facts.lines('upgrades');
  const age = Number(facts.said('lists-age') || Number.NaN);
  if (lines === undefined) return unknown('apt-get did not answer', wanted);
  if (Number.isNaN(age)) return unknown('the lists of packages were never fetched', wanted);
  if (age > OLD_LISTS_DAYS) return unknown(`the lists of packages are ${age} days old`, wanted);
  const updates = lines.filter(line => line.startsWith('Inst '));
  const security = updates.filter(line => /-security|Debian-Security/i.test(line));
  if (updates.length === 0) return pass('none', wanted);
  const found = `${updates.length} waiting, ${security.length} of them for security`;
  const hint = 'Automatic updates install those for security within a day; for all at once run: apt-get upgrade';
  return byHand(security.length > 0 ? fail(found, wanted) : warn(found, wanted), hint);
}

function reboot(facts: SecurityFacts): Finding {
  const wanted = 'none';
  const mark = facts.said('reboot-required');
  const running = facts.said('kernel');
  if (mark === undefined || running === undefined) return unknown('the marks of a restart', wanted);
  const hint = 'Restart the server when it suits you';
  if (mark === 'yes') return byHand(warn('an update asks for a restart', wanted), hint);
  const newest = facts.said('newest-kernel') ?? '';
  if (newest === '' || newest === running || facts.isTrue('container')) return pass('none', wanted);
  return byHand(warn(`kernel ${running} runs, ${newest} is installed`, wanted), hint);
}

function timeSync(facts: SecurityFacts): Finding {
  const wanted = 'kept right by a time service';
  const state = facts.said('time') ?? '';
  if (/^NTPSynchronized=yes$/m.test(state)) return pass('synchronised', wanted);
  if (/^Leap status\s*:\s*Normal$/m.test(facts.said('chrony') ?? '')) return pass('synchronised by chrony', wanted);
  if (facts.isTrue('container')) return unknown('the clock is that of the machine around this container', wanted);
  if (!facts.isTrue('systemd')) return unknown('no service for the time is known here', wanted);
  if (/^NTP=yes$/m.test(state)) return warn('a time service runs and has not reached its servers yet', wanted);
  return fixable(fail('no time service runs', wanted));
}
