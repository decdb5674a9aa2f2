import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { analyzeSnapshot } from '../../src/analysis/analyze.ts';
import { GitServer } from '../support/git-server.ts';
import { TestSources, textsOf } from '../support/sources.ts';

const ANN = { username: 'ann', password: 'secret', privateKey: null };
const NOWHERE = 'a'.repeat(40);

let server: GitServer;
let sources: TestSources;
const opened: TestSources[] = [];

beforeAll(async () => {
  server = await GitServer.start();
  sources = make();
});
afterAll(async () => {
  for (const each of opened) await each.stop();
  await server.stop();
});
afterEach(() => {
  server.intercept = undefined;
});

function make(options: ConstructorParameters<typeof TestSources>[0] = {}): TestSources {
  const made = new TestSources({ caFile: server.caFile, ...options });
  opened.push(made);
  return made;
}

const failing = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'it worked',
    (error: unknown) => error,
  );

describe('a commit', () => {
  test('is the newest of the default branch, or of another', async () => {
    const url = await server.publish('shop', { 'index.js': 'one' });
    const newest = server.commit('shop.git', { 'index.js': 'two', 'docs/a b.md': 'hello' }, 'Sell more');
    server.push('shop.git', { 'other.txt': 'other' }, 'Elsewhere', 'feature/other');
    const source = await sources.checkOut(url);
    expect(source.commit).toEqual({ sha: newest, author: 'Ann', message: 'Sell more' });
    expect(await textsOf(source)).toEqual({ 'docs/a b.md': 'hello', 'index.js': 'two' });
    const other = await sources.checkOut(url, { branch: 'feature/other' });
    expect(other.commit.message).toBe('Elsewhere');
    expect(await textsOf(other)).toEqual({ 'other.txt': 'other' });
    expect(sources.lines).toContain('Fetching branch feature/other');
    expect(sources.lines).toContain(`Commit ${newest} Sell more`);
  });

  test('is an older one, by its hash', async () => {
    const url = await server.publish('old', { 'a.txt': 'first' });
    const first = server.tip('old.git');
    for (const text of ['second', 'third']) server.commit('old.git', { 'a.txt': text }, text);
    const source = await sources.checkOut(url, { branch: 'main', commit: first });
    expect(source.commit).toMatchObject({ sha: first, message: 'first' });
    expect(await textsOf(source)).toEqual({ 'a.txt': 'first' });
  });

  test('is found by looking back where a server gives none by its hash', async () => {
    const url = await server.publish('aged', { 'a.txt': 'first' });
    const first = server.tip('aged.git');
    for (const text of ['second', 'third']) server.commit('aged.git', { 'a.txt': text }, text);
    server.intercept = request => {
      request.headers['git-protocol'] = 'version=0';
      return false;
    };
    const source = await sources.checkOut(url, { branch: 'main', commit: first });
    expect(source.commit.sha).toBe(first);
    expect(await textsOf(source)).toEqual({ 'a.txt': 'first' });
    expect(await failing(sources.checkOut(url, { commit: NOWHERE }))).toMatchObject({ code: 'COMMIT_NOT_FOUND' });
  });

  test('can be read by the analysis', async () => {
    const url = await server.publish('site', {
      'app/package.json': '{"scripts":{"start":"node ."}}',
      'app/index.js': '',
    });
    const { snapshot } = await sources.checkOut(url);
    const result = await analyzeSnapshot(snapshot, { name: 'site' });
    expect(result).toMatchObject({ language: 'node', directory: 'app' });
  });

  test('of a private repository needs its credential', async () => {
    const url = await server.publish('inner', { 'a.txt': 'a' }, { isPrivate: true });
    expect((await sources.checkOut(url, { login: ANN })).commit.message).toBe('first');
    const wrong = { ...ANN, password: 'guess' };
    expect(await failing(sources.checkOut(url, { login: wrong }))).toMatchObject({ code: 'CLONE_AUTH' });
    expect(await failing(sources.checkOut(url))).toMatchObject({ code: 'CLONE_FAILED', message: /is not public/ });
  });
});

