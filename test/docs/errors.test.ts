import { expect, test } from '@jest/globals';
import { errorStatus } from '../../src/errors.ts';
import { readPage, tableOf } from './markdown.ts';

test('docs/api/errors.md lists exactly the codes there are, with their status and a remedy', () => {
  const rows = tableOf(readPage('docs/api/errors.md'), 'code', 'status', 'meaning', 'what to do');
  const listed = Object.fromEntries(rows.map(([code, status]) => [code, Number(status)]));
  expect(listed).toEqual(errorStatus);
  expect(rows.filter(cells => cells.includes(''))).toEqual([]);
});
