import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { NO_LOGIN } from '../../src/engine/git-sessions.ts';
import { parsePointer } from '../../src/engine/source/lfs-files.ts';
import { GitServer } from '../support/git-server.ts';
import { TestSources, textsOf, unpack } from '../support/sources.ts';
import { SshDaemon } from '../support/ssh-daemon.ts';

const ANN = { username: 'ann', password: 'secret', privateKey: null };
const ATTRIBUTES = '*.bin filter=lfs diff=lfs merge=lfs -text\n';
const oidOf = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');
const pointerTo = (content: string | Buffer) =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${oidOf(content)}\nsize ${content.length}\n`;

let server: GitServer;
let lfs: LfsStore;
const opened: TestSources[] = [];

beforeAll(async () => {
  server = await GitServer.start();
});
afterEach(async () => {
  server.intercept = undefined;
  for (const each of opened.splice(0)) await each.stop();
});
afterAll(() => server.stop());

function make(options: ConstructorParameters<typeof TestSources>[0] = {}): TestSources {
  const made = new TestSources({ caFile: server.caFile, ...options });
  opened.push(made);
  return made;
}

/** An LFS server by its documented API, beside the repositories of a Git server. */
class LfsStore {
  readonly asked: string[] = [];
  readonly #files = new Map<string, Buffer>();
  hrefOf = (oid: string): string => `${server.url}/lfs-files/${oid}`;
  /** Before a download is answered. */
  beforeFile: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;

  keep(...contents: (string | Buffer)[]): this {
    for (const content of contents) this.#files.set(oidOf(content), Buffer.from(content));
    server.intercept = (request, response) => this.#answer(request, response);
    return this;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { url = '', headers } = request;
    if (!/\/info\/lfs\/|^\/lfs-files\//.test(url)) return false;
    this.asked.push(`${request.method} ${headers.host} ${url.split('?')[0]} ${headers.authorization ?? 'nobody'}`);
    if (url.endsWith('/objects/batch')) await this.#batch(request, response);
    else if (!this.beforeFile?.(request, response)) response.end(this.#files.get(url.split('/').at(-1) ?? ''));
    return true;
  }

  async #batch(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.startsWith('/private/') && request.headers.authorization === undefined) {
      response.writeHead(401).end();
      return;
    }
    let text = '';
    for await (const chunk of request) text += chunk;
    const body = JSON.parse(text) as { operation: string; objects: { oid: string; size: number }[] };
    const objects = body.objects.map(({ oid, size }) =>
      this.#files.has(oid)
        ? { oid, size, actions: { download: { href: this.hrefOf(oid), header: { Authorization: 'RemoteAuth x' } } } }
        : { oid, size, error: { code: 404, message: 'Object does not exist' } },
    );
    response.writeHead(200, { 'content-type': 'application/vnd.git-lfs+json' });
    response.end(JSON.stringify({ transfer: 'basic', objects }));
  }
}

const failing = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'it worked',
    (error: unknown) => error,
  );

describe('files kept by LFS', () => {
  test('take the place of their pointers, wherever those are', async () => {
    const [model, other] = [randomBytes(300_000).toString('hex'), 'another one'];
    lfs = new LfsStore().keep(model, other);
    const path = server.init('lfs');
    const files = {
      'a/.gitattributes': ATTRIBUTES,
      'a/model.bin': pointerTo(model),
      'a/copy.bin': pointerTo(model),
      'a/run.bin': pointerTo(other),
      'a/small.bin': 'never was a pointer',
      'like-one.txt': pointerTo(model),
      // Not the repository's own: it is not asked.
      '.lfsconfig': '[lfs]\n\turl = https://169.254.169.254/\n',
    };
    server.push(path, files, 'first', 'main', ['update-index', '--chmod=+x', 'a/run.bin']);
    const sources = make();
    const source = await sources.checkOut(`${server.url}/${path}`);
    expect(await textsOf(source)).toEqual({
      ...files,
      'a/model.bin': model,
      'a/copy.bin': model,
      'a/run.bin': other,
    });
    const packed = await unpack(await source.archive({ contextDirectory: 'a', extraFiles: {} }));
    expect(packed['run.bin']?.mode).toBe('-rwxr-xr-x');
    expect(packed['model.bin']?.mode).toBe('-rw-r--r--');
    expect(sources.lines).toContain('Fetching 3 files from LFS (1.1 MB)');
    const at = `localhost:${server.port}`;
    expect(lfs.asked.sort()).toEqual(
      [
        `GET ${at} /lfs-files/${oidOf(model)} RemoteAuth x`,
        `GET ${at} /lfs-files/${oidOf(other)} RemoteAuth x`,
        `POST ${at} /lfs.git/info/lfs/objects/batch nobody`,
      ].sort(),
    );
  });

  test('are asked for with the credential of the repository, in lots', async () => {
    const contents = Array.from({ length: 130 }, (_, index) => `file ${index}`);
    lfs = new LfsStore().keep(...contents);
    const files = Object.fromEntries(contents.map((content, index) => [`f${index}.bin`, pointerTo(content)]));
    const url = await server.publish('many-lfs', { '.gitattributes': ATTRIBUTES, ...files }, { isPrivate: true });
    const texts = await textsOf(await make().checkOut(url, { login: ANN }));
    expect(texts).toEqual({
      '.gitattributes': ATTRIBUTES,
      ...Object.fromEntries(contents.map((c, i) => [`f${i}.bin`, c])),
    });
    const batches = lfs.asked.filter(line => line.includes('/objects/batch'));
    expect(batches).toHaveLength(2);
    expect(batches[0]).toContain(`Basic ${Buffer.from('ann:secret').toString('base64')}`);
  });

  test('may be sent on to where they really are, without what they were asked with', async () => {
    lfs = new LfsStore().keep('moved');
    const elsewhere = `https://127.0.0.1:${server.port}`;
    lfs.beforeFile = ({ headers, url }, response) => {
      if (headers.host?.startsWith('127')) return false;
      response.writeHead(302, { location: `${elsewhere}${url}` }).end();
      return true;
    };
    const url = await server.publish('moved-lfs', { '.gitattributes': ATTRIBUTES, 'a.bin': pointerTo('moved') });
    expect(await textsOf(await make().checkOut(url))).toMatchObject({ 'a.bin': 'moved' });
    expect(lfs.asked.at(-1)).toMatch(/^GET 127\.0\.0\.1:\d+ .* nobody$/);
  });
});

