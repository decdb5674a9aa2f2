import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { payloadsOf } from '../support/attacks.ts';
import { type Person, TestApp } from '../support/create-app.ts';

const PATIENCE = 60_000;
const folder = mkdtempSync(join(tmpdir(), 'slipway-payloads-'));
const log = join(folder, 'log');
const sentinel = join(folder, 'was-here');

let app: TestApp;
let ann: Person;
const repository = 'https://localhost:8443/ann/shop.git';

beforeAll(async () => {
  // A git that writes down what it was told, and finds nothing anywhere.
  const script = `#!/bin/sh
if [ "$1" = version ]; then echo git version 2.40.0; exit; fi
{ printf '%s\\0' "$@"; printf '\\n\\0'; } >> '${log}'
echo 'fatal: repository not found' >&2; exit 128
`;
  writeFileSync(join(folder, 'git'), script);
  chmodSync(join(folder, 'git'), 0o755);
  const settings = {
    PATH: `${folder}:${process.env.PATH}`,
    OUTBOUND_ALLOW: '127.0.0.0/8',
  };
  app = await TestApp.start(settings);
  ann = await app.register();
}, 60_000);
afterAll(async () => {
  await app.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The words of every git that ran since the last time. */
function takeCommands(): string[][] {
  const text = existsSync(log) ? readFileSync(log, 'utf8') : '';
  rmSync(log, { force: true });
  return text
    .split('\n\0')
    .filter(line => line !== '')
    .map(line => line.split('\0').slice(0, -1));
}

const networked = (words: string[]): boolean => words.includes('clone') || words.includes('ls-remote');

/** The same form as of a good request, whatever was asked for. */
function expectForm(words: string[]): void {
  const isClone = words.includes('clone');
  const operands = words.slice(words.indexOf('--') + 1);
  expect(operands).toHaveLength(isClone ? 2 : 3);
  expect(operands[0]).toMatch(/^https:\/\/localhost:\d+\/[\w./%~+@-]+$/);
  const options = words.slice(0, words.indexOf('--'));
  const known =
    /^(-c|[a-z]+\.[\w.]+=.*|clone|ls-remote|--(quiet|bare|depth=1|single-branch|no-tags|symref)|--filter=blob:limit=\d+|--branch=[\w][\w./+@#=-]*)$/i;
  expect(options.filter(word => !known.test(word))).toEqual([]);
  expect(options.filter(word => word.startsWith('--branch=')).length).toBeLessThan(2);
}

test.each([
  ['repository', () => repository, { branch: 'main' }],
  ['branch', () => 'main', {}],
  ['rootDirectory', () => 'app', {}],
])(
  'no %s becomes another word, nor a command',
  async (field, good, others) => {
    takeCommands();
    const statuses = new Map<number, number>();
    for (const payload of payloadsOf(good(), sentinel)) {
      const wish = new URLSearchParams({ repository, ...others, [field]: payload });
      const { status } = await app.rest('GET', `/projects/analyze-repo?${wish}`, { token: ann.token });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      expect([400, 404, 502]).toContain(status);
    }
    for (const words of takeCommands().filter(networked)) expectForm(words);
    expect(existsSync(sentinel)).toBe(false);
    expect(statuses.get(400)).toBeGreaterThan(150);
  },
  PATIENCE,
);

test.each([
  ['baseUrl', () => repository, 400],
  ['username', () => 'ann', 400],
  ['token', () => 'secret', 400],
])(
  'no %s of an account becomes another word, nor a command',
  async (field, good, most) => {
    takeCommands();
    for (const payload of payloadsOf(good(), sentinel).slice(-most)) {
      const body = { provider: 'GIT', baseUrl: repository, username: 'ann', token: 'secret', [field]: payload };
      const { status } = await app.rest('POST', '/git-provider/save-token', { token: ann.token, body });
      expect([400, 404, 502]).toContain(status);
    }
    const commands = takeCommands();
    for (const words of commands.filter(networked)) expectForm(words);
    if (field === 'token') expect(JSON.stringify(commands)).not.toContain('secret');
    expect(existsSync(sentinel)).toBe(false);
  },
  PATIENCE,
);
