import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type BuildContext, type BuildOrder, buildImage } from '../../src/engine/deploy/image-build.ts';
import { dockerPrefix, openDocker } from '../../src/engine/deploy/server-docker.ts';
import type { DockerApi } from '../../src/integrations/docker/docker-api.ts';
import { RemoteWork } from '../../src/remote/remote-work.ts';
import type { UseHost } from '../../src/remote/run-reattaching.ts';
import type { SshHost } from '../../src/remote/ssh-host.ts';
import { SshPool } from '../../src/remote/ssh-pool.ts';
import { eventually } from '../support/eventually.ts';
import { LabServer } from './support/lab-server.ts';

const FROM = 'FROM node:24-bookworm-slim';
const TAG = 'slipway/lab:1';
const SECRET = 'hunter2-is-my-secret-$(id)';

/** Each Docker that the lab has: that of Debian 12, and that of Debian 13 where it was built. */
const RELEASES = (['bookworm', 'trixie'] as const).filter(release => LabServer.isBuilt(release));

let server: LabServer;
let host: SshHost;
let docker: DockerApi;
let pool: SshPool;

async function reconnect(): Promise<void> {
  host = await server.connect();
  docker = await openDocker(host);
}

const use: UseHost = work => pool.use('lab', async () => server.target(), work);

function contextOf(files: Record<string, string>, isPacked = false): BuildContext {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-context-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const tar = execFileSync('tar', [isPacked ? '-cz' : '-c', '-C', folder, '.'], { maxBuffer: 1 << 30 });
  rmSync(folder, { recursive: true });
  return {
    bytes: tar.length,
    open: async function* () {
      for (let at = 0; at < tar.length; at += 65_536) yield tar.subarray(at, at + 65_536);
    },
  };
}

/** Builds, and answers with all that was said. */
async function build(files: Record<string, string>, more: Partial<BuildOrder> = {}): Promise<string> {
  let said = '';
  const { onOutput, ...others } = more;
  await buildImage({
    ...{ use, prefix: await dockerPrefix(host), id: randomUUID(), tag: TAG, labels: { 'slipway.environment': 'lab' } },
    ...{ dockerfile: 'Dockerfile', context: contextOf(files), secrets: {}, args: {} },
    onOutput: (chunk, from) => {
      said += chunk.toString();
      return onOutput?.(chunk, from);
    },
    ...others,
  });
  return said;
}

/** What builds leave lying or running on the server. */
const traces = () =>
  server.shell(
    `find /run/slipway-files /var/tmp/slipway-0 -mindepth 1 2>/dev/null; ps axww -o args= | grep -E '[d]ocker build|[s]leep 4242' || true`,
  );

