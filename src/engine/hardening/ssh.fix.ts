import { say, service, writeFile } from '../../commands/harden.commands.ts';
import { SSHD_DROP_IN } from '../../commands/security.commands.ts';
import { SSH_SESSIONS } from '../security/ssh.checks.ts';
import { CIPHERS, HOST_KEYS, KEX, MACS, strongOf } from '../security/ssh-algorithms.ts';
import { chosen, type Fix, type Wish } from './action.ts';

type Settings = Record<string, string | undefined>;

/** What each check wants of sshd. */
const SETTINGS: Readonly<Record<string, (wish: Wish) => Settings>> = {
  'ssh-root-login': ({ access }) => ({ PermitRootLogin: access.username === 'root' ? 'prohibit-password' : 'no' }),
  'ssh-password-login': () => ({ PasswordAuthentication: 'no', KbdInteractiveAuthentication: 'no' }),
  'ssh-empty-passwords': () => ({ PermitEmptyPasswords: 'no' }),
  'ssh-key-exchange': wish => algorithms(wish, [KEX, HOST_KEYS]),
  'ssh-ciphers': wish => algorithms(wish, [CIPHERS, MACS]),
  'ssh-sessions': () => Object.fromEntries(Object.entries(SSH_SESSIONS).map(([key, { value }]) => [key, value])),
};

/** One file that sshd reads before its own: of two values of a setting, the first counts. */
export const sshFix: Fix = wish => {
  const checks = chosen(wish, Object.keys(SETTINGS));
  if (checks.length === 0) return undefined;
  const settings = { ...writtenBefore(wish) };
  for (const check of checks) Object.assign(settings, SETTINGS[check]?.(wish));
  return {
    name: 'ssh',
    checks,
    commands: [
      say('mkdir', '-p', '/etc/ssh/sshd_config.d'),
      ...writeFile(SSHD_DROP_IN, textOf(settings)),
      say('sshd', '-t'),
      ...service('ssh', 'reload', wish.facts.isTrue('systemd')),
    ],
    saves: [SSHD_DROP_IN],
  };
};

/** What an earlier hardening set stays, whatever is asked for this time. */
function writtenBefore({ facts }: Wish): Settings {
  const lines = (facts.lines('sshd-drop-in') ?? []).filter(line => /^[A-Za-z0-9]+ \S+$/.test(line));
  return Object.fromEntries(lines.map(line => line.split(' ') as [string, string]));
}

const algorithms = ({ facts, access }: Wish, lists: (typeof KEX)[]): Settings =>
  Object.fromEntries(lists.map(list => [list.keyword, strongOf(list, facts, access)]));

const textOf = (settings: Settings): string =>
  [
    '# Written by Slipway. Remove this file and reload sshd to undo it.',
    ...Object.entries(settings).flatMap(([key, value]) => (value === undefined ? [] : [`${key} ${value}`])),
    '',
  ].join('\n');
