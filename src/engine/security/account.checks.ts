import { SecuritySeverity } from '../../entities/security.ts';
import { byHand, type Check, type Finding, fail, fixable, pass, unknown, warn } from './check.ts';
import type { SecurityFacts } from './security-facts.ts';

/** Who is who on the server. */
export const accountChecks: readonly Check[] = [
  {
    id: 'empty-passwords',
    title: 'Every account has a password or none can be used',
    severity: SecuritySeverity.CRITICAL,
    look(facts, { username }) {
      const wanted = 'no account with an empty password';
      const names = facts.lines('empty-passwords');
      if (names === undefined) return unknown('/etc/shadow', wanted);
      if (names.length === 0) return pass('none', wanted);
      const open = fail(`empty: ${names.join(', ')}`, wanted);
      if (!names.includes(username)) return fixable(open);
      return byHand(open, `Set a password for ${username} by hand: hardening does not touch the account Slipway uses`);
    },
  },
  {
    id: 'root-accounts',
    title: 'Only root is root',
    severity: SecuritySeverity.HIGH,
    look(facts) {
      const wanted = 'root and nobody else with the number 0';
      const names = facts.lines('root-accounts');
      if (names === undefined) return unknown('/etc/passwd', wanted);
      if (names.every(name => name === 'root')) return pass(names.join(', '), wanted);
      const others = fail(names.join(', '), wanted);
      return byHand(others, 'Find out who made them; Slipway deletes no accounts');
    },
  },
  {
    id: 'login-notice',
    title: 'Strangers are told to stay out, and not what runs here',
    severity: SecuritySeverity.LOW,
    look(facts) {
      const wanted = 'a notice that access is for authorised users and logged, without the name of the system';
      const text = facts.said('notices');
      if (text === undefined) return unknown('/etc/issue and /etc/issue.net', wanted);
      if (/debian|ubuntu|linux|\\[mrsv]/i.test(text)) return fixable(warn('the system and its version', wanted));
      return /authori/i.test(text) ? pass('a notice', wanted) : fixable(warn('no notice', wanted));
    },
  },
  {
    id: 'ssh-file-modes',
    title: "Only root can change sshd's files, and read its keys",
    severity: SecuritySeverity.HIGH,
    look: facts => modes(facts, 'ssh-modes'),
  },
  {
    id: 'sudo-file-modes',
    title: 'Only root can change who may use sudo',
    severity: SecuritySeverity.CRITICAL,
    look: facts => modes(facts, 'sudo-modes'),
  },
];

/** A file, and the bits that should be taken from it. */
export interface LooseFile {
  path: string;
  mode: string;
  owner: string;
  /** In chmod's words. */
  change: string;
}

function modes(facts: SecurityFacts, name: 'ssh-modes' | 'sudo-modes'): Finding {
  const wanted = 'owned by root; keys and sudo rules read by nobody else, nothing written by others';
  const loose = looseFiles(facts, name);
  if (loose === undefined) return unknown('the modes of the files', wanted);
  if (loose.length === 0) return pass('as it should be', wanted);
  return fixable(fail(loose.map(({ path, mode, owner }) => `${path} ${mode} ${owner}`).join(', '), wanted));
}

export function looseFiles(facts: SecurityFacts, name: 'ssh-modes' | 'sudo-modes'): LooseFile[] | undefined {
  const lines = facts.lines(name);
  // Where there is no such file at all, there was nothing to read.
  if (lines === undefined || (lines.length === 0 && name === 'ssh-modes')) return undefined;
  return lines.flatMap(line => {
    const [, mode, owner, group, kind, path] = /^(\d+) (\S+) (\S+) ([^|]+)\|(\/.+)$/.exec(line) ?? [];
    if (mode === undefined || owner === undefined || path === undefined) return [];
    const isPrivate = path.endsWith('_key') || name === 'sudo-modes';
    // A group of root's may read sudo's rules; a key is for root alone. Folders are not files to read.
    const forbidden =
      kind === 'directory' || !isPrivate ? 0o022 : path.endsWith('_key') && group === 'root' ? 0o077 : 0o027;
    const excess = Number.parseInt(mode, 8) & forbidden;
    if (excess === 0 && owner === 'root') return [];
    return [{ path, mode, owner, change: `g-${letters(forbidden >> 3)},o-${letters(forbidden)}` }];
  });
}

const letters = (bits: number) => `${bits & 4 ? 'r' : ''}${bits & 2 ? 'w' : ''}${bits & 1 ? 'x' : ''}`;
