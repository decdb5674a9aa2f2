import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedPostgres } from '../../src/database/embedded-postgres.ts';
import { JobBench } from './job-bench.ts';
import { prepareRuns } from './job-process.ts';

export interface JobCluster {
  databaseUrl: string;
  bench: JobBench;
  workspaceId: string;
}

/** A PostgreSQL for instances that work on runs, for the length of `work`. */
export async function withJobCluster<Result>(work: (cluster: JobCluster) => Promise<Result>): Promise<Result> {
  const dataDir = await mkdtemp(join(tmpdir(), 'slipway-jobs-'));
  const server = await openEmbeddedPostgres({ dataDir });
  try {
    const bench = await JobBench.start(server.url);
    await bench.queue.boss.offWork('project.delete');
    const workspaceId = await prepareRuns(bench);
    return await work({ databaseUrl: server.url, bench, workspaceId }).finally(() => bench.stop());
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
