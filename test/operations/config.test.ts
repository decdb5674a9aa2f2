import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { ConfigFault, readConfig } from '../../src/config.ts';
import { hashText } from '../../src/security/token.ts';
import { TestApp } from '../support/create-app.ts';
import { cloneDatabase, dropDatabase } from '../support/test-database.ts';

const folder = mkdtempSync(join(tmpdir(), 'slipway-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

const faultsOf = (env: Record<string, string>): readonly string[] => {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigFault) return error.faults;
    throw error;
  }
};

const namesOf = (faults: readonly string[]) => faults.map(fault => fault.split(':')[0]);

const LONG = 'k'.repeat(32);

/** Each setting that can be wrong, with values that are. */
const BAD: Readonly<Record<string, readonly string[]>> = {
  NODE_ENV: ['live', 'Production'],
  PORT: ['-1', '65536', '3e3', '80a', ' 80', '1.5'],
  PUBLIC_URL: ['example.org', 'ftp://example.org', 'javascript:alert(1)', 'http://'],
  DATABASE_URL: ['localhost', 'mysql://host/database', 'postgresql://host', 'postgresql://host/'],
  MASTER_KEY: ['short', 'k'.repeat(31)],
  MASTER_KEY_PREVIOUS: ['short', `${LONG},short`],
  JWT_SECRET: ['short'],
  ACCESS_TOKEN_TTL: ['15', '15 m', 'm', '-1m', '0s', '1y', '1.5h', '9999999999d'],
  REFRESH_TOKEN_TTL: ['0d', 'for ever'],
  SMTP_URL: ['mail.example.org', 'http://mail.example.org', 'smtp://'],
  REGISTRATION: ['closed', 'OPEN'],
  BOOTSTRAP_EMAIL: ['ann', 'ann@', '@example.org', 'ann @example.org'],
  RATE_LIMIT: ['300', '777/', '0/77m', '777/0m', '-1/1m', 'many/1m', 'no'],
  RATE_LIMIT_AUTH: ['10/minute'],
  RATE_LIMIT_EMAIL: ['5 / 1m'],
  SLOW_DOWN: ['200'],
  KEEP_EVENTS: ['30', '0d'],
  KEEP_LOGS: ['x'],
  KEEP_AUDIT: ['365'],
  TRUST_PROXY: ['localhost', '10.0.0.0/33', '::1/129', '10.0.0/8', '1.2.3.4/-1', '*'],
  OUTBOUND_ALLOW: ['private', '10.0.0.0/99'],
  CORS_ORIGINS: ['front.test', 'https://example.org/', 'https://example.org/app', 'https://a.org,b.org', 'null'],
  API_DOCS: ['yes', 'true'],
  INTROSPECTION: ['1'],
  LOG_LEVEL: ['verbose', 'INFO'],
  LOG_FORMAT: ['xml'],
};

const cases = Object.entries(BAD).flatMap(([name, values]) => values.map(value => [name, value] as const));

test.each(cases)('%s=%j is a fault, named with a remedy and without the value', (name, value) => {
  const pair: Record<string, string> =
    name === 'BOOTSTRAP_EMAIL' ? { BOOTSTRAP_PASSWORD: 'correct horse battery' } : {};
  const faults = faultsOf({ ...pair, [name]: value }).filter(fault => !fault.includes('go together'));
  expect(namesOf(faults)).toEqual([name]);
  if (value.length > 3) expect(faults.join().replace(name, '')).not.toContain(value);
});

test('every fault is named at once', () => {
  const all = Object.fromEntries(Object.entries(BAD).map(([name, [value]]) => [name, value as string]));
  expect(new Set(namesOf(faultsOf(all)))).toEqual(new Set([...Object.keys(BAD), 'BOOTSTRAP_PASSWORD']));
});

test('an empty value is no value', () => {
  const empty = Object.fromEntries(Object.keys(BAD).map(name => [name, '']));
  expect(readConfig(empty)).toEqual(readConfig({}));
});

