import 'reflect-metadata';
import { describe, expect, test } from '@jest/globals';
import type { Access } from '../../../src/engine/security/check.ts';
import { allChecks, gradeOf, judge, scoreOf } from '../../../src/engine/security/look.ts';
import { SecurityFacts } from '../../../src/engine/security/security-facts.ts';
import { SecuritySeverity, SecurityStatus } from '../../../src/entities/security.ts';
import { type Changes, recordedFacts, type SecurityRecord } from '../../support/security-record.ts';

const access: Access = { username: 'deploy', usesKey: true, hostKeyType: 'ssh-ed25519' };

function look(id: string, changes: Changes = {}, how: Partial<Access> = {}, name: SecurityRecord = 'debian-12-fresh') {
  const found = judge(recordedFacts(name, changes), { ...access, ...how }).checks.find(check => check.id === id);
  if (found === undefined) throw new Error(`There is no check ${id}`);
  return found;
}

const sshd = (record: SecurityRecord, ...settings: string[]): string =>
  [...settings, ...(recordedFacts(record).lines('sshd') ?? [])].join('\n');

describe('a server', () => {
  test('fresh from its provider is found open', () => {
    const { score, grade, checks } = judge(recordedFacts('debian-12-fresh'), access);
    expect(score).toBeLessThan(65);
    expect(['C', 'D', 'F']).toContain(grade);
    expect(checks.filter(({ status }) => status === SecurityStatus.FAIL).length).toBeGreaterThanOrEqual(8);
    for (const { found, wanted, title } of checks) expect([found, wanted, title]).not.toContain('');
  });

  test('after hardening has nothing left that can be fixed', () => {
    const { score, grade, checks } = judge(recordedFacts('debian-12-hardened'), access);
    expect(score).toBeGreaterThanOrEqual(90);
    expect(grade).toBe('A');
    expect(checks.filter(({ fixable }) => fixable)).toEqual([]);
  });

  test('that says nothing passes nothing', () => {
    for (const silent of ['', '@root 0\n', '@root 1\n', 'not at all what was asked for']) {
      const { score, grade, checks } = judge(SecurityFacts.parse(silent), access);
      expect(checks.map(({ status }) => status)).not.toContain(SecurityStatus.PASS);
      expect(checks.some(({ fixable }) => fixable && silent !== '@root 0\n')).toBe(false);
      expect({ score, grade }).toEqual({ score: 0, grade: 'F' });
    }
  });

  test('where we are not root is unknown, with what to do about it', () => {
    const { checks } = judge(recordedFacts('debian-12-hardened', { root: 1 }), access);
    expect(new Set(checks.map(({ status }) => status))).toEqual(new Set([SecurityStatus.UNKNOWN]));
    expect(checks[0]?.hint).toContain('sudo');
  });

  test('that fails at any one question never passes by it', () => {
    const names = 'sshd sshd-root ufw listening empty-passwords sysctl notices modules'.split(' ');
    for (const name of names) {
      const before = judge(recordedFacts('debian-12-hardened'), access).checks;
      const after = judge(recordedFacts('debian-12-hardened', { [name]: 1 }), access).checks;
      const passed = (checks: typeof before) => checks.filter(({ status }) => status === SecurityStatus.PASS).length;
      expect([name, passed(after) < passed(before)]).toEqual([name, true]);
    }
  });
});

