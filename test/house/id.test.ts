import { expect, test } from '@jest/globals';
import { newId } from '../../src/id.ts';

test('ids come in the order in which they are made, and are all of version 7', () => {
  const ids = Array.from({ length: 20_000 }, newId);
  expect(ids).toEqual([...new Set(ids)].sort());
  expect(ids.filter(id => !/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(id))).toEqual([]);
});