describe('NAME_FILE', () => {
  const file = (text: string) => {
    const path = join(folder, 'value');
    writeFileSync(path, text);
    return path;
  };

  test('gives the value of a file, without the line end an editor leaves', () => {
    for (const text of [LONG, `${LONG}\n`, `${LONG}\r\n`])
      expect(readConfig({ MASTER_KEY_FILE: file(text) }).masterKey).toBe(LONG);
  });

  test('works for every setting, and its value is checked like any other', () => {
    for (const [name, values] of Object.entries(BAD)) {
      if (name === 'BOOTSTRAP_EMAIL') continue;
      expect(namesOf(faultsOf({ [`${name}_FILE`]: file(values[0] as string) }))).toEqual([name]);
    }
  });

  test('that cannot be read is a fault, and so is giving both', () => {
    expect(faultsOf({ MASTER_KEY_FILE: join(folder, 'nowhere') })).toEqual([
      'MASTER_KEY_FILE: names a file that cannot be read',
    ]);
    expect(faultsOf({ MASTER_KEY: LONG, MASTER_KEY_FILE: file(LONG) })).toEqual([
      'MASTER_KEY: set it or MASTER_KEY_FILE, not both',
    ]);
  });
});

describe('in production', () => {
  const production = { NODE_ENV: 'production' };

  test('the defaults are the strict ones', () => {
    expect(readConfig(production)).toMatchObject({
      registration: 'invite',
      hasApiDocs: false,
      hasIntrospection: false,
    });
    expect(readConfig({})).toMatchObject({ registration: 'open', hasApiDocs: true, hasIntrospection: true });
  });

  test('a database of the operator needs keys of the operator', () => {
    const given = { ...production, DATABASE_URL: 'postgresql://host/database' };
    expect(namesOf(faultsOf(given))).toEqual(['MASTER_KEY', 'JWT_SECRET']);
    expect(faultsOf({ ...given, MASTER_KEY: LONG, JWT_SECRET: LONG })).toEqual([]);
    expect(faultsOf(production)).toEqual([]);
  });

  test('no limit may be off', () => {
    const names = ['RATE_LIMIT', 'RATE_LIMIT_AUTH', 'RATE_LIMIT_EMAIL', 'SLOW_DOWN'];
    const off = Object.fromEntries(names.map(name => [name, 'off']));
    expect(namesOf(faultsOf({ ...production, ...off }))).toEqual(names);
    expect(faultsOf(off)).toEqual([]);
  });
});

test('BOOTSTRAP_EMAIL and BOOTSTRAP_PASSWORD go together', () => {
  expect(faultsOf({ BOOTSTRAP_EMAIL: 'ann@example.org' })).toHaveLength(1);
  expect(faultsOf({ BOOTSTRAP_PASSWORD: 'correct horse battery' })).toHaveLength(1);
});

describe('what only the start can tell is a fault of the same form', () => {
  const start = async (settings: Record<string, string>) => {
    const databaseUrl = await cloneDatabase();
    const failure = await TestApp.start({ ...settings, DATABASE_URL: databaseUrl }).then(
      () => undefined,
      (error: unknown) => error,
    );
    await dropDatabase(databaseUrl);
    return failure;
  };

  test('a password that is none', async () => {
    const fault = await start({ BOOTSTRAP_EMAIL: 'ann@example.org', BOOTSTRAP_PASSWORD: 'password' });
    expect(fault).toBeInstanceOf(ConfigFault);
    expect((fault as Error).message).toMatch('BOOTSTRAP_PASSWORD');
  });

  test.each([
    ['is not there', undefined],
    ['is no JSON', '{'],
    ['is no manifest', '{"operations": [{"id": 1}]}'],
    ['holds what is no GraphQL', manifestOf('{ me')],
    ['does not fit the schema', manifestOf('{ nothing }')],
  ])('a file of operations that %s', async (_, text) => {
    const path = join(folder, 'operations.json');
    rmSync(path, { force: true });
    if (text !== undefined) writeFileSync(path, text);
    const fault = await start({ PERSISTED_OPERATIONS: path });
    expect(fault).toBeInstanceOf(ConfigFault);
    expect((fault as Error).message).toMatch('PERSISTED_OPERATIONS');
  });
});

function manifestOf(body: string): string {
  return JSON.stringify({ operations: [{ id: hashText(body), body }] });
}