describe('SSH', () => {
  test.each([
    ['deploy', 'yes', 'FAIL'],
    ['deploy', 'without-password', 'WARN'],
    ['deploy', 'no', 'PASS'],
    ['root', 'yes', 'FAIL'],
    ['root', 'without-password', 'PASS'],
    ['root', 'no', 'PASS'],
  ])('as %s, PermitRootLogin %s is %s', (username, value, status) => {
    expect(look('ssh-root-login', { 'sshd-root': `permitrootlogin ${value}` }, { username })).toMatchObject({ status });
  });

  test('what we need ourselves is not shut: a password', () => {
    const byPassword = { usesKey: false };
    expect(look('ssh-password-login')).toMatchObject({ status: 'FAIL', fixable: true, hint: null });
    expect(look('ssh-password-login', {}, byPassword)).toMatchObject({ status: 'FAIL', fixable: false });
    expect(look('ssh-password-login', {}, byPassword).hint).toContain('key');
    const asRoot = look('ssh-root-login', {}, { username: 'root', usesKey: false });
    expect(asRoot).toMatchObject({ status: 'FAIL', fixable: false });
  });

  test('and the host key we know the server by', () => {
    const weak = { sshd: sshd('debian-12-hardened', 'hostkeyalgorithms ssh-ed25519,ecdsa-sha2-nistp256') };
    expect(look('ssh-key-exchange', weak, {}, 'debian-12-hardened')).toMatchObject({ status: 'FAIL' });
    const known = { hostKeyType: 'ecdsa-sha2-nistp256' };
    expect(look('ssh-key-exchange', weak, known, 'debian-12-hardened')).toMatchObject({ status: 'PASS' });
  });

  test('is not mended where sshd would not read our file', () => {
    expect(look('ssh-root-login', { 'sshd-include': 1 })).toMatchObject({ status: 'FAIL', fixable: false });
    expect(look('ssh-root-login', { 'sshd-include': 1 }).hint).toContain('sshd_config.d');
  });
});

describe('the firewall', () => {
  test.each([
    ['not installed', { ufw: 127 }, 'FAIL'],
    ['off', { ufw: 'Status: inactive' }, 'FAIL'],
    ['open by default', { ufw: 'Status: active\nDefault: allow (incoming), allow (outgoing)' }, 'FAIL'],
    ['on', { ufw: 'Status: active\nDefault: deny (incoming), allow (outgoing)' }, 'PASS'],
    ['not answering', { ufw: 1 }, 'UNKNOWN'],
    ["somebody else's", { ufw: 127, iptables: '-P INPUT DROP' }, 'PASS'],
    ['firewalld', { ufw: 127, firewalld: 'running' }, 'PASS'],
  ])('%s', (_, changes, status) => {
    expect(look('firewall', changes as Changes)).toMatchObject({ status });
  });

  test('holds for Docker too, and says so where ufw allows something else', () => {
    const hardened = (changes: Changes) => look('docker-firewall', changes, {}, 'debian-12-hardened').status;
    expect(look('docker-firewall')).toMatchObject({ status: 'FAIL', fixable: true });
    expect(hardened({})).toBe('PASS');
    const ufw = `${recordedFacts('debian-12-hardened').said('ufw')}\n9000  ALLOW IN  Anywhere`;
    expect(hardened({ ufw })).toBe('WARN');
    expect(hardened({ 'ufw-block': '' })).toBe('WARN');
    expect(look('docker-firewall', { docker: 127 })).toMatchObject({ status: 'WARN', fixable: true });
  });
});

describe('what listens', () => {
  const line = (local: string, program = 'x') => `LISTEN 0 128 ${local} 0.0.0.0:* users:(("${program}",pid=1,fd=3))`;

  test('is told where nothing guards it', () => {
    const listening = [line('0.0.0.0:22'), line('127.0.0.1:5432'), line('[::1]:25'), line('*:6379')].join('\n');
    expect(look('listening-ports', { listening })).toMatchObject({ status: 'WARN', found: 'listening: 6379' });
    expect(look('listening-ports', { listening }, {}, 'debian-12-hardened')).toMatchObject({ status: 'PASS' });
  });

  test('of Docker on the network is critical', () => {
    const open = { listening: line('*:2375', 'dockerd') };
    expect(look('docker-tcp', open)).toMatchObject({ status: 'FAIL', severity: 'CRITICAL', fixable: false });
    expect(look('docker-tcp', { listening: line('*:2377', 'dockerd') })).toMatchObject({ status: 'PASS' });
    expect(look('docker-socket', { 'docker-socket': '666 root docker' })).toMatchObject({ status: 'FAIL' });
  });
});

