import { randomBytes } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { LARGEST_BLOB } from '../../src/commands/git.commands.ts';
import { entriesOf, readText, TestCheckouts } from '../support/checkouts.ts';
import { GitServer } from '../support/git-server.ts';

const ANN = { username: 'ann', password: 'secret', privateKey: null };
const MEGABYTE = 1024 * 1024;

let server: GitServer;
let checkouts: TestCheckouts;

beforeAll(async () => {
  server = await GitServer.start();
  checkouts = new TestCheckouts({ caFile: server.caFile });
});
afterAll(async () => {
  await checkouts.stop();
  await server.stop();
});
afterEach(() => {
  server.intercept = undefined;
});

const failing = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'it worked',
    (error: unknown) => error,
  );

describe('a public repository', () => {
  test('tells its branches and which is the default', async () => {
    const url = await server.publish('branches', { 'a.txt': 'a' });
    server.push('branches.git', { 'b.txt': 'b' }, 'second', 'feature/login');
    const { defaultBranch, branches } = await checkouts.git.listRefs(url, { ...ANN, username: null, password: null });
    expect(defaultBranch).toBe('main');
    expect(branches.map(({ name }) => name)).toEqual(['feature/login', 'main']);
    expect(branches.every(({ sha }) => /^[0-9a-f]{40}$/.test(sha))).toBe(true);
  });

  test('is cloned by its default branch or by another, and read', async () => {
    const url = await server.publish('shop', { 'package.json': '{"name":"shop"}', 'src/index.js': 'run()' });
    server.push('shop.git', { 'README.md': '# Other' }, "Ann's second", 'other');
    const main = await checkouts.clone(url);
    expect(main.commit).toMatchObject({ message: 'first', author: 'Ann' });
    expect(await entriesOf(main)).toEqual({
      'package.json': { kind: 'file', size: 15 },
      'src/index.js': { kind: 'file', size: 5 },
    });
    const texts = await Promise.all(['package.json', 'src/index.js', 'nowhere'].map(path => readText(main, path)));
    expect(texts).toEqual(['{"name":"shop"}', 'run()', null]);
    const other = await checkouts.clone(url, 'other');
    expect(other.commit.message).toBe("Ann's second");
    expect(Object.keys(await entriesOf(other))).toEqual(['README.md']);
  });

  test('leaves nothing behind', async () => {
    const url = await server.publish('tidy', { 'a.txt': 'a' });
    const checkout = await checkouts.git.clone(url, null, { ...ANN, password: null, username: null });
    expect(checkouts.leftovers).not.toEqual([]);
    await checkout.dispose();
    const before = new Set(checkouts.leftovers);
    await failing(checkouts.git.clone(url, 'nowhere', ANN));
    expect(checkouts.leftovers.filter(name => !before.has(name))).toEqual([]);
  });
});

describe('a private repository', () => {
  let url: string;
  beforeAll(async () => {
    url = await server.publish('private-shop', { 'a.txt': 'a' }, { isPrivate: true });
  });

  test('is listed and cloned with its credential', async () => {
    expect((await checkouts.git.listRefs(url, ANN)).branches).toHaveLength(1);
    expect((await checkouts.clone(url, null, ANN)).commit.message).toBe('first');
  });

  test('is not with a wrong one', async () => {
    const wrong = { ...ANN, password: 'guess' };
    expect(await failing(checkouts.git.listRefs(url, wrong))).toMatchObject({ kind: 'TOKEN_REJECTED' });
    expect(await failing(checkouts.clone(url, null, wrong))).toMatchObject({ kind: 'TOKEN_REJECTED' });
  });

  test('looks like none without one', async () => {
    const nobody = { ...ANN, username: null, password: null };
    expect(await failing(checkouts.git.listRefs(url, nobody))).toMatchObject({
      kind: 'NOT_FOUND',
      message: expect.stringContaining('is not public'),
    });
  });
});

describe('what is not there', () => {
  test('an unknown repository', async () => {
    expect(await failing(checkouts.clone(`${server.url}/nowhere.git`))).toMatchObject({ kind: 'NOT_FOUND' });
  });

  test('an unknown branch', async () => {
    const url = await server.publish('one-branch', { 'a.txt': 'a' });
    expect(await failing(checkouts.clone(url, 'nowhere'))).toMatchObject({ kind: 'NO_BRANCH' });
  });

  test('an empty repository', async () => {
    const url = `${server.url}/${server.init('empty')}`;
    expect(await checkouts.git.listRefs(url, { ...ANN, password: null })).toMatchObject({ branches: [] });
    expect(await failing(checkouts.clone(url))).toMatchObject({
      code: 'REPOSITORY_EMPTY',
      hint: 'Push a first commit, or choose another branch.',
    });
  });
});

describe('what is left out', () => {
  test('submodules and links are seen and not followed', async () => {
    const path = server.init('modules');
    const commit = 'a'.repeat(40);
    const words = ['update-index', '--add', '--cacheinfo', `160000,${commit},vendor/lib`];
    server.push(path, { '.gitmodules': '[submodule]', 'a.txt': 'a' }, 'first', 'main', words);
    const entries = await entriesOf(await checkouts.clone(`${server.url}/${path}`));
    expect(entries['vendor/lib']).toEqual({ kind: 'submodule', size: 0 });
  });

  test('files kept by LFS are the pointers that stand for them', async () => {
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12345\n`;
    const files = { '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n', 'model.bin': pointer };
    const checkout = await checkouts.clone(await server.publish('lfs', files));
    await entriesOf(checkout);
    expect(await readText(checkout, 'model.bin')).toBe(pointer);
  });

  test('huge files are known and not downloaded', async () => {
    const url = await server.publish('huge', { 'video.mp4': randomBytes(12 * MEGABYTE), 'package.json': '{}' });
    const checkout = await checkouts.clone(url);
    const entries = await entriesOf(checkout);
    expect(entries['video.mp4']?.size).toBeGreaterThan(LARGEST_BLOB);
    expect(await checkout.snapshot.read('video.mp4', 100)).toBeNull();
    expect(await readText(checkout, 'package.json')).toBe('{}');
    expect(diskUse(checkouts.folder)).toBeLessThan(MEGABYTE);
  });

  test('where the server sends them all the same, they are not read', async () => {
    const url = await server.publish('unfiltered', { 'big.bin': randomBytes(5 * MEGABYTE) }, { canFilter: false });
    const checkout = await checkouts.clone(url);
    expect((await entriesOf(checkout))['big.bin']).toEqual({ kind: 'file', size: 5 * MEGABYTE });
    expect(await checkout.snapshot.read('big.bin', 100)).toBeNull();
  });
});

/** Of the latest clone, which is the largest. */
function diskUse(folder: string): number {
  const names = readdirSync(join(folder, 'work'), { recursive: true, encoding: 'utf8' });
  const sizes = names.filter(name => name.includes('pack')).map(name => statSync(join(folder, 'work', name)).size);
  return Math.max(...sizes);
}
