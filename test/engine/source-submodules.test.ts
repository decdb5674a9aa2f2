import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { parseSubmodules, submoduleUrl } from '../../src/engine/source/submodules.ts';
import { parseRepositoryUrl } from '../../src/security/repository-url.ts';
import { type Files, GitServer } from '../support/git-server.ts';
import { TestSources, textsOf } from '../support/sources.ts';

const ANN = { username: 'ann', password: 'secret', privateKey: null };

let server: GitServer;
const opened: TestSources[] = [];

beforeAll(async () => {
  server = await GitServer.start();
  await server.publish('lib', { 'lib.js': 'old' });
  server.commit('lib.git', { 'lib.js': 'wanted' }, 'second');
});
afterEach(() => {
  server.intercept = undefined;
});
afterAll(async () => {
  for (const each of opened) await each.stop();
  await server.stop();
});

function make(options: ConstructorParameters<typeof TestSources>[0] = {}): TestSources {
  const made = new TestSources({ caFile: server.caFile, ...options });
  opened.push(made);
  return made;
}

interface Module {
  url?: string;
  commit: string;
  more?: string;
}

/** A repository with submodules by their paths. */
function publish(
  name: string,
  modules: Readonly<Record<string, Module>>,
  files: Files = {},
  isPrivate = false,
): string {
  const path = server.init(name, { isPrivate });
  const told = Object.entries(modules).flatMap(([folder, { url, more = '' }]) =>
    url === undefined ? [] : [`[submodule "${folder}"]\n\tpath = ${folder}\n\turl = ${url}\n${more}`],
  );
  const words = Object.entries(modules).map(([folder, { commit }]) => [
    ...['update-index', '--add', '--cacheinfo'],
    `160000,${commit},${folder}`,
  ]);
  server.push(path, { 'a.txt': 'a', '.gitmodules': told.join(''), ...files }, 'first', 'main', ...words);
  return `${server.url}/${path}`;
}

const failing = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'it worked',
    (error: unknown) => error,
  );

