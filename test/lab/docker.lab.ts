import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { openDocker } from '../../src/engine/deploy/server-docker.ts';
import { listeningPorts, openConnections } from '../../src/engine/deploy/server-ports.ts';
import type { ContainerSpec } from '../../src/integrations/docker/container-spec.ts';
import type { DockerApi } from '../../src/integrations/docker/docker-api.ts';
import { wholeOutput } from '../../src/integrations/docker/whole-output.ts';
import type { SshHost } from '../../src/remote/ssh-host.ts';
import { eventually } from '../support/eventually.ts';
import { LabServer } from './support/lab-server.ts';

const NODE = 'node:24-bookworm-slim';
const LABELS = { 'slipway.role': 'lab' };

/** Each Docker that the lab has: that of Debian 12, and that of Debian 13 where it was built. */
const RELEASES = (['bookworm', 'trixie'] as const).filter(release => LabServer.isBuilt(release));

let server: LabServer;
let host: SshHost;
let docker: DockerApi;

const make = async (spec: Partial<ContainerSpec>): Promise<string> => {
  const name = `lab-${Math.random().toString(36).slice(2)}`;
  await docker.createContainer({ name, image: NODE, env: {}, labels: LABELS, ...spec });
  await docker.startContainer(name);
  return name;
};

/** What it says until it ends. */
const sayingsOf = async (name: string): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  await wholeOutput(docker, name, { onOutput: chunk => void chunks.push(chunk) });
  return Buffer.concat(chunks);
};

