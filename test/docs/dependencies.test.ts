import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT, readPage } from './markdown.ts';

const ON_THE_CARD = new Set([
  '@apollo/server',
  'graphql',
  'type-graphql',
  'graphql-sse',
  'sofa-api',
  'express',
  'mikro-orm',
  '@mikro-orm/postgresql',
  'jsonwebtoken',
  'express-slow-down',
  'express-rate-limit',
  'ssh2',
  'jest',
]);

test('every dependency beyond the card has its line in a decision, and every line its dependency', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const { text } = readPage('docs/decisions/0011-dependencies.md');
  const explained = [...text.matchAll(/^\| `([^`]+)` \| \S/gm)].map(([, name]) => name);
  const beyond = Object.keys({ ...dependencies, ...devDependencies }).filter(name => !ON_THE_CARD.has(name));
  expect(explained.sort()).toEqual(beyond.sort());
});
