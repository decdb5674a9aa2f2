/**
 * F8 in full: four instances on one PostgreSQL work on many runs and are killed at random. Prints what was seen; exits with 1
 * when a promise was broken.
 *
 *   npm run faults:f8 [-- KILLS RUNS]
 */
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.ts';
import { withJobCluster } from '../../test/support/job-cluster.ts';
import { findFaults, JobProcess, startRun } from '../../test/support/job-process.ts';

const kills = Number(process.argv[2] ?? 20);
const runs = Number(process.argv[3] ?? 200);
const INSTANCES = 4;
const LANES = 12;
const OPTIONS = { steps: 4, stepMs: 300 };
const ENOUGH_MS = 15 * 60_000;

const figures = await withJobCluster(async ({ databaseUrl, bench, workspaceId }) => {
  const runIds = [];
  for (let index = 0; index < runs; index += 1)
    runIds.push(await startRun(bench, workspaceId, `lane ${index % LANES}`));
  const start = async () => {
    const started = new JobProcess(databaseUrl, OPTIONS);
    await started.ready();
    return started;
  };
  const instances = await Promise.all(Array.from({ length: INSTANCES }, start));
  const startedAt = performance.now();
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      await pause(500 + Math.random() * 3000);
      const victim = Math.floor(Math.random() * INSTANCES);
      await strike(bench, instances[victim]);
      instances[victim] = await start();
    }
    const open = async () => (await findFaults(bench, runIds, OPTIONS.steps)).unfinished;
    await eventually(async () => (await open()) === 0, ENOUGH_MS).catch(() => undefined);
  } finally {
    for (const instance of instances) await instance.kill();
  }
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  return { instances: INSTANCES, kills, runs, seconds, ...(await findFaults(bench, runIds, OPTIONS.steps)) };
});
console.table([figures]);
const { unfinished, effectsMissing, effectsTwice, stepsToldTwice, endsToldTwice, overlaps } = figures;
const isKept = [unfinished, effectsMissing, effectsTwice, stepsToldTwice, endsToldTwice, overlaps].every(n => n === 0);
if (!isKept) console.error('FAILED: see the figures');
process.exitCode = isKept ? 0 : 1;

/** Whatever it was working on ends here; the moment is noted before, so that nobody counts as working after its death. */
async function strike(bench, victim) {
  const text = 'update working set ended_at = clock_timestamp() where worker = $1 and ended_at is null';
  await bench.sql(text, [victim.pid]);
  await victim.kill();
}
