import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { GitServer } from '../support/git-server.ts';
import { TestSources, textsOf, unpack } from '../support/sources.ts';

let server: GitServer;
let sources: TestSources;

beforeAll(async () => {
  server = await GitServer.start();
  sources = new TestSources({ caFile: server.caFile });
});
afterAll(async () => {
  await sources.stop();
  await server.stop();
});

const bytesOf = async (chunks: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
};

describe('an archive', () => {
  test('keeps links and exec bits, and holds nothing of git', async () => {
    const files = { 'run.sh': '#!/bin/sh', 'a.txt': 'a', '*': 'star', '-rf': 'dash', '.gitattributes': '* text=auto' };
    const path = server.init('modes');
    const links = { out: { link: '/etc/passwd' }, in: { link: 'a.txt' } };
    server.push(path, { ...files, ...links }, 'first', 'main', ['update-index', '--chmod=+x', 'run.sh']);
    const source = await sources.checkOut(`${server.url}/${path}`);
    const packed = await unpack(await source.archive({ contextDirectory: '', extraFiles: {} }));
    expect(packed).toEqual({
      'run.sh': { mode: '-rwxr-xr-x', target: null, text: '#!/bin/sh' },
      'a.txt': { mode: '-rw-r--r--', target: null, text: 'a' },
      '*': { mode: '-rw-r--r--', target: null, text: 'star' },
      '-rf': { mode: '-rw-r--r--', target: null, text: 'dash' },
      '.gitattributes': { mode: '-rw-r--r--', target: null, text: '* text=auto' },
      out: { mode: expect.stringMatching(/^l/), target: '/etc/passwd', text: null },
      in: { mode: expect.stringMatching(/^l/), target: 'a.txt', text: null },
    });
  });

  test('runs neither a hook nor a filter that the repository brings', async () => {
    const files = {
      '.gitattributes': '*.txt filter=evil\n',
      'a.txt': 'as it is',
      '.githooks/post-checkout': '#!/bin/sh\ntouch /tmp/slipway-hook-ran',
      '.gitconfig': '[filter "evil"]\n\tsmudge = echo changed\n',
    };
    const source = await sources.checkOut(await server.publish('evil', files));
    expect(await textsOf(source)).toEqual(files);
  });

  test('is of one folder, which a link inside may name and one that leads out may not', async () => {
    const url = await server.publish('mono', {
      'apps/web/index.js': 'web',
      'apps/api/index.js': 'api',
      'a.txt': 'a',
      web: { link: 'apps/web' },
      etc: { link: '/etc' },
      up: { link: '../..' },
    });
    const source = await sources.checkOut(url);
    expect(await textsOf(source, 'apps/web')).toEqual({ 'index.js': 'web' });
    expect(await textsOf(source, './apps/api/')).toEqual({ 'index.js': 'api' });
    expect(await textsOf(source, 'web')).toEqual({ 'index.js': 'web' });
    for (const contextDirectory of ['etc', 'up', '..', 'apps/../..', 'nowhere', 'a.txt', 'a\0b']) {
      const archive = source.archive({ contextDirectory, extraFiles: {} });
      await expect(archive).rejects.toMatchObject({ code: 'BUILD_FAILED', message: /has no folder/ });
    }
  });

  test('takes extra files in the place of whatever the repository has there', async () => {
    const name = 'slipway.Dockerfile';
    const victim = join(sources.folder, 'victim');
    writeFileSync(victim, 'untouched');
    const links = {
      [name]: { link: victim },
      [`${name}.dockerignore`]: { link: 'a.txt' },
      deep: { link: sources.folder },
    };
    const source = await sources.checkOut(await server.publish('hostile', { 'a.txt': 'a', file: 'f', ...links }));
    const extraFiles = {
      [name]: 'FROM scratch',
      [`${name}.dockerignore`]: '*.md',
      'deep/er': 'below a link',
      'file/x': 'below a file',
    };
    const packed = await unpack(await source.archive({ contextDirectory: '', extraFiles }));
    const plain = { mode: '-rw-r--r--', target: null };
    expect(packed).toEqual({
      'a.txt': { ...plain, text: 'a' },
      ...Object.fromEntries(Object.entries(extraFiles).map(([path, text]) => [path, { ...plain, text }])),
    });
    expect(readdirSync(sources.folder).sort()).toEqual(['victim', 'work']);
    // The tree itself is as it was.
    expect(await textsOf(source)).toMatchObject({ 'a.txt': 'a', file: 'f', deep: null, [name]: null });
    const outside = source.archive({ contextDirectory: '', extraFiles: { '../x': 'x' } });
    await expect(outside).rejects.toThrow(/plain path/);
  });

  test('can be read again, and is the same for the same commit', async () => {
    const url = await server.publish('again', { 'a.txt': 'a', 'b/c.txt': 'c' });
    const [one, other] = [await sources.checkOut(url), await sources.checkOut(url)];
    const archive = await one.archive({ contextDirectory: '', extraFiles: { Dockerfile: 'FROM scratch' } });
    const first = await bytesOf(archive.open());
    expect(first).toHaveLength(archive.bytes);
    expect((await bytesOf(archive.open())).equals(first)).toBe(true);
    const twin = await other.archive({ contextDirectory: '', extraFiles: { Dockerfile: 'FROM scratch' } });
    expect((await bytesOf(twin.open())).equals(first)).toBe(true);
  });

  test('is compressed where that makes it smaller', async () => {
    const [text, noise] = ['words '.repeat(200_000), randomBytes(900_000).toString('latin1')];
    const wordy = await sources.checkOut(await server.publish('wordy', { 'a.txt': text }));
    const small = await wordy.archive({ contextDirectory: '', extraFiles: {} });
    expect(small.bytes).toBeLessThan(100_000);
    expect((await bytesOf(small.open())).subarray(0, 2).toString('hex')).toBe('1f8b');
    expect((await unpack(small))['a.txt']?.text).toBe(text);
    const noisy = await sources.checkOut(await server.publish('noisy', { 'a.bin': Buffer.from(noise, 'latin1') }));
    const large = await noisy.archive({ contextDirectory: '', extraFiles: {} });
    expect(large.bytes).toBeGreaterThan(900_000);
    expect((await bytesOf(large.open())).subarray(0, 2).toString('hex')).not.toBe('1f8b');
  });
});

test('what a killed process left is gone after the next use, and what is in use stays', async () => {
  const own = new TestSources({ caFile: server.caFile });
  const url = await server.publish('sweeping', { 'a.txt': 'a' });
  const source = await own.checkOut(url);
  const [used = ''] = own.leftovers;
  const left = join(own.folder, 'work', 'git-left');
  mkdirSync(join(left, 'tree'), { recursive: true });
  writeFileSync(join(left, 'tree', 'a.txt'), 'a');
  for (const folder of [left, join(own.folder, 'work', used)])
    utimesSync(folder, new Date(), new Date(Date.now() - 2 * 60 * 60 * 1000));
  const next = await own.checkOut(url);
  expect(own.leftovers).not.toContain('git-left');
  expect(own.leftovers).toContain(used);
  expect(await textsOf(source)).toEqual({ 'a.txt': 'a' });
  await next.dispose();
  await own.stop();
});
