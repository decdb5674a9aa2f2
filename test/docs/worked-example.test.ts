import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Block, blocksOf, ROOT, readPage } from './markdown.ts';

const COPIED = ['src', 'scripts', 'docs', 'test/support', 'jest.config.mjs', 'mikro-orm.config.ts', 'package.json'];
const TSC = 'node_modules/typescript/bin/tsc';
const JEST = 'node_modules/jest/bin/jest.js';
const BIOME = 'node_modules/@biomejs/biome/bin/biome';

let copy: string;
const touched: string[] = [];
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'slipway-example-'));
  for (const path of [...COPIED, 'tsconfig.json', 'biome.json'])
    cpSync(join(ROOT, path), join(copy, path), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  for (const block of blocksOf(readPage('CONTRIBUTING.md'))) apply(block);
});
afterAll(() => rmSync(copy, { recursive: true }));

/** The blocks of CONTRIBUTING.md that name a file: a whole one, or lines to add behind those shown. */
function apply({ language, words, text }: Block): void {
  if (language === 'ts' && words[0] === 'new') write(words[1] as string, text);
  else if (language === 'diff') write(words[0] as string, added(words[0] as string, text));
}

function write(path: string, text: string): void {
  const file = join(copy, path);
  touched.push(path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function added(path: string, diff: string): string {
  const lines = readFileSync(join(copy, path), 'utf8').split('\n');
  let place = 0;
  for (const line of diff.trimEnd().split('\n')) {
    const text = line.slice(1);
    if (line.startsWith('+')) lines.splice(place++, 0, text);
    else place = lines.indexOf(text, place) + 1;
    if (place === 0) throw new Error(`${path} has no line "${text}" to add something behind`);
  }
  return lines.join('\n');
}

const node = (...words: string[]) =>
  promisify(execFile)(process.execPath, ['--no-warnings', ...words], {
    cwd: copy,
    env: { ...process.env, NODE_OPTIONS: '' },
  }).catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`${words.join(' ')}\n${error.stdout}${error.stderr}`);
  });

test('the worked example of CONTRIBUTING.md passes the linter and the compiler', async () => {
  await node(BIOME, 'check', '--vcs-enabled=false', ...touched);
  await node(TSC, '--noEmit', '--incremental', 'false');
}, 120_000);

test('its own tests pass', async () => {
  await node('--experimental-vm-modules', JEST, '--rootDir', copy, 'test/bookmarks');
}, 120_000);

test('it reaches GraphQL, OpenAPI and the table of names by itself', async () => {
  await node('scripts/emit.mjs');
  const read = (path: string) => readFileSync(join(copy, path), 'utf8');
  expect(read('schema.graphql')).toContain('createBookmark(title: String!, url: String!): Bookmark');
  const { paths } = JSON.parse(read('openapi.json'));
  expect(Object.keys(paths['/bookmarks'] ?? paths['/api/v1/bookmarks'])).toEqual(
    expect.arrayContaining(['get', 'post']),
  );
  expect(read('docs/api/names.md')).toContain('| `PATCH /bookmarks/:id` | 200 | MEMBER, `write` |');
}, 120_000);
