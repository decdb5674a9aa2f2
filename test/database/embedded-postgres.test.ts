import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, utimesSync, watch, writeFileSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Client } from 'pg';
import { openEmbeddedPostgres } from '../../src/database/embedded-postgres.ts';
import { countLost, ServiceProcess, type StartOptions } from '../support/embedded-driver.ts';

const isRoot = process.getuid?.() === 0;
const NOBODY = { uid: 65534, gid: 65534 };

let scratch: string;
/** One cluster goes from test to test, in whatever state the one before left it. */
let dataDir: string;
let services: ServiceProcess[] = [];

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'slipway-embedded-'));
  await chmod(scratch, 0o755);
  dataDir = await emptyDir();
});

afterEach(async () => {
  for (const service of services) await service.kill();
  services = [];
});

afterAll(async () => {
  for (const name of await readdir(scratch)) killPostmaster(join(scratch, name));
  await rm(scratch, { recursive: true, force: true, maxRetries: 20 });
});

describe('after a kill', () => {
  test('of the service, the next one adopts the running PostgreSQL', async () => {
    const written: string[] = [];
    let service = start(dataDir, written);
    const { pid } = await service.hear('opened');
    for (let kill = 0; kill < 2; kill += 1) {
      await service.hearWrites(5);
      await service.kill();
      service = start(dataDir, written);
      expect(await service.hear('opened')).toMatchObject({ adopted: true, pid });
    }
    await expectNothingLost(service);
  });

  test('of PostgreSQL, the service brings it back within 5 s and lives on', async () => {
    const service = start(dataDir);
    let { pid } = await service.hear('opened');
    for (let kill = 0; kill < 2; kill += 1) {
      await service.hearWrites(5);
      const killedAt = performance.now();
      process.kill(pid, 'SIGKILL');
      ({ pid } = await service.hearWrites(1, pid));
      expect(performance.now() - killedAt).toBeLessThan(5_000);
    }
    await expectNothingLost(service);
  });

  test('of both, the next service recovers the cluster', async () => {
    const written: string[] = [];
    let service = start(dataDir, written);
    for (let kill = 0; kill < 2; kill += 1) {
      const { pid } = await service.hear('opened');
      await service.hearWrites(5);
      // Frozen first: awake, it might bring its server back before it is killed itself.
      process.kill(service.pid, 'SIGSTOP');
      process.kill(pid, 'SIGKILL');
      await service.kill();
      service = start(dataDir, written);
      expect(await service.hear('opened')).toMatchObject({ adopted: false });
      await service.hearWrites();
    }
    await expectNothingLost(service);
  });

  test('of PostgreSQL while a backend computes, the orphan does not block the new server', async () => {
    const service = start(dataDir);
    const { pid, url } = await service.hear('opened');
    const client = new Client(url);
    client.on('error', () => undefined);
    await client.connect();
    const computed = client
      .query('select count(*) from generate_series(1, 1e12::bigint)')
      .catch((error: Error) => error);
    await service.hearWrites(5);
    const killedAt = performance.now();
    process.kill(pid, 'SIGKILL');
    await service.hearWrites(1, pid);
    expect(performance.now() - killedAt).toBeLessThan(5_000);
    expect(await computed).toBeInstanceOf(Error);
    await expectNothingLost(service);
  });

  test.each(['', `${process.pid}\n`])('a pid file that lies (%j) is not believed', async firstLine => {
    const service = start(dataDir);
    const { pid } = await service.hear('opened');
    await service.hearWrites(5);
    process.kill(pid, 'SIGKILL');
    await service.kill();
    const pidFile = join(dataDir, 'postgres/cluster/postmaster.pid');
    const [, ...rest] = readFileSync(pidFile, 'utf8').split('\n');
    writeFileSync(pidFile, firstLine && firstLine + rest.join('\n'));
    utimesSync(pidFile, 0, 0);
    const next = start(dataDir, service.acknowledged);
    expect(await next.hear('opened')).toMatchObject({ adopted: false });
    await expectNothingLost(next);
  });

  test('of the service during initdb, the next one makes the cluster anew', async () => {
    const fresh = await emptyDir();
    const home = join(fresh, 'postgres');
    await mkdir(home);
    const watcher = watch(home);
    const service = start(fresh);
    for (;;) {
      const [, name] = await once(watcher, 'change');
      if (String(name).startsWith('cluster.new-')) break;
    }
    watcher.close();
    await service.kill();
    expect(await readdir(home)).not.toContain('cluster');
    await mkdir(join(home, 'cluster.new-from-an-earlier-life', 'base'), { recursive: true });
    const next = start(fresh);
    await next.hear('opened');
    await expectNothingLost(next);
    expect(await readdir(home)).not.toContain('cluster.new-from-an-earlier-life');
  });
});