describe('what is not there', () => {
  test('a commit', async () => {
    const url = await server.publish('known', { 'a.txt': 'a' });
    for (const commit of [NOWHERE, 'main', '--upload-pack=x', NOWHERE.slice(0, 7)]) {
      const error = await failing(sources.checkOut(url, { branch: 'main', commit }));
      expect(error).toMatchObject({ code: 'COMMIT_NOT_FOUND', hint: /force push/ });
    }
  });

  test('something else by its hash', async () => {
    const url = await server.publish('things', { 'a.txt': 'a' });
    const blob = '2e65efe2a145dda7ee51d1741299f848e5bf752e';
    expect(await failing(sources.checkOut(url, { commit: blob }))).toMatchObject({ code: 'COMMIT_NOT_FOUND' });
  });

  test('a branch that vanished', async () => {
    const url = await server.publish('gone', { 'a.txt': 'a' });
    server.push('gone.git', { 'b.txt': 'b' }, 'second', 'release');
    server.removeBranch('gone.git', 'release');
    expect(await failing(sources.checkOut(url, { branch: 'release' }))).toMatchObject({
      code: 'BRANCH_NOT_FOUND',
      message: 'The repository has no branch release',
    });
  });

  test('a first commit', async () => {
    const url = `${server.url}/${server.init('empty')}`;
    expect(await failing(sources.checkOut(url))).toMatchObject({
      code: 'BRANCH_NOT_FOUND',
      message: 'The repository has no commit yet',
    });
  });

  test('a repository, a server', async () => {
    expect(await failing(sources.checkOut(`${server.url}/nowhere.git`))).toMatchObject({ code: 'CLONE_FAILED' });
    expect(await failing(sources.checkOut('https://localhost:9/x'))).toMatchObject({ code: 'CLONE_FAILED' });
    expect(await failing(sources.checkOut('file:///etc'))).toMatchObject({ code: 'CLONE_FAILED' });
  });

  test('leaves nothing behind', async () => {
    const own = make();
    await failing(own.checkOut(`${server.url}/nowhere.git`));
    const url = await server.publish('tidy', { 'a.txt': 'a' });
    const source = await own.checkOut(url);
    await source.archive({ contextDirectory: '', extraFiles: {} });
    expect(own.leftovers).toHaveLength(1);
    await source.dispose();
    expect(own.leftovers).toEqual([]);
  });
});

describe('limits', () => {
  test('what is sent is watched, and what is written is known before', async () => {
    const url = await server.publish('large', { 'a.bin': randomBytes(3_000_000), 'b.bin': randomBytes(2000) });
    const packs = make({ limits: { fetchBytes: 1_000_000 } });
    expect(await failing(packs.checkOut(url))).toMatchObject({ code: 'CLONE_FAILED', message: /more than 1 MB/ });
    const bomb = await server.publish('bomb', { 'zeros.bin': Buffer.alloc(5_000_000) });
    const files = make({ limits: { fetchBytes: 1_000_000, treeBytes: 4_000_000 } });
    expect(await failing(files.checkOut(bomb))).toMatchObject({ code: 'CLONE_FAILED', message: /more than 4 MB/ });
    expect([...packs.leftovers, ...files.leftovers]).toEqual([]);
  });

  test('a server that falls silent is given up, and so is what nobody wants any more', async () => {
    const own = make({ limits: { fetchMs: 300 } });
    server.intercept = () => true;
    const silent = `${server.url}/silent.git`;
    expect(await failing(own.checkOut(silent))).toMatchObject({ code: 'CLONE_FAILED', message: /in time/ });
    const controller = new AbortController();
    const unwanted = failing(make().checkOut(silent, { signal: controller.signal }));
    controller.abort(new Error('not wanted'));
    expect(await unwanted).toMatchObject({ message: 'not wanted' });
    expect(own.leftovers).toEqual([]);
  });

  test('a private address is refused', async () => {
    const url = await server.publish('refused', { 'a.txt': 'a' });
    const error = await failing(make({ allow: [] }).checkOut(url));
    expect(error).toMatchObject({ code: 'CLONE_FAILED', message: /OUTBOUND_ALLOW/ });
  });
});
