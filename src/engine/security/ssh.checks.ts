import { SecuritySeverity } from '../../entities/security.ts';
import { type Access, byHand, type Check, type Finding, fail, fixable, pass, unknown, warn } from './check.ts';
import type { SecurityFacts } from './security-facts.ts';
import { CIPHERS, HOST_KEYS, KEX, MACS, weakOf } from './ssh-algorithms.ts';

const SILENT = 'sshd did not tell its settings';
const NO_INCLUDE =
  'sshd_config does not include /etc/ssh/sshd_config.d, where hardening would write; set it there by hand';
const OWN_PASSWORD = 'Slipway itself signs in with a password here; give the server a key first';

/** What sshd lets in, and how it speaks. */
export const sshChecks: readonly Check[] = [
  {
    id: 'ssh-root-login',
    title: 'Root does not sign in with a password',
    severity: SecuritySeverity.HIGH,
    look: rootLogin,
  },
  {
    id: 'ssh-password-login',
    title: 'Passwords do not open SSH',
    severity: SecuritySeverity.HIGH,
    look: passwordLogin,
  },
  {
    id: 'ssh-empty-passwords',
    title: 'Empty passwords do not open SSH',
    severity: SecuritySeverity.CRITICAL,
    look(facts) {
      const value = facts.setting('sshd', 'permitemptypasswords');
      if (value === undefined) return unknown(SILENT, 'PermitEmptyPasswords no');
      const found = `PermitEmptyPasswords ${value}`;
      return value === 'no' ? pass(found, found) : mend(facts, fail(found, 'PermitEmptyPasswords no'));
    },
  },
  {
    id: 'ssh-key-exchange',
    title: 'Keys are exchanged by strong methods only',
    severity: SecuritySeverity.MEDIUM,
    look: (facts, access) => algorithms(facts, access, [KEX, HOST_KEYS]),
  },
  {
    id: 'ssh-ciphers',
    title: 'Only strong ciphers and checksums are spoken',
    severity: SecuritySeverity.MEDIUM,
    look: (facts, access) => algorithms(facts, access, [CIPHERS, MACS]),
  },
  {
    id: 'ssh-sessions',
    title: 'Sessions are short, logged, and lead nowhere else',
    severity: SecuritySeverity.LOW,
    look: sessions,
  },
];

/** What sshd should be told of sessions, and which of its answers are as good. */
export const SSH_SESSIONS: Readonly<Record<string, { value: string; isGood: (found: string) => boolean }>> = {
  MaxAuthTries: { value: '3', isGood: found => Number(found) <= 3 },
  LoginGraceTime: { value: '60', isGood: found => Number(found) > 0 && Number(found) <= 60 },
  ClientAliveInterval: { value: '120', isGood: found => Number(found) > 0 && Number(found) <= 300 },
  ClientAliveCountMax: { value: '2', isGood: found => Number(found) <= 2 },
  TCPKeepAlive: { value: 'no', isGood: found => found === 'no' },
  Compression: { value: 'no', isGood: found => found === 'no' },
  LogLevel: { value: 'VERBOSE', isGood: found => /^(VERBOSE|DEBUG.*)$/.test(found) },
  X11Forwarding: { value: 'no', isGood: found => found === 'no' },
  AllowAgentForwarding: { value: 'no', isGood: found => found === 'no' },
  // Tunnels to what listens on the server's loopback are how people reach their databases.
  AllowTcpForwarding: { value: 'local', isGood: found => found === 'local' || found === 'no' },
};

/** Whoever signs in as root, by a key, goes on doing so; where that is not us, root need not sign in at all. */
function rootLogin(facts: SecurityFacts, { username, usesKey }: Access): Finding {
  const wanted = username === 'root' ? 'PermitRootLogin prohibit-password' : 'PermitRootLogin no';
  const value = facts.setting('sshd-root', 'permitrootlogin');
  if (value === undefined) return unknown(SILENT, wanted);
  const found = `PermitRootLogin ${value}`;
  if (value === 'no' || (username === 'root' && value !== 'yes')) return pass(found, wanted);
  if (username === 'root' && !usesKey) return byHand(fail(found, wanted), OWN_PASSWORD);
  return mend(facts, value === 'yes' ? fail(found, wanted) : warn(found, wanted));
}

function passwordLogin(facts: SecurityFacts, { usesKey }: Access): Finding {
  const wanted = 'PasswordAuthentication no, KbdInteractiveAuthentication no';
  const password = facts.setting('sshd', 'passwordauthentication');
  const interactive = facts.setting('sshd', 'kbdinteractiveauthentication');
  if (password === undefined || interactive === undefined) return unknown(SILENT, wanted);
  const found = `PasswordAuthentication ${password}, KbdInteractiveAuthentication ${interactive}`;
  if (password === 'no' && interactive === 'no') return pass(found, wanted);
  const open = fail(found, wanted);
  if (usesKey) return mend(facts, open);
  return byHand(open, OWN_PASSWORD);
}

function algorithms(facts: SecurityFacts, access: Access, lists: (typeof KEX)[]): Finding {
  const wanted = 'nothing that is known to be weak';
  const weak = lists.map(list => weakOf(list, facts, access));
  if (weak.includes(undefined)) return unknown(SILENT, wanted);
  const names = weak.flatMap(each => each ?? []);
  return names.length === 0 ? pass('strong ones only', wanted) : mend(facts, fail(`weak: ${names.join(', ')}`, wanted));
}

function sessions(facts: SecurityFacts): Finding {
  const all = Object.entries(SSH_SESSIONS).map(([key, rule]) => ({ key, ...rule, found: facts.setting('sshd', key) }));
  const wanted = all.map(({ key, value }) => `${key} ${value}`).join(', ');
  if (all.some(({ found }) => found === undefined)) return unknown(SILENT, wanted);
  const open = all.filter(({ found, isGood }) => !isGood(found ?? ''));
  if (open.length === 0) return pass('as it should be', wanted);
  return mend(facts, warn(open.map(({ key, found }) => `${key} ${found}`).join(', '), wanted));
}

/** All of it is mended in a file of our own, which sshd has to read. */
const mend = (facts: SecurityFacts, finding: Finding): Finding =>
  facts.isTrue('sshd-include') ? fixable(finding) : byHand(finding, NO_INCLUDE);
