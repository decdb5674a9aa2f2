import { describe, expect, test } from '@jest/globals';
import { readSources, type Source } from './sources.ts';

const MOST_LINES = 300;
const DRAWERS = /(^|[/.-])(utils?|helpers?|common|lib|shared|managers?|misc)([/.-]|$)/i;
/** Words of others: npm and pip are package managers, and the list of common passwords is a package. */
const NO_DRAWERS = /package-manager\.ts$|fxa-common-password-list/;
/** A check that is silenced says why; TypeScript's are not silenced at all. */
const SILENCED = /@ts-(ignore|nocheck|expect-error)|biome-ignore(?!\S* [\w/]+: \S)|eslint-disable/;
const ENVIRONMENT = /\bprocess\s*(\?\.|\.)\s*env\b|\bprocess\s*\[|\{[^}]*\benv\b[^}]*\}\s*=\s*process\b/;

const sources = readSources('src');
const everything = [...sources, ...readSources('test')];

const longOnes = (files: Source[]) => files.filter(({ text }) => text.split('\n').length - 1 >= MOST_LINES);
const drawers = (files: Source[]) => files.filter(({ path }) => DRAWERS.test(path.replace(NO_DRAWERS, '')));
const silenced = (files: Source[]) => files.filter(({ text }) => SILENCED.test(text));
const readers = (files: Source[]) => files.filter(({ text }) => ENVIRONMENT.test(text));
const pathsOf = (files: Source[]) => files.map(({ path }) => path);

test(`every file has less than ${MOST_LINES} lines`, () => {
  expect(pathsOf(longOnes(everything))).toEqual([]);
});

test('nothing is kept in a drawer', () => {
  expect(pathsOf(drawers(everything))).toEqual([]);
});

test('no check is silenced without a reason', () => {
  expect(pathsOf(silenced(everything.filter(({ path }) => path !== 'test/house/files.test.ts')))).toEqual([]);
});

test('src/config.ts alone reads the environment', () => {
  expect(pathsOf(readers(sources))).toEqual(['src/config.ts']);
});

describe('what must not be is found', () => {
  const file = (text: string, path = 'src/services/x.ts') => [{ path, text }];

  test.each([
    ['a long file', longOnes, file('\n'.repeat(300))],
    ['a drawer', drawers, file('', 'src/services/git-utils.ts')],
    ['a folder of helpers', drawers, file('', 'src/helpers/git.ts')],
    ['@ts-ignore', silenced, file('// @ts-ignore because\n')],
    ['biome-ignore without a reason', silenced, file('// biome-ignore lint/suspicious/noExplicitAny:\n')],
    ['process.env', readers, file('const { PATH } = process.env;')],
    ['process["env"]', readers, file('const path = process["env"].PATH;')],
    ['{ env } = process', readers, file('const { env } = process;')],
  ])('%s', (_, find, files) => {
    expect(find(files)).toHaveLength(1);
  });

  test.each([
    ['a file of 299 lines', longOnes, file('\n'.repeat(299))],
    ['a word that holds one', drawers, file('', 'src/services/library.ts')],
    ['biome-ignore with a reason', silenced, file('// biome-ignore lint/a/b: the type is a stranger to us\n')],
    ['another process', readers, file('processes.env; process.exit(1)')],
  ])('and what may be is not: %s', (_, find, files) => {
    expect(find(files)).toEqual([]);
  });
});
