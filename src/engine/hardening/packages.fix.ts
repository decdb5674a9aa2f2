import { installPackages } from '../../commands/harden.commands.ts';
import { runsDaily } from '../security/upkeep.checks.ts';
import type { Fix, Wish } from './action.ts';

/** What the other actions need, installed before anything is changed. It shuts no door and is not taken back. */
export const packagesFix: Fix = wish => {
  const wanted = PACKAGES.filter(({ check, isNeeded }) => wish.checks.has(check) && isNeeded(wish));
  if (wanted.length === 0) return undefined;
  const names = [...new Set(wanted.map(({ name }) => name))].sort();
  return { name: 'packages', checks: [], commands: installPackages(names), saves: [] };
};

interface Need {
  name: string;
  check: string;
  isNeeded(wish: Wish): boolean;
}

const PACKAGES: readonly Need[] = [
  { name: 'ufw', check: 'firewall', isNeeded: ({ facts }) => facts.isMissing('ufw') },
  { name: 'ufw', check: 'docker-firewall', isNeeded: ({ facts }) => facts.isMissing('ufw') },
  { name: 'fail2ban', check: 'fail2ban', isNeeded: ({ facts }) => facts.isMissing('fail2ban') },
  { name: 'iptables', check: 'fail2ban', isNeeded: ({ facts }) => facts.isMissing('iptables') },
  // fail2ban reads systemd's journal by it.
  {
    name: 'python3-systemd',
    check: 'fail2ban',
    isNeeded: ({ facts }) => facts.isMissing('fail2ban') && facts.isTrue('systemd'),
  },
  {
    name: 'unattended-upgrades',
    check: 'automatic-updates',
    isNeeded: ({ facts }) => !facts.isInstalled('unattended-upgrades'),
  },
  // What the updates changed is mailed to root.
  {
    name: 'apt-listchanges',
    check: 'automatic-updates',
    isNeeded: ({ facts }) => !facts.isInstalled('apt-listchanges'),
  },
  // Or what was updated goes on running in its old form.
  { name: 'needrestart', check: 'automatic-updates', isNeeded: () => true },
  { name: 'debsums', check: 'package-integrity', isNeeded: ({ facts }) => !facts.isInstalled('debsums') },
  { name: 'cron', check: 'package-integrity', isNeeded: ({ facts }) => !facts.isInstalled('cron') },
  { name: 'cron', check: 'automatic-updates', isNeeded: ({ facts }) => !runsDaily(facts) },
  { name: 'systemd-timesyncd', check: 'time-sync', isNeeded: () => true },
];