const testWithSshd = SshDaemon.isInstalled ? test : test.skip;

testWithSshd(
  'of a repository behind ssh are asked for by the pass that its server gives (skipped without sshd)',
  async () => {
    lfs = new LfsStore().keep('by ssh');
    await server.publish("it's", { '.gitattributes': ATTRIBUTES, 'a.bin': pointerTo('by ssh') });
    const daemon = await SshDaemon.start();
    try {
      const pass = { href: `${server.url}/pass.git/info/lfs`, header: { Authorization: 'Pass 1' } };
      const said = join(server.folder, 'said');
      const script = `#!/bin/sh\nprintf '%s\\n' "$@" > ${said}\necho '${JSON.stringify(pass)}'\n`;
      daemon.install('git-lfs-authenticate', script);
      const url = daemon.addressOf(join(server.folder, 'it%27s.git'));
      const login = { ...NO_LOGIN, privateKey: daemon.key };
      expect(await textsOf(await make().checkOut(url, { login }))).toMatchObject({ 'a.bin': 'by ssh' });
      expect(readFileSync(said, 'utf8')).toMatch(/^\S+\/it%27s.git\ndownload\n$/);
      expect(lfs.asked[0]).toMatch(/^POST .* \/pass.git\/info\/lfs\/objects\/batch Pass 1$/);
    } finally {
      await daemon.stop();
    }
  },
);

describe('without them there is no source', () => {
  const publish = (name: string, content = 'x') =>
    server.publish(name, { '.gitattributes': ATTRIBUTES, 'a.bin': pointerTo(content) });

  test('where the server has no LFS, or not this file, or another', async () => {
    const none = await failing(make().checkOut(await publish('no-lfs')));
    expect(none).toMatchObject({ code: 'CLONE_FAILED', message: /its server has no LFS/ });
    lfs = new LfsStore().keep('another');
    const lost = await failing(make().checkOut(await publish('lost-lfs')));
    expect(lost).toMatchObject({ code: 'CLONE_FAILED', message: /LFS has no file 2d711642b726/ });
    lfs = new LfsStore().keep('x');
    for (const wrong of ['y', 'much longer', '']) {
      lfs.beforeFile = (_, response) => Boolean(response.end(wrong));
      const sources = make();
      expect(await failing(sources.checkOut(await publish(`wrong-lfs-${wrong.length}`)))).toMatchObject({
        code: 'CLONE_FAILED',
      });
      expect(sources.leftovers).toEqual([]);
    }
  });

  test('where they are at an address that may not be reached', async () => {
    lfs = new LfsStore().keep('x');
    for (const href of [
      'https://169.254.169.254/latest',
      'http://localhost/x',
      'file:///etc/passwd',
      'https://10.0.0.1/',
    ]) {
      lfs.hrefOf = () => href;
      const url = await publish(`away-${href.replace(/\W/g, '-')}`);
      expect(await failing(make().checkOut(url))).toMatchObject({ code: 'CLONE_FAILED', message: /LFS/ });
    }
    lfs.hrefOf = () => `${server.url}/lfs-files/x`;
    lfs.beforeFile = (_, response) => Boolean(response.writeHead(302, { location: 'https://169.254.169.254/' }).end());
    const url = await publish('sent-away');
    expect(await failing(make().checkOut(url))).toMatchObject({ code: 'CLONE_FAILED', message: /metadata/ });
  });

  test('where they are too large, which is known before they are fetched', async () => {
    lfs = new LfsStore().keep('x');
    const url = await server.publish('vast-lfs', {
      '.gitattributes': ATTRIBUTES,
      'a.bin': pointerTo('x').replace(/size \d+/, 'size 999999999999'),
    });
    expect(await failing(make().checkOut(url))).toMatchObject({ code: 'CLONE_FAILED', message: /more than 2048 MB/ });
    expect(lfs.asked).toEqual([]);
  });

  test('where the credential is not good enough', async () => {
    lfs = new LfsStore().keep('x');
    lfs.beforeFile = (_, response) => Boolean(response.writeHead(403).end());
    expect(await failing(make().checkOut(await publish('refused-lfs')))).toMatchObject({ code: 'CLONE_AUTH' });
  });
});

test('pointers are known by their form', () => {
  expect(parsePointer(pointerTo('x'))).toEqual({ oid: oidOf('x'), size: 1 });
  expect(parsePointer(pointerTo('x').replace('size', 'ext-0-foo sha256:1\nsize'))).toMatchObject({ size: 1 });
  for (const text of ['', 'version https://git-lfs.github.com/spec/v1\n', pointerTo('x').replace('sha256', 'md5')])
    expect(parsePointer(text)).toBeUndefined();
});
