import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedPostgres } from '../../src/database/embedded-postgres.ts';

export interface TestCluster {
  url: string;
  stop(): Promise<void>;
}

const PREFIX = 'slipway-test-';
const NOT_DURABLE = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', max_connections: '200' };

/** One throw-away PostgreSQL for a whole test run, or the server of TEST_DATABASE_URL, which is left as it is. */
export async function startTestCluster(): Promise<TestCluster> {
  const given = process.env.TEST_DATABASE_URL;
  if (given) return { url: given, stop: async () => undefined };
  await removeAbandoned();
  const dataDir = await mkdtemp(join(tmpdir(), PREFIX));
  return open(dataDir);
}

async function open(dataDir: string): Promise<TestCluster> {
  const database = await openEmbeddedPostgres({ dataDir, settings: NOT_DURABLE });
  const stop = async () => {
    await database.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { url: database.url, stop };
}

/** A killed test run leaves its server behind. Its folder's lock is free, the lock of a run at work is not. */
async function removeAbandoned(): Promise<void> {
  for (const name of (await readdir(tmpdir())).filter(entry => entry.startsWith(PREFIX))) {
    const dataDir = join(tmpdir(), name);
    if (!existsSync(join(dataDir, 'postgres', 'cluster'))) continue;
    const abandoned = await open(dataDir).catch(() => undefined);
    // Another run may be clearing it away as well; what is left of it goes with the next.
    await abandoned?.stop().catch(() => undefined);
  }
}