describe('one service per folder', () => {
  test('a second one is refused within 2 s and told what to do; the first goes on', async () => {
    const first = start(dataDir);
    await first.hear('opened');
    const startedAt = performance.now();
    const { message } = await start(dataDir).hear('refused');
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    expect(message).toContain(dataDir);
    expect(message).toMatch(/DATA_DIR.*DATABASE_URL/);
    await expectNothingLost(first);
  });

  test('of two that start at once on a fresh folder exactly one gets it', async () => {
    const fresh = await emptyDir();
    const both = [start(fresh), start(fresh)];
    const outcomes = await Promise.all(
      both.map(service => Promise.any([service.hear('opened'), service.hear('refused')])),
    );
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['opened', 'refused']);
  });

  test('a second opening in the same process is refused', async () => {
    const database = await openEmbeddedPostgres({ dataDir });
    await expect(openEmbeddedPostgres({ dataDir })).rejects.toThrow(/Another service/);
    await database.stop();
    await (await openEmbeddedPostgres({ dataDir })).stop();
  });
});

test('Ctrl-C reaches the service alone, which stops PostgreSQL and leaves nothing behind', async () => {
  const service = start(dataDir, [], { env: { MASTER_KEY: 'not-for-postgresql' } });
  const { pid } = await service.hear('opened');
  if (process.platform === 'linux')
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('not-for-postgresql');
  await service.hearWrites(5);
  const { count } = await service.interrupt();
  expect(count).toBeGreaterThanOrEqual(service.acknowledged.length);
  expect(isRunning(pid)).toBe(false);
  expect(await readdir(join(dataDir, 'postgres/socket'))).toEqual([]);
});

test('a path too long for a socket gets a private folder under the temp dir, or none', async () => {
  const longDir = await emptyDir('x'.repeat(120));
  const database = await openEmbeddedPostgres({ dataDir: longDir });
  const { host } = database.connection;
  const client = new Client(database.url);
  await client.connect();
  await client.end();
  await database.stop();
  expect(host.startsWith(longDir)).toBe(false);
  expect((await stat(host)).mode & 0o777).toBe(0o700);
  await chmod(host, 0o777);
  await expect(openEmbeddedPostgres({ dataDir: longDir })).rejects.toThrow(/not a private folder/);
  await rm(host, { recursive: true });
});

test('a cluster of another PostgreSQL version is left alone', async () => {
  const versionFile = join(dataDir, 'postgres/cluster/PG_VERSION');
  const version = readFileSync(versionFile);
  await writeFile(versionFile, '17\n');
  await expect(openEmbeddedPostgres({ dataDir })).rejects.toThrow(/version 17/);
  await writeFile(versionFile, version);
});

const asRoot = isRoot && process.platform === 'linux' ? test : test.skip;

asRoot('an ordinary user runs it as itself (needs root to become one)', async () => {
  const ownDir = await emptyDir();
  await chown(ownDir, NOBODY.uid, NOBODY.gid);
  const service = start(ownDir, [], NOBODY);
  const { pid } = await service.hear('opened');
  expect((await stat(`/proc/${pid}`)).uid).toBe(NOBODY.uid);
  await expectNothingLost(service);
  await service.interrupt();
  // Root later starts it for the owner of the folder, and the owner can still use it after that.
  const database = await openEmbeddedPostgres({ dataDir: ownDir });
  expect((await stat(`/proc/${database.pid}`)).uid).toBe(NOBODY.uid);
  await database.stop();
  await start(ownDir, [], NOBODY).hear('opened');
});

asRoot('root without user namespaces gives the folder to another account (needs root)', async () => {
  const rootDir = await emptyDir();
  const programs = join(scratch, 'programs');
  await mkdir(programs);
  await writeFile(join(programs, 'unshare'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const service = start(rootDir, [], { env: { PATH: `${programs}:${process.env.PATH}` } });
  const { pid } = await service.hear('opened');
  expect((await stat(`/proc/${pid}`)).uid).not.toBe(0);
  await expectNothingLost(service);
});

function start(dataDir: string, written: string[] = [], options: StartOptions = {}): ServiceProcess {
  const service = new ServiceProcess(dataDir, written, options);
  services.push(service);
  return service;
}

function emptyDir(name = 'data'): Promise<string> {
  return mkdtemp(join(scratch, `${name}-`));
}

async function expectNothingLost(service: ServiceProcess): Promise<void> {
  const { url } = await service.hear('opened');
  await service.hearWrites(5);
  expect(await countLost(url, [...service.acknowledged])).toBe(0);
}

function killPostmaster(dataDir: string): void {
  const pidFile = join(dataDir, 'postgres/cluster/postmaster.pid');
  const pid = existsSync(pidFile) ? Number.parseInt(readFileSync(pidFile, 'utf8'), 10) : Number.NaN;
  if (pid > 0 && pid !== process.pid && isRunning(pid)) process.kill(pid, 'SIGKILL');
}

function isRunning(pid: number): boolean {
  return execFileSync('ps', ['-e', '-o', 'pid=,stat='], { encoding: 'utf8' })
    .split('\n')
    .some(line => new RegExp(`^ *${pid} +[^Z]`).test(line));
}
