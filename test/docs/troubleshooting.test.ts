import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT, readPage, tableOf } from './markdown.ts';

test('docs/guide/troubleshooting.md has a cause and a remedy for every reason code there is, and for no other', () => {
  const source = readFileSync(join(ROOT, 'src/engine/deploy/deploy-failure.ts'), 'utf8');
  const type = /export type ReasonCode =([^;]*);/.exec(source)?.[1] ?? '';
  const codes = [...type.matchAll(/'([A-Z_]+)'/g)].map(([, code]) => code);
  const rows = tableOf(readPage('docs/guide/troubleshooting.md'), 'code', 'cause', 'remedy');
  expect(codes.length).toBeGreaterThan(10);
  expect(rows.map(([code]) => code)).toEqual(codes);
  expect(rows.filter(cells => cells.includes(''))).toEqual([]);
});
