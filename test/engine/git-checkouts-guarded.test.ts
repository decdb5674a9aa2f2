import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { RemoteFailure } from '../../src/remote/host.ts';
import { NOBODY, TestCheckouts } from '../support/checkouts.ts';
import { eventually } from '../support/eventually.ts';
import { GitServer } from '../support/git-server.ts';

const MEGABYTE = 1024 * 1024;
const TOKEN = `planted-${randomBytes(12).toString('hex')}`;
const PLANTED = { username: 'ann', password: TOKEN, privateKey: null };

let server: GitServer;
const opened: TestCheckouts[] = [];

beforeAll(async () => {
  server = await GitServer.start();
});
afterAll(() => server.stop());
afterEach(async () => {
  server.intercept = undefined;
  for (const checkouts of opened.splice(0)) await checkouts.stop();
});

function make(options: ConstructorParameters<typeof TestCheckouts>[0] = {}): TestCheckouts {
  const checkouts = new TestCheckouts({ caFile: server.caFile, ...options });
  opened.push(checkouts);
  return checkouts;
}

const failing = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'it worked',
    (error: unknown) => error,
  );

/** What anybody on the machine sees of the programs that run. */
function commandLines(): string {
  if (!existsSync('/proc/self/cmdline')) return execFileSync('ps', ['-eww', '-o', 'args']).toString();
  const ids = readdirSync('/proc').filter(name => /^\d+$/.test(name));
  return ids.map(id => lineOf(id)).join('\n');
}

function lineOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

describe('a credential', () => {
  test('is on no command line, in no file and in no error while git uses it', async () => {
    const checkouts = make();
    const url = await server.publish('watched', { 'a.txt': 'a' }, { isPrivate: true });
    const seen = { lines: '', files: '', isSent: false };
    server.intercept = request => {
      const sent = Buffer.from(`ann:${TOKEN}`).toString('base64');
      if (request.headers.authorization?.includes(sent)) seen.isSent = true;
      seen.lines += commandLines();
      seen.files += contentsOf(join(checkouts.folder, 'work'));
      return false;
    };
    const error = await failing(checkouts.clone(url, null, PLANTED));
    expect(seen.isSent).toBe(true);
    expect(seen.lines).toContain('clone --quiet');
    expect(seen.lines).not.toContain(TOKEN);
    expect(seen.files).toContain('SLIPWAY_GIT_PASSWORD');
    expect(seen.files).not.toContain(TOKEN);
    expect(error).toMatchObject({ kind: 'TOKEN_REJECTED' });
    expect(`${(error as Error).stack}${JSON.stringify(error)}`).not.toContain(TOKEN);
  });

  test('does not follow a redirect', async () => {
    const asked: string[] = [];
    server.intercept = ({ url = '', headers }, response) => {
      asked.push(`${url} ${headers.authorization ?? 'nobody'}`);
      response.writeHead(302, { location: `${server.url}/elsewhere.git/info/refs?service=git-upload-pack` }).end();
      return true;
    };
    const error = await failing(make().git.listRefs(`${server.url}/moved.git`, PLANTED));
    expect(error).toMatchObject({ kind: 'MOVED' });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatch(/^\/moved.git.* nobody$/);
  });
});

