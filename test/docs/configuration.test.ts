import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type Config, readConfig } from '../../src/config.ts';
import { ROOT, readPage, tableOf } from './markdown.ts';

/** Good values for what has no default, to see which part of the configuration they reach. */
const SAMPLES: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgresql://slipway@localhost/slipway',
  MASTER_KEY: 'k'.repeat(32),
  MASTER_KEY_PREVIOUS: 'k'.repeat(32),
  JWT_SECRET: 'k'.repeat(32),
  SMTP_URL: 'smtp://localhost',
  BOOTSTRAP_EMAIL: 'ann@example.org',
  BOOTSTRAP_PASSWORD: 'correct horse battery',
  METRICS_TOKEN: 'token',
  TRUST_PROXY: '10.0.0.0/8',
  CORS_ORIGINS: 'https://app.example.org',
  OUTBOUND_ALLOW: '10.0.0.0/8',
  OUTBOUND_CA_FILE: '/etc/slipway/authorities.pem',
  PERSISTED_OPERATIONS: '/etc/slipway/operations.json',
};
const BOOTSTRAP = { BOOTSTRAP_EMAIL: 'ann@example.org', BOOTSTRAP_PASSWORD: 'correct horse battery' };

const source = readFileSync(join(ROOT, 'src/config.ts'), 'utf8');
const settings = new Set([...source.matchAll(/settings\s*\.\w+\(\s*'([A-Z_]+)'/g)].map(([, name]) => name as string));
const production = { NODE_ENV: 'production' };
const isUnset = (shown: string): boolean => ['none', 'made at first start'].includes(shown);

describe.each([['README.md'], ['docs/operations/configuration.md']])('the table of %s', path => {
  const rows = tableOf(readPage(path), 'name', 'default') as [string, string][];

  test('lists exactly the settings there are', () => {
    expect(rows.map(([name]) => name).sort()).toEqual([...settings].sort());
  });

  test.each(rows.filter(([, shown]) => !isUnset(shown)))('%s is by default %s', (name, shown) => {
    const { usual, inProduction, onTerminal } = read(shown);
    const expected = process.stdout.isTTY ? (onTerminal ?? usual) : usual;
    expect(readConfig({ [name]: expected })).toEqual(readConfig({}));
    if (name === 'NODE_ENV') return;
    expect(readConfig({ ...production, [name]: inProduction ?? expected })).toEqual(readConfig(production));
  });

  test.each(rows.filter(([, shown]) => isUnset(shown)))('%s is by default unset', name => {
    const reached = reachedBy(name);
    expect(reached).not.toEqual([]);
    expect(reached.flatMap(part => readConfig({})[part] ?? [])).toEqual([]);
  });
});

function read(shown: string): { usual: string; inProduction?: string; onTerminal?: string } {
  const [, usual = '', where, other] = /^`?([^`]*)`?(?:, (in production|on a terminal) `([^`]*)`)?$/.exec(shown) ?? [];
  return { usual, ...(where === 'in production' ? { inProduction: other } : { onTerminal: other }) };
}

/** The parts of the configuration that a setting changes. */
function reachedBy(name: string): (keyof Config)[] {
  const before = readConfig({});
  const after = readConfig({ ...(name in BOOTSTRAP ? BOOTSTRAP : {}), [name]: SAMPLES[name] });
  const parts = Object.keys(before) as (keyof Config)[];
  return parts.filter(part => JSON.stringify(before[part]) !== JSON.stringify(after[part]));
}
