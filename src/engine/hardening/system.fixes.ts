import { type PlannedCommand, say, service, writeFile } from '../../commands/harden.commands.ts';
import { KERNEL_KEYS, NETWORK_KEYS, RARE_MODULES } from '../../commands/security.commands.ts';
import { looseFiles } from '../security/account.checks.ts';
import { ownAddress, sshPorts } from '../security/firewall-rules.ts';
import { readSettings } from '../security/system.checks.ts';
import { chosen, type Fix, type Wish } from './action.ts';

const NETWORK_FILE = '/etc/sysctl.d/99-slipway-network.conf';
const KERNEL_FILE = '/etc/sysctl.d/99-slipway-kernel.conf';
const LIMITS_FILE = '/etc/security/limits.d/99-slipway.conf';
const PROFILE_FILE = '/etc/profile.d/slipway-core.sh';
const MODULES_FILE = '/etc/modprobe.d/slipway.conf';
const DEBSUMS_FILE = '/etc/default/debsums';
const APT_FILE = '/etc/apt/apt.conf.d/99slipway';
const JAIL_FILE = '/etc/fail2ban/jail.d/slipway.local';

export const accountsFix: Fix = wish => {
  const checks = chosen(wish, ['empty-passwords', 'login-notice']);
  if (checks.length === 0) return undefined;
  const names = checks.includes('empty-passwords') ? (wish.facts.lines('empty-passwords') ?? []) : [];
  const notices = checks.includes('login-notice') ? NOTICE_FILES.flatMap(path => writeFile(path, NOTICE)) : [];
  return {
    name: 'accounts',
    checks,
    commands: [...names.map(name => say('passwd', '--lock', '--', name)), ...notices],
    saves: ['/etc/shadow', ...NOTICE_FILES],
  };
};

const NOTICE_FILES = ['/etc/issue', '/etc/issue.net'];
const NOTICE = 'This system is for authorised users only. Access is logged and monitored.\n';

export const fileModesFix: Fix = wish => {
  const checks = chosen(wish, ['ssh-file-modes', 'sudo-file-modes']);
  if (checks.length === 0) return undefined;
  const files = checks.flatMap(
    check => looseFiles(wish.facts, check === 'ssh-file-modes' ? 'ssh-modes' : 'sudo-modes') ?? [],
  );
  const commands = files.flatMap(({ path, owner, change }) => [
    ...(owner === 'root' ? [] : [say('chown', 'root', '--', path)]),
    say('chmod', change, '--', path),
  ]);
  return { name: 'file modes', checks, commands, saves: [] };
};

export const dockerSocketFix: Fix = wish => {
  const checks = chosen(wish, ['docker-socket']);
  if (checks.length === 0) return undefined;
  const socket = '/var/run/docker.sock';
  return {
    name: 'docker socket',
    checks,
    commands: [say('chown', 'root', socket), say('chmod', 'o-rwx', socket)],
    saves: [],
  };
};

/** All the settings that were looked at, so that those which are right today stay so. */
export const kernelFix: Fix = wish => {
  const checks = chosen(wish, ['network-settings', 'kernel-settings', 'core-dumps', 'rare-modules']);
  if (checks.length === 0) return undefined;
  const commands = checks.flatMap(check => {
    if (check === 'network-settings') return writeSettings(wish, NETWORK_FILE, NETWORK_KEYS);
    if (check === 'kernel-settings') return writeSettings(wish, KERNEL_FILE, KERNEL_KEYS);
    if (check === 'rare-modules') return writeFile(MODULES_FILE, MODULES_TEXT);
    return [...writeFile(LIMITS_FILE, LIMITS_TEXT), ...writeFile(PROFILE_FILE, PROFILE_TEXT)];
  });
  return { name: 'kernel', checks, commands, saves: KERNEL_FILES };
};

const KERNEL_FILES = [NETWORK_FILE, KERNEL_FILE, LIMITS_FILE, PROFILE_FILE, MODULES_FILE];

function writeSettings({ facts }: Wish, file: string, keys: readonly string[]): PlannedCommand[] {
  const lines = readSettings(facts, keys)?.map(({ key, right }) => `${key} = ${right}`) ?? [];
  return [...writeFile(file, `${WRITTEN_BY}\n${lines.join('\n')}\n`), say('sysctl', '-q', '-p', file)];
}

const WRITTEN_BY = '# Written by Slipway. Remove this file to undo it at the next start.';
const LIMITS_TEXT = `${WRITTEN_BY}\n* soft core 0\n* hard core 0\n`;
// Limits are PAM's; a shell that came without it has this one.
const PROFILE_TEXT = `${WRITTEN_BY}\nulimit -c 0\n`;
const MODULES_TEXT = `${WRITTEN_BY}\n${RARE_MODULES.map(name => `blacklist ${name}\ninstall ${name} /bin/false\n`).join('')}`;

export const updatesFix: Fix = wish => {
  const checks = chosen(wish, ['automatic-updates', 'package-integrity']);
  if (checks.length === 0) return undefined;
  const commands = checks.flatMap(check =>
    check === 'automatic-updates'
      ? writeFile(APT_FILE, APT_TEXT)
      : [say('sed', '-i', 's/^CRON_CHECK=.*/CRON_CHECK=weekly/', DEBSUMS_FILE)],
  );
  return { name: 'upkeep', checks, commands, saves: [APT_FILE, DEBSUMS_FILE] };
};

const APT_TEXT = `// Written by Slipway. Remove this file to undo it.
APT::Periodic::Update-Package-Lists "1";
APT::Periodic::Unattended-Upgrade "1";
`;

export const timeFix: Fix = wish => {
  const checks = chosen(wish, ['time-sync']);
  if (checks.length === 0) return undefined;
  return { name: 'time', checks, commands: [say('timedatectl', 'set-ntp', 'true')], saves: [] };
};

export const fail2banFix: Fix = wish => {
  const checks = chosen(wish, ['fail2ban']);
  if (checks.length === 0) return undefined;
  const hasSystemd = wish.facts.isTrue('systemd');
  const commands: PlannedCommand[] = [
    ...(hasSystemd ? [] : [say('touch', '/var/log/auth.log')]),
    ...writeFile(JAIL_FILE, jail(wish, hasSystemd)),
    ...service('fail2ban', 'enable', hasSystemd),
    ...service('fail2ban', 'restart', hasSystemd),
    say('sh', '-c', 'until fail2ban-client status sshd; do sleep 0.2; done'),
  ];
  return { name: 'fail2ban', checks, commands, saves: [JAIL_FILE] };
};

/** The address we come from is never shut out, however often a key of ours is refused. */
function jail({ facts }: Wish, hasSystemd: boolean): string {
  return [
    '# Written by Slipway. Remove this file and restart fail2ban to undo it.',
    '[sshd]',
    'enabled = true',
    `port = ${sshPorts(facts).join(',')}`,
    `ignoreip = 127.0.0.1/8 ::1 ${ownAddress(facts)}`.trimEnd(),
    'banaction = iptables-multiport',
    ...(hasSystemd ? ['backend = systemd'] : ['backend = auto', 'logpath = /var/log/auth.log']),
    'maxretry = 5',
    'findtime = 10m',
    'bantime = 1h',
    '',
  ].join('\n');
}