describe('a server', () => {
  test('that never answers is given up, and its git is gone', async () => {
    const checkouts = make({ limits: { listMs: 300, cloneMs: 300 } });
    server.intercept = () => true;
    const silent = `${server.url}/silent-${randomBytes(4).toString('hex')}.git`;
    const late = { kind: 'UNREACHABLE', message: 'The Git server did not answer in time' };
    expect(await failing(checkouts.git.listRefs(silent, NOBODY))).toMatchObject(late);
    expect(await failing(checkouts.clone(silent))).toMatchObject(late);
    await eventually(() => !commandLines().includes(silent));
    expect(checkouts.leftovers).toEqual([]);
  });

  test('that sends more than may be taken is cut off', async () => {
    const checkouts = make({ limits: { cloneBytes: 2 * MEGABYTE } });
    const url = await server.publish('endless', { 'big.bin': randomBytes(8 * MEGABYTE) }, { canFilter: false });
    server.intercept = stuckAfter(4 * MEGABYTE);
    expect(await failing(checkouts.clone(url))).toMatchObject({ kind: 'TOO_LARGE', message: /more than 2 MB/ });
    expect(checkouts.leftovers).toEqual([]);
  });

  test('that sends too much before anybody looks is found out at the end', async () => {
    const checkouts = make({ limits: { cloneBytes: 1000 } });
    const url = await server.publish('swift', { 'big.bin': randomBytes(5000) }, { canFilter: false });
    expect(await failing(checkouts.clone(url))).toMatchObject({ kind: 'TOO_LARGE' });
    expect(checkouts.leftovers).toEqual([]);
  });

  test('at a private address is refused unless it is allowed', async () => {
    const url = await server.publish('inner', { 'a.txt': 'a' });
    expect(await failing(make({ allow: [] }).clone(url))).toMatchObject({ kind: 'REFUSED', message: /OUTBOUND_ALLOW/ });
    const numeric = url.replace('localhost', '127.0.0.1');
    expect(await failing(make({ allow: [] }).clone(numeric))).toMatchObject({ kind: 'REFUSED' });
    expect((await make().clone(numeric)).commit.message).toBe('first');
  });

  test('is reached where its name was resolved to, once, and nowhere else', async () => {
    const url = (await server.publish('pinned', { 'a.txt': 'a' })).replace('localhost', 'git.slipway.test');
    const asked: string[] = [];
    const answers = ['127.0.0.1', '169.254.169.254'];
    const lookup = async (host: string) => {
      asked.push(host);
      return [{ address: answers.shift() ?? '169.254.169.254', family: 4 }];
    };
    const checkouts = make({ lookup });
    expect((await checkouts.clone(url)).commit.message).toBe('first');
    expect(asked).toEqual(['git.slipway.test']);
    expect(await failing(checkouts.clone(url))).toMatchObject({ kind: 'REFUSED', message: /metadata/ });
  });

  test('that has no address, or none that answers', async () => {
    const lookup = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
    const lost = await failing(make({ lookup }).clone('https://nowhere.slipway.test/x'));
    expect(lost).toMatchObject({ kind: 'UNREACHABLE', message: 'The Git server has no address' });
    const closed = await failing(make().clone('https://localhost:9/x'));
    expect(closed).toMatchObject({ kind: 'UNREACHABLE', message: 'The Git server cannot be reached' });
  });

  test('whose certificate nobody vouches for is not spoken to', async () => {
    const url = await server.publish('unknown-authority', { 'a.txt': 'a' });
    const checkouts = new TestCheckouts();
    opened.push(checkouts);
    expect(await failing(checkouts.clone(url))).toMatchObject({ kind: 'UNREACHABLE', message: /OUTBOUND_CA_FILE/ });
  });
});

describe('the machine', () => {
  test('without git says so', async () => {
    const error = await failing(make({ path: '/nonexistent' }).clone(`${server.url}/x`));
    expect(error).toMatchObject({ kind: 'UNREACHABLE', message: /git is not installed/ });
  });

  test('with a git that cannot be told where to connect is not used', async () => {
    const path = join(server.folder, 'old');
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'git'), '#!/bin/sh\necho git version 2.34.1\n');
    chmodSync(join(path, 'git'), 0o755);
    const error = await failing(make({ path: `${path}:/bin:/usr/bin` }).clone(`${server.url}/x`));
    expect(error).toMatchObject({ kind: 'UNREACHABLE', message: /git 2.37 or newer/ });
  });

  test('loses what a killed process left, keys and all, and nothing that is in use', async () => {
    const checkouts = make();
    const left = join(checkouts.folder, 'work', 'git-left');
    const used = join(checkouts.folder, 'work', 'git-used');
    for (const folder of [left, used]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(left, 'key'), 'a private key');
    utimesSync(left, new Date(), new Date(Date.now() - 2 * 60 * 60 * 1000));
    await checkouts.git.listRefs(await server.publish('sweeping', { 'a.txt': 'a' }), NOBODY);
    expect(checkouts.leftovers).toEqual(['git-used']);
  });

  test('hides what git said from whoever asked', () => {
    expect(String(new RemoteFailure('git', 128, TOKEN, 'EXIT'))).not.toContain(TOKEN);
  });
});

/** Large answers in slices, as over a line that is slow enough to look at. */
/** Sends that much and then neither more nor an end. */
const stuckAfter =
  (bytes: number): NonNullable<GitServer['intercept']> =>
  (_, response) => {
    const [write, end] = [response.write.bind(response), response.end.bind(response)];
    let sent = 0;
    response.write = ((chunk: Buffer) => {
      sent += chunk.length;
      return sent <= bytes && write(chunk);
    }) as typeof response.write;
    response.end = (() => (sent <= bytes ? end() : response)) as typeof response.end;
    return false;
  };

const contentsOf = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
