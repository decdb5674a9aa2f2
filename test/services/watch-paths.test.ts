import { expect, test } from '@jest/globals';
import { isWatched } from '../../src/services/watch-paths.ts';

const cases: [patterns: string[], path: string, isMeant: boolean][] = [
  [['src/**'], 'src/a.ts', true],
  [['src/**'], 'src/deep/er/a.ts', true],
  [['src/**'], 'src/.env', true],
  [['src/**'], 'docs/a.md', false],
  [['src/**'], 'other/src/a.ts', false],
  [['src'], 'src/a.ts', true],
  [['src/'], 'src/a.ts', true],
  [['./src/'], 'src/a.ts', true],
  [['src'], 'srcs/a.ts', false],
  [['package.json'], 'package.json', true],
  [['package.json'], 'apps/package.json', false],
  [['**/package.json'], 'package.json', true],
  [['**/package.json'], 'apps/web/package.json', true],
  [['*.md'], 'README.md', true],
  [['*.md'], 'docs/README.md', false],
  [['**/*.md'], 'docs/README.md', true],
  [['apps/*/src/**'], 'apps/web/src/a.ts', true],
  [['apps/*/src/**'], 'apps/web/test/a.ts', false],
  [['apps/**/src/*.ts'], 'apps/a/b/src/x.ts', true],
  [['a?c.txt'], 'abc.txt', true],
  [['a?c.txt'], 'a/c.txt', false],
  [['a*c*e'], 'abcde', true],
  [['a*c*e'], 'abcdf', false],
  [['**'], 'anything/at.all', true],
  [['src/**', '!src/**/*.md'], 'src/README.md', false],
  [['src/**', '!src/**/*.md'], 'src/a.ts', true],
  [['src/**', '!src/**/*.md', 'src/keep.md'], 'src/keep.md', true],
  [['!docs/**'], 'src/a.ts', true],
  [['!docs/**'], 'docs/a.md', false],
  [['[ab].txt'], 'a.txt', false],
  [['[ab].txt'], '[ab].txt', true],
  [['ü*'], 'übung', true],
];

test.each(cases)('%j and %s', (patterns, path, isMeant) => {
  expect(isWatched(patterns, [path])).toBe(isMeant);
});

test('one file that is watched is enough, and none is none', () => {
  expect(isWatched(['src/**'], ['docs/a.md', 'src/a.ts'])).toBe(true);
  expect(isWatched(['src/**'], ['docs/a.md'])).toBe(false);
  expect(isWatched(['src/**'], [])).toBe(false);
});

test('no pattern and no path can hold up the service', () => {
  const patterns = [`${'*a'.repeat(100)}b`, `${'**/a/'.repeat(40)}b`, '*'.repeat(200), '**/'.repeat(66)];
  const paths = ['a'.repeat(4000), 'a/'.repeat(2000)];
  const start = performance.now();
  isWatched(patterns, paths);
  expect(performance.now() - start).toBeLessThan(1000);
});
