import 'reflect-metadata';
import { describe, expect, test } from '@jest/globals';
import { commandsOf, makePlan } from '../../../src/engine/hardening/plan.ts';
import type { Access } from '../../../src/engine/security/check.ts';
import { type Changes, recordedFacts } from '../../support/security-record.ts';

const access: Access = { username: 'deploy', usesKey: true, hostKeyType: 'ssh-ed25519' };
const os = (id: string, version: string) => ({
  os: `PRETTY_NAME="${id} ${version}"\nID=${id}\nVERSION_ID="${version}"`,
});

const plan = (changes: Changes = {}, wish = {}, how: Partial<Access> = {}) =>
  makePlan(recordedFacts('debian-12-fresh', changes), { ...access, ...how }, wish);

const said = (...words: Parameters<typeof plan>): string =>
  plan(...words)
    .actions.flatMap(commandsOf)
    .join('\n');

describe('a plan', () => {
  test('is empty for a server that is hardened already', () => {
    expect(makePlan(recordedFacts('debian-12-hardened'), access, {}).actions).toEqual([]);
  });

  test('lets us in before it shuts anything, and shuts last', () => {
    const commands = plan().actions.flatMap(commandsOf);
    expect(commands.indexOf('ufw allow 22/tcp')).toBeGreaterThan(commands.indexOf('sshd -t'));
    expect(commands.indexOf('ufw allow 22/tcp')).toBeLessThan(commands.indexOf('ufw --force enable'));
    expect(commands.at(-1)).toBe('ufw --force enable');
    expect(commands.indexOf('sshd -t')).toBeLessThan(commands.indexOf('service ssh reload'));
  });

  test('opens the port that sshd hears on, and the one we came by', () => {
    const sshd = `port 2222\n${recordedFacts('debian-12-fresh')
      .said('sshd')
      ?.replace(/^port .*$/m, '')}`;
    const commands = said({ sshd, connection: '203.0.113.9 40000 10.0.0.5 2200' });
    expect(commands).toContain('ufw allow 2222/tcp');
    expect(commands).toContain('ufw allow 2200/tcp');
    expect(commands).toContain('port = 2200,2222');
    expect(commands).toContain('ignoreip = 127.0.0.1/8 ::1 203.0.113.9');
  });

  test('keeps root by key where we are root', () => {
    expect(said({}, {}, { username: 'root' })).toContain('PermitRootLogin prohibit-password');
    expect(said()).toContain('PermitRootLogin no');
  });

  test('leaves passwords where we use one', () => {
    expect(said({}, {}, { usesKey: false })).not.toContain('PasswordAuthentication');
  });

  test('offers only what this OpenSSH speaks, and the host key we know', () => {
    const [line = ''] = said({ 'ssh-kex': 'curve25519-sha256' }).match(/KexAlgorithms .*/) ?? [];
    expect(line).toBe('KexAlgorithms curve25519-sha256');
    expect(said({}, {}, { hostKeyType: 'ecdsa-sha2-nistp256' })).toMatch(/HostKeyAlgorithms .*,ecdsa-sha2-nistp256\n/);
  });

  test('says systemctl where there is systemd, service where there is none', () => {
    expect(said({ systemd: 0 })).toContain('systemctl reload-or-restart ssh');
    expect(said({ systemd: 0 })).toContain('backend = systemd');
    expect(said()).toContain('service ssh reload');
  });

  test('mends what is asked for and keeps what was mended before', () => {
    const before = { 'sshd-drop-in': '# Written by Slipway.\nPermitRootLogin no' };
    const { actions, checks } = plan(before, { checks: ['ssh-password-login'] });
    expect(checks).toEqual(['ssh-password-login']);
    expect(actions.map(({ name }) => name)).toEqual(['ssh']);
    const text = actions.flatMap(commandsOf).join('\n');
    expect(text).toContain('PermitRootLogin no\nPasswordAuthentication no\n');
    expect(text).not.toContain('Ciphers');
  });

  test('names the containers that lose their ports', () => {
    const changes = { 'docker-ports': 'db|0.0.0.0:5432->5432/tcp, :::5432->5432/tcp\nweb|0.0.0.0:80->80/tcp' };
    expect(plan(changes).notes).toEqual([
      'Stays open: SSH, 80, 443',
      'Will be shut: 5432, published by the container db',
    ]);
    expect(plan(changes, { allowPorts: [5432] }).notes).toEqual(['Stays open: SSH, 80, 443, 5432']);
    expect(said(changes, { allowPorts: [5432] })).toContain('--ctorigdstport 5432 ');
  });

  test('takes names from the server for words, whatever they hold', () => {
    const commands = said({ 'empty-passwords': "ann; reboot\n$(id)\n--root=/\nit's" });
    expect(commands).toContain(`passwd --lock -- 'ann; reboot'`);
    expect(commands).toContain(`passwd --lock -- '$(id)'`);
    expect(commands).toContain(`passwd --lock -- --root=/`);
    expect(commands).toContain(`passwd --lock -- 'it'\\''s'`);
    const modes = { 'ssh-modes': '666 root root regular file|/etc/ssh/sshd_config.d/a b;c' };
    expect(said(modes)).toContain(`chmod g-w,o-w -- '/etc/ssh/sshd_config.d/a b;c'`);
  });
});

describe('the id of a plan', () => {
  test('is the same for the same server and wish', () => {
    expect(plan().id).toBe(plan().id);
    expect(plan({ upgrades: 'Inst other', kernel: 'other', fail2ban: 127 }).id).toBe(plan().id);
  });

  test.each([
    ['another rule in ufw', { ufw: 'Status: inactive' }, {}],
    ['another setting of sshd', { 'sshd-root': 'permitrootlogin no' }, {}],
    ['another container', { 'docker-ports': 'db|0.0.0.0:5432->5432/tcp' }, {}],
    ['another program that listens', { listening: 'LISTEN 0 128 0.0.0.0:8000 0.0.0.0:*' }, {}],
    ['another port asked for', {}, { allowPorts: [8000] }],
    ['other checks asked for', {}, { checks: ['firewall'] }],
  ])('is another with %s', (_, changes, wish) => {
    expect(plan(changes as Changes, wish).id).not.toBe(plan().id);
  });
});

describe('systems', () => {
  test.each([
    ['debian', '12'],
    ['debian', '13'],
    ['ubuntu', '22.04'],
    ['ubuntu', '24.04'],
  ])('%s %s is known', (id, version) => {
    expect(plan(os(id, version)).actions).not.toEqual([]);
  });

  test.each([
    ['debian', '11'],
    ['debian', '14'],
    ['ubuntu', '20.04'],
    ['ubuntu', '25.10'],
    ['alpine', '3.20'],
    ['fedora', '42'],
    ['linuxmint', '22'],
  ])('%s %s is not', (id, version) => {
    expect(() => plan(os(id, version))).toThrow(expect.objectContaining({ code: 'UNSUPPORTED_OS' }));
  });

  test('one that does not say what it is, or does not let us be root, is not', () => {
    expect(() => plan({ os: 1 })).toThrow(expect.objectContaining({ code: 'UNSUPPORTED_OS' }));
    expect(() => plan({ root: 1 })).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
    expect(() => plan({}, { checks: ['nonsense'] })).toThrow(expect.objectContaining({ code: 'BAD_INPUT' }));
  });
});