describe('submodules', () => {
  test('are written at their recorded commits, by relative and absolute addresses, at any depth', async () => {
    const commit = server.tip('lib.git');
    server.commit('lib.git', { 'lib.js': 'newer' }, 'third');
    publish('middle', { 'deep/lib': { url: '../lib.git', commit } });
    const url = publish('modules', {
      'vendor/relative': { url: '../lib.git', commit },
      'vendor/absolute': { url: `${server.url}/lib.git`, commit },
      middle: { url: './../middle.git', commit: server.tip('middle.git') },
    });
    const sources = make();
    const texts = await textsOf(await sources.checkOut(url));
    expect(texts).toMatchObject({
      'a.txt': 'a',
      'vendor/relative/lib.js': 'wanted',
      'vendor/absolute/lib.js': 'wanted',
      'middle/a.txt': 'a',
      'middle/deep/lib/lib.js': 'wanted',
    });
    expect(Object.keys(texts).filter(path => /(^|\/)\.git(\/|$)/.test(path))).toEqual([]);
    expect(sources.lines).toContain('Fetching submodule middle/deep/lib');
  });

  test('fail the checkout by their names', async () => {
    const commit = server.tip('lib.git');
    const cases: [url: string, message: RegExp][] = [
      ['../nowhere.git', /Submodule x: The repository does not exist/],
      ['file:///etc', /Submodule x: Its address in .gitmodules is not one of https or ssh/],
      ['/etc', /is not one of https or ssh/],
      ['../../../../etc', /is not one of https or ssh/],
      ['ext::sh -c id', /is not one of https or ssh/],
      ['http://localhost/lib.git', /is not one of https or ssh/],
      ['https://ann:secret@localhost/lib.git', /is not one of https or ssh/],
      ['--upload-pack=id', /is not one of https or ssh/],
      ['https://169.254.169.254/lib.git', /Submodule x: The Git server may not be reached: .*metadata/],
      ['https://10.0.0.1/lib.git', /Submodule x: .*OUTBOUND_ALLOW/],
    ];
    for (const [index, [url, message]] of cases.entries()) {
      const sources = make();
      const main = publish(`failing-${index}`, { x: { url, commit } });
      expect(await failing(sources.checkOut(main))).toMatchObject({ code: 'CLONE_FAILED', message });
      expect(sources.leftovers).toEqual([]);
    }
    const lost = publish('lost', { 'x/y': { url: '../lib.git', commit: 'a'.repeat(40) } });
    expect(await failing(make().checkOut(lost))).toMatchObject({
      code: 'CLONE_FAILED',
      message: 'Submodule x/y: The repository has no commit aaaaaaaaaaaa',
    });
  });

  test('without an address, or left out on purpose, stay empty', async () => {
    const commit = server.tip('lib.git');
    const url = publish('empty-folders', {
      stray: { commit },
      optional: { commit, url: '../lib.git', more: '\tupdate = none\n' },
    });
    const sources = make();
    expect(Object.keys(await textsOf(await sources.checkOut(url))).sort()).toEqual(['.gitmodules', 'a.txt']);
    expect(sources.lines).toContain('Submodule stray has no address in .gitmodules: its folder stays empty');
    expect(sources.lines).toContain('Submodule optional is left out by .gitmodules: its folder stays empty');
  });

  test('are so many and so deep at most', async () => {
    const commit = server.tip('lib.git');
    const module = { url: '../lib.git', commit };
    const many = publish('many', { a: module, b: module, c: module });
    const few = await failing(make({ limits: { submodules: 2 } }).checkOut(many));
    expect(few).toMatchObject({
      code: 'CLONE_FAILED',
      message: 'Submodule c: The repository has more than 2 submodules',
    });
    publish('below', { x: { url: '../many.git', commit: server.tip('many.git') } });
    const deep = publish('deep', { y: { url: '../below.git', commit: server.tip('below.git') } });
    const shallow = await failing(make({ limits: { submoduleDepth: 2 } }).checkOut(deep));
    expect(shallow).toMatchObject({
      message: 'Submodule y/x/a: Submodules are nested more than 2 deep',
    });
  });

  test('count with the repository', async () => {
    server.push(server.init('heavy'), { 'big.bin': Buffer.alloc(3_000_000) }, 'first');
    const commit = server.tip('heavy.git');
    const url = publish('sum', { a: { url: '../heavy.git', commit }, b: { url: '../heavy.git', commit } });
    const error = await failing(make({ limits: { treeBytes: 4_000_000 } }).checkOut(url));
    expect(error).toMatchObject({ code: 'CLONE_FAILED', message: /Submodule b: .* more than 4 MB/ });
  });
});