describe.each(RELEASES)('with Debian %s', release => {
  beforeAll(async () => {
    server = await LabServer.start({ hasDocker: true, release });
    await server.load('node:24-bookworm-slim');
    pool = new SshPool();
    await reconnect();
  });
  afterAll(async () => {
    docker?.close();
    host?.close();
    pool?.closeAll();
    await server?.stop();
  });

  describe('a build on a server', () => {
    test('makes an image of the source, with its labels, by its .dockerignore, and leaves nothing else', async () => {
      const Dockerfile = `${FROM}\nCOPY . /app\nRUN find /app -type f | sort && stat -c %a /app/run.sh\n`;
      const files = { 'sub/Dockerfile': Dockerfile, '.dockerignore': 'left-out\n', 'left-out': 'x', 'run.sh': 'x' };
      for (const isPacked of [false, true]) {
        const said = await build(files, {
          dockerfile: 'sub/Dockerfile',
          context: contextOf(files, isPacked),
          noCache: true,
        });
        expect(said).toMatch(/ \/app\/run\.sh$/m);
        expect(said).toMatch(/ 644$/m);
        expect(said).not.toContain('/app/left-out');
      }
      expect(await docker.inspectImage(TAG)).toMatchObject({ labels: { 'slipway.environment': 'lab' } });
      expect(await traces()).toBe('');
    });

    test('has its variables as secrets and its arguments as arguments, and no secret stands anywhere else', async () => {
      const mounts = ['TOKEN', 'slipway-variables', 'DOCKER_HOST'].map(id => `--mount=type=secret,id=${id}`).join(' ');
      const see =
        'sha256sum /run/secrets/TOKEN; . /run/secrets/slipway-variables; test "$TOKEN" = "$(cat /run/secrets/TOKEN)"';
      const Dockerfile = `${FROM}\nARG PUBLIC\nRUN ${mounts} ${see}; echo "public $PUBLIC"; cat /run/secrets/DOCKER_HOST; echo; echo up; sleep 3\n`;
      let seen = '';
      const said = await build(
        { Dockerfile },
        {
          secrets: { TOKEN: SECRET, OTHER: `it's\n${SECRET}` },
          args: { PUBLIC: `plain 'words'`, DOCKER_HOST: 'tcp://nowhere:1' },
          onOutput: async chunk => {
            if (/ up$/m.test(chunk.toString()))
              seen = await server.shell('ps axww -o args=; find /run/slipway-files -printf "%m %u %p\\n"');
          },
        },
      );
      expect(said).toContain(`public plain 'words'`);
      expect(said).toContain('tcp://nowhere:1');
      expect(seen).toMatch(/^700 root \/run\/slipway-files$/m);
      expect(seen).toMatch(/^600 root \/run\/slipway-files\/\S+\/secret\.TOKEN$/m);
      const history = await server.exec('docker', 'history', '--no-trunc', TAG);
      const config = await server.exec('docker', 'inspect', TAG);
      expect([said, seen, history, config].map(place => place.includes('hunter2'))).toEqual([
        false,
        false,
        false,
        false,
      ]);
      expect(history).toContain(`PUBLIC=plain 'words'`);
      expect(await server.shell('find /var/tmp /run /tmp -type f 2>/dev/null -exec grep -l hunter2 {} + || true')).toBe(
        '',
      );
      expect(await traces()).toBe('');
    });

    test.each([
      ['BUILD_FAILED', 'RUN echo the reason; exit 3', /exit code: 3.*the reason/],
      ['OUT_OF_MEMORY', 'RUN exit 137', /exit code: 137/],
      ['OUT_OF_DISK', 'RUN echo "write: No space left on device" >&2; exit 1', /full/],
      ['BUILD_FAILED', 'NONSENSE', /unknown instruction/i],
    ])('that fails is told as %s: %s', async (code, line, message) => {
      const failed = build({ Dockerfile: `${FROM}\n${line}\n` });
      await expect(failed).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
      expect(await traces()).toBe('');
    });

    test('does not take a file of the server for its Dockerfile', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'slipway-link-'));
      execFileSync('ln', ['-s', '/etc/shadow', join(folder, 'Dockerfile')]);
      const tar = execFileSync('tar', ['-c', '-C', folder, '.']);
      rmSync(folder, { recursive: true });
      let said = '';
      const onOutput = (chunk: Buffer) => {
        said += chunk.toString();
      };
      const context = {
        bytes: tar.length,
        open: async function* () {
          yield tar;
        },
      };
      await expect(build({}, { context, onOutput })).rejects.toMatchObject({
        message: expect.stringContaining('not a file'),
      });
      expect(said).not.toContain('root:');
    });

    test('that is cancelled leaves nothing, and nothing runs, whether it is sent or built', async () => {
      const stop = new AbortController();
      const onOutput = async (chunk: Buffer) => {
        if (/ begun$/m.test(chunk.toString())) stop.abort();
      };
      const cancelled = build(
        { Dockerfile: `${FROM}\nRUN echo begun; sleep 4242\n` },
        { signal: stop.signal, onOutput },
      );
      await expect(cancelled).rejects.toMatchObject({ reason: 'ABORTED' });
      expect(await traces()).toBe('');
      const sending = new AbortController();
      const endless = async function* () {
        for (let count = 0; ; count += 1) {
          if (count === 100) sending.abort();
          yield Buffer.alloc(65_536);
        }
      };
      const unsent = build({}, { signal: sending.signal, context: { bytes: 2 ** 40, open: endless } });
      await expect(unsent).rejects.toMatchObject({ reason: 'ABORTED' });
      await eventually(async () => (await traces()) === '');
    });

    test('goes on when the connection is cut, and is done once', async () => {
      const lines = 'for n in 1 2 3 4 5 6 7 8; do echo line $n; sleep 0.7; done';
      const cuts = new Set<string>();
      const said = await build(
        { Dockerfile: `${FROM}\nRUN ${lines}\n` },
        {
          onOutput: async chunk => {
            const [line] = / line [26]$/m.exec(chunk.toString()) ?? [];
            if (line === undefined || cuts.has(line)) return;
            cuts.add(line);
            await server.cutConnections();
          },
        },
      );
      expect(cuts.size).toBe(2);
      expect(said.match(/^#\d+ [\d.]+ line \d$/gm)?.map(line => line.slice(-1))).toEqual([...'12345678']);
      await reconnect();
      expect(await docker.hasImage(TAG)).toBe(true);
      expect(await traces()).toBe('');
    });

    test('is taken up by another process where the first one left it', async () => {
      const id = randomUUID();
      const leave = new AbortController();
      const offset = { stdout: 0, stderr: 0 };
      const Dockerfile = `${FROM}\nRUN for n in 1 2 3 4 5; do echo line $n; sleep 0.7; done\n`;
      let first = '';
      const onOutput = (chunk: Buffer) => {
        first += chunk.toString();
        if (/ line 2$/m.test(first)) leave.abort(new Error('the service stops'));
      };
      const left = build({ Dockerfile }, { id, offset, onOutput, leave: leave.signal });
      await expect(left).rejects.toThrow('the service stops');
      expect(await new RemoteWork(host, await dockerPrefix(host)).status(id)).toBe('RUNNING');
      const open = (): never => {
        throw new Error('it was sent already');
      };
      const second = await build({}, { id, offset, context: { bytes: 1, open } });
      expect((first + second).match(/^#\d+ [\d.]+ line \d$/gm)).toHaveLength(5);
      expect(await traces()).toBe('');
    });
  });
});