describe.each(RELEASES)('with Debian %s', release => {
  beforeAll(async () => {
    server = await LabServer.start({ hasDocker: true, release });
    await server.load(NODE);
    host = await server.connect();
    docker = await openDocker(host);
  });
  afterAll(async () => {
    docker?.close();
    host?.close();
    await server?.stop();
  });

  describe('a container', () => {
    test('finds in its environment what it was given, whatever bytes, and nobody finds it on a command line', async () => {
      const everyByte = Array.from({ length: 0x17f }, (_, index) => String.fromCodePoint(index + 1)).join('');
      const value = fc
        .string({ unit: 'binary', maxLength: 2000 })
        .map(text => text.replaceAll('\0', '').toWellFormed());
      const values = fc.array(value, { minLength: 50, maxLength: 100 });
      await fc.assert(
        fc.asyncProperty(values, async random => {
          const env = Object.fromEntries(['', everyByte, '\n', ...random].map((text, index) => [`V${index}`, text]));
          // Docker cuts long lines in the middle of characters: what is read back has none but plain ones.
          const say = `process.stdout.write(Buffer.from(JSON.stringify(process.env)).toString('base64'))`;
          const name = await make({ env, command: ['node', '-e', say] });
          const seen = JSON.parse(Buffer.from((await sayingsOf(name)).toString(), 'base64').toString());
          expect(Object.entries(env).filter(([key, text]) => seen[key] !== text)).toEqual([]);
          await docker.removeContainer(name);
        }),
        { numRuns: 5, endOnFailure: true, examples: [[["it's", '$(id)', '`id`', 'a=b', 'a b\tc', '"', '\\']]] },
      );
      const mark = 'seen-by-everybody-on-the-server';
      const name = await make({ env: { SECRET: mark }, command: ['sleep', '60'] });
      expect(await server.shell(`ps axww -o args= | grep -v grep | grep -c ${mark} || true`)).toBe('0');
      await docker.removeContainer(name);
    });

    test('has no more memory, processors and processes than it may, no new privileges, and a log that rotates', async () => {
      const name = await make({ memoryMb: 96, cpus: 0.5, command: ['sleep', '60'] });
      const format = '{{json .HostConfig}}';
      const limits = JSON.parse(await server.exec('docker', 'inspect', '--format', format, name));
      expect(limits).toMatchObject({
        ...{ Memory: 96 * 1024 * 1024, MemorySwap: 96 * 1024 * 1024, NanoCpus: 5e8, PidsLimit: 4096, Init: true },
        ...{ SecurityOpt: ['no-new-privileges'], Privileged: false },
        LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '3' } },
      });
      await docker.removeContainer(name);
      const grown = await make({
        memoryMb: 64,
        command: ['node', '-e', 'const a = []; for (;;) a.push(Buffer.alloc(1e7, 1))'],
      });
      expect(await docker.waitContainer(grown)).toBe(137);
      expect(await docker.inspectContainer(grown)).toMatchObject({
        isRunning: false,
        exitCode: 137,
        isOutOfMemory: true,
      });
      await docker.removeContainer(grown);
    });

    test('is heard on both of its streams, from its last lines, and while it runs', async () => {
      const name = await make({ command: ['sh', '-c', 'echo one; echo two >&2; sleep 1; echo three; exit 7'] });
      const heard: string[] = [];
      await docker.containerLogs(name, {
        follow: true,
        onOutput: (chunk, from) => void heard.push(`${from} ${chunk}`),
      });
      expect(heard.sort()).toEqual(['stderr two\n', 'stdout one\n', 'stdout three\n']);
      expect(await docker.waitContainer(name)).toBe(7);
      const last: string[] = [];
      await docker.containerLogs(name, {
        tail: 1,
        timestamps: true,
        onOutput: chunk => void last.push(chunk.toString()),
      });
      expect(last).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\dT\S+Z three\n$/)]);
      const stop = new AbortController();
      const quiet = await make({ command: ['sleep', '60'] });
      const listening = docker.containerLogs(quiet, { follow: true, signal: stop.signal, onOutput: () => undefined });
      stop.abort(new Error('enough'));
      await expect(listening).rejects.toThrow('enough');
      for (const each of [name, quiet]) await docker.removeContainer(each);
    });

    test('answers on a loopback port of the server, and nowhere else', async () => {
      const hello = `require('http').createServer((q, s) => s.end('hello')).listen(3000)`;
      const ports = [{ hostIp: '127.0.0.1', hostPort: 21_000, containerPort: 3000 }];
      const name = await make({ ports, command: ['node', '-e', hello] });
      expect(await listeningPorts(host)).toContain(21_000);
      const page = await eventually(() =>
        server.exec('curl', '-s', 'http://127.0.0.1:21000/').catch(() => false as const),
      );
      expect(page).toBe('hello');
      await expect(fetch(`http://${server.address}:21000/`)).rejects.toThrow();
      const stream = await host.dial(21_000);
      await eventually(async () => (await openConnections(host, 21_000)) === 1);
      stream.destroy();
      await eventually(async () => (await openConnections(host, 21_000)) === 0);
      await docker.removeContainer(name);
    });

    test('is made once, started, stopped in time, restarted, found by its labels and removed', async () => {
      const wish = {
        name: 'lab-once',
        image: NODE,
        command: ['sleep', '600'],
        env: {},
        labels: { ...LABELS, one: 'x' },
      };
      const id = await docker.createContainer(wish);
      expect(await docker.createContainer(wish)).toBe(id);
      await expect(docker.createContainer({ ...wish, labels: { one: 'y' } })).rejects.toMatchObject({ status: 409 });
      await docker.startContainer('lab-once');
      await docker.startContainer('lab-once');
      const began = performance.now();
      await docker.stopContainer('lab-once', 20);
      expect(performance.now() - began).toBeLessThan(5000);
      expect(await docker.inspectContainer('lab-once')).toMatchObject({ isRunning: false, exitCode: 143 });
      await docker.restartContainer('lab-once', 1);
      expect(await docker.containers({ one: 'x' })).toMatchObject([{ id, name: 'lab-once', isRunning: true }]);
      await docker.removeContainer('lab-once');
      await docker.removeContainer('lab-once');
      expect(await docker.inspectContainer('lab-once')).toBeNull();
    });
  });

  describe('Docker of a server', () => {
    test('has networks for more environments than its own pools have addresses for', async () => {
      const names = Array.from({ length: 36 }, (_, index) => `lab-${index}`);
      for (const name of names) await docker.ensureNetwork(name, { pool: 'x' });
      await docker.ensureNetwork('lab-35', { pool: 'x' });
      expect(await docker.networks({ pool: 'x' })).toHaveLength(36);
      const last = await make({ network: { name: 'lab-35', aliases: ['app'] }, command: ['sleep', '60'] });
      const ping = await docker.execute(last, ['getent', 'hosts', 'app']);
      expect(ping).toMatchObject({ exitCode: 0, output: expect.stringContaining('198.1') });
      await docker.removeContainer(last);
      for (const name of names) await docker.removeNetwork(name);
      await docker.removeNetwork('lab-0');
    });

    test('keeps volumes that are made once and found by their labels', async () => {
      for (let count = 0; count < 2; count += 1) await docker.ensureVolume('lab-data', LABELS);
      expect(await docker.volumes(LABELS)).toEqual([{ name: 'lab-data', labels: LABELS }]);
      const name = await make({ volumes: [{ name: 'lab-data', path: '/data' }], command: ['touch', '/data/kept'] });
      await docker.waitContainer(name);
      await docker.removeContainer(name, { volumes: true });
      expect(await server.shell('ls /var/lib/docker/volumes/lab-data/_data')).toBe('kept');
      for (let count = 0; count < 2; count += 1) await docker.removeVolume('lab-data');
      expect(await docker.volumes(LABELS)).toEqual([]);
    });

    test('says why an image cannot be had', async () => {
      await expect(docker.pullImage('slipway-lab/none:1')).rejects.toMatchObject({ status: expect.any(Number) });
    });

    test('is lost with its connection, and leaves no program behind on the server', async () => {
      const other = await server.connect();
      const api = await openDocker(other);
      const name = await make({ command: ['sleep', '600'] });
      const waiting = api.waitContainer(name);
      const lost = expect(waiting).rejects.toMatchObject({ reason: 'LOST' });
      await eventually(async () => (await server.shell('pgrep -fc "[d]ial-stdio" || true')) !== '0');
      await server.cutConnections();
      await lost;
      await eventually(async () => (await server.shell('pgrep -fc "[d]ial-stdio" || true')) === '0');
      host = await server.connect();
      docker = await openDocker(host);
      await docker.removeContainer(name);
    });
  });
});