describe('the credential', () => {
  test('goes to submodules on the same server and to no other', async () => {
    await server.publish('secret-lib', { 'lib.js': 'secret' }, { isPrivate: true });
    const commit = server.tip('private/secret-lib.git');
    const near = publish('near', { lib: { url: '../secret-lib.git', commit } }, {}, true);
    expect(await textsOf(await make().checkOut(near, { login: ANN }))).toMatchObject({ 'lib/lib.js': 'secret' });
    const seen: string[] = [];
    server.intercept = request => {
      const { host, authorization } = request.headers;
      if (authorization !== undefined) seen.push(String(host));
      return false;
    };
    const url = `https://127.0.0.1:${server.port}/private/secret-lib.git`;
    const far = publish('far', { lib: { url, commit } }, {}, true);
    const error = await failing(make().checkOut(far, { login: ANN }));
    expect(error).toMatchObject({ message: /^Submodule lib: The repository does not exist or is not public/ });
    expect(new Set(seen)).toEqual(new Set([`localhost:${server.port}`]));
  });

  test('does not go to other owners on the same server, whatever a branch says', async () => {
    await server.publish('payroll/wages', { 'wages.csv': 'secret' }, { isPrivate: true });
    const commit = server.tip('private/payroll/wages.git');
    const addresses = [
      './../payroll/wages.git',
      `${server.url}/private/payroll/wages.git`,
      `${server.url}/private//payroll/wages.git`,
      'git@localhost:private/payroll/wages.git',
      'git@localhost:/private/payroll/wages.git',
      'ssh://git@localhost/private/payroll/wages.git',
    ];
    const asked: string[] = [];
    server.intercept = request => {
      if (request.headers.authorization !== undefined) asked.push(request.url ?? '');
      return false;
    };
    for (const [index, address] of addresses.entries()) {
      const url = publish(`greedy-${index}`, { x: { url: address, commit } }, {}, true);
      const sources = make();
      expect(await failing(sources.checkOut(url, { login: ANN }))).toMatchObject({
        code: 'CLONE_AUTH',
        message: expect.stringMatching(/^Submodule x: The repository does not exist or is not public/),
        hint: expect.stringContaining('used for submodules in localhost/private alone'),
      });
      expect(sources.lines).toContain('Fetching submodule x, without the account: it is not in localhost/private');
      expect(sources.leftovers).toEqual([]);
    }
    expect(asked.filter(path => path.includes('payroll'))).toEqual([]);
    // Nor by one of its own that leads there.
    const own = publish('go-between', { y: { url: './../payroll/wages.git', commit } }, {}, true);
    expect(own).toContain('/private/go-between.git');
    const between = { url: '../go-between.git', commit: server.tip('private/go-between.git') };
    const error = await failing(make().checkOut(publish('detour', { x: between }, {}, true), { login: ANN }));
    expect(error).toMatchObject({ code: 'CLONE_AUTH', message: expect.stringMatching(/^Submodule x\/y: /) });
    expect(asked.filter(path => path.includes('payroll'))).toEqual([]);
  });

  test('is not needed for public ones of others, by whichever address', async () => {
    const commit = server.tip('lib.git');
    const modules = {
      near: { url: `${server.url}/lib.git`, commit },
      written: { url: 'git@localhost:lib.git', commit },
    };
    const url = publish('with-public', modules, {}, true);
    const texts = await textsOf(await make().checkOut(url, { login: ANN }));
    expect(texts).toMatchObject({ 'near/lib.js': expect.any(String), 'written/lib.js': expect.any(String) });
  });

  test('for https reaches what is written for ssh on the same server', async () => {
    const commit = server.tip('private/secret-lib.git');
    const modules = { lib: { url: 'git@localhost:private/secret-lib.git', commit } };
    const url = publish('by-ssh', modules, {}, true);
    expect(await textsOf(await make().checkOut(url, { login: ANN }))).toMatchObject({ 'lib/lib.js': 'secret' });
  });
});

test('relative addresses are read as git reads them', () => {
  const at = (base: string, url: string) => {
    const parent = parseRepositoryUrl(base);
    return parent === undefined ? 'no base' : submoduleUrl(parent, url)?.href;
  };
  expect(at('https://example.org/a/b.git', '../c.git')).toBe('https://example.org/a/c.git');
  expect(at('https://example.org/a/b.git', '../../x/c.git')).toBe('https://example.org/x/c.git');
  expect(at('https://example.org/a/b/', './c')).toBe('https://example.org/a/b/c');
  expect(at('git@example.org:a/b.git', '../c.git')).toBe('git@example.org:a/c.git');
  expect(at('ssh://git@example.org:2222/a/b', '../../c')).toBe('ssh://git@example.org:2222/c');
  expect(at('https://example.org/a/b.git', '../../../c')).toBeUndefined();
  expect(at('https://example.org/a/b.git', '../../https://evil.example/c')).toBeUndefined();
  expect(at('https://example.org/a/b.git', '../c/../../d')).toBeUndefined();
});

test('what .gitmodules says may be anything', () => {
  expect(parseSubmodules('')).toEqual([]);
  const text =
    'submodule.a.b.path\nx y\0submodule.a.b.url\nhttps://e.org/x\0core.pager\nless\0submodule.c.path\nonly\0';
  expect(parseSubmodules(text)).toEqual([{ path: 'x y', url: 'https://e.org/x', isLeftOut: false }]);
});
