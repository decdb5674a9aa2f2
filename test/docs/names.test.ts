import 'reflect-metadata';
import { expect, test } from '@jest/globals';
import { publishedSchema } from '../../scripts/contract.ts';
import { describeNames } from '../../scripts/names.ts';
import { routes } from '../../src/rest/routes.ts';
import { readPage } from './markdown.ts';

test('docs/api/names.md is what npm run emit writes', async () => {
  expect(readPage('docs/api/names.md').text).toBe(describeNames(await publishedSchema()));
});

test('every operation of the route table is in it', () => {
  const { text } = readPage('docs/api/names.md');
  const names = Object.keys(routes).map(name => name.split('.')[1]);
  expect(names.filter(name => !text.includes(` \`${name}\` |`))).toEqual([]);
});