describe('upkeep', () => {
  test('updates that wait are counted, and old lists prove nothing', () => {
    const upgrades = [
      'Inst openssl [3.0.1] (3.0.2 Debian-Security:12/stable-security [arm64])',
      'Inst tzdata [1] (2 Debian:12.5/stable [all])',
    ].join('\n');
    const recent = { upgrades, 'lists-age': '1' };
    expect(look('pending-updates', recent)).toMatchObject({
      status: 'FAIL',
      found: '2 waiting, 1 of them for security',
    });
    expect(look('pending-updates', { ...recent, 'lists-age': '30' })).toMatchObject({ status: 'UNKNOWN' });
    expect(look('pending-updates', { upgrades: 'nothing', 'lists-age': 1 })).toMatchObject({ status: 'UNKNOWN' });
    expect(look('pending-updates', { upgrades: 'nothing', 'lists-age': '0' })).toMatchObject({ status: 'PASS' });
  });

  test('a restart that waits, a clock that is right or not', () => {
    expect(look('reboot', { 'reboot-required': 'yes' })).toMatchObject({ status: 'WARN' });
    const kernels = { container: 1, kernel: '6.1.0-1', 'newest-kernel': '6.1.0-2' };
    expect(look('reboot', kernels)).toMatchObject({ status: 'WARN' });
    const real = { container: 1, systemd: 0 };
    expect(look('time-sync', { ...real, time: 'NTP=yes\nNTPSynchronized=yes' })).toMatchObject({ status: 'PASS' });
    expect(look('time-sync', { ...real, time: 'NTP=no\nNTPSynchronized=no' })).toMatchObject({ status: 'FAIL' });
    expect(look('time-sync')).toMatchObject({ status: 'UNKNOWN' });
  });
});

describe('files', () => {
  test.each([
    ['666 root root regular file|/etc/ssh/sshd_config', 'FAIL'],
    ['644 root root regular file|/etc/ssh/sshd_config', 'PASS'],
    ['644 root root regular file|/etc/ssh/ssh_host_rsa_key', 'FAIL'],
    ['600 root root regular file|/etc/ssh/ssh_host_rsa_key', 'PASS'],
    ['600 ann root regular file|/etc/ssh/ssh_host_rsa_key', 'FAIL'],
  ])('%s: %s', (modes, status) => {
    expect(look('ssh-file-modes', { 'ssh-modes': modes })).toMatchObject({ status });
  });

  test.each([
    ['440 root root regular file|/etc/sudoers', 'PASS'],
    ['444 root root regular file|/etc/sudoers', 'FAIL'],
    ['755 root root directory|/etc/sudoers.d', 'PASS'],
    ['777 root root directory|/etc/sudoers.d', 'FAIL'],
  ])('%s: %s', (modes, status) => {
    expect(look('sudo-file-modes', { 'sudo-modes': modes })).toMatchObject({ status });
  });
});

describe('score and grade', () => {
  const check = (severity: SecuritySeverity, status: SecurityStatus) => ({ severity, status });
  const { CRITICAL, HIGH, LOW } = SecuritySeverity;
  const { PASS, WARN, FAIL, UNKNOWN } = SecurityStatus;

  test('weigh by severity', () => {
    expect(scoreOf([check(HIGH, PASS), check(LOW, FAIL)])).toBe(88);
    expect(scoreOf([check(HIGH, FAIL), check(LOW, PASS)])).toBe(13);
    expect(scoreOf([check(HIGH, WARN)])).toBe(50);
    expect(scoreOf([check(HIGH, UNKNOWN)])).toBe(0);
  });

  test('an open door is not made good by shut ones', () => {
    expect(gradeOf(95, [check(HIGH, FAIL)])).toBe('C');
    expect(gradeOf(95, [check(CRITICAL, FAIL)])).toBe('D');
    expect(gradeOf(40, [check(CRITICAL, FAIL)])).toBe('F');
    expect(gradeOf(95, [check(LOW, FAIL)])).toBe('A');
  });

  test('each check has a name of its own', () => {
    expect(new Set(allChecks.map(({ id }) => id)).size).toBe(allChecks.length);
  });
});
