import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { JobBench } from '../support/job-bench.ts';
import { findFaults, JobProcess, NO_FAULTS, prepareRuns, startRun } from '../support/job-process.ts';
import { cloneDatabase, dropDatabase } from '../support/test-database.ts';

const STEPS = 3;

let databaseUrl: string;
/** Sends and looks; it takes no jobs of runs itself. */
let bench: JobBench;
let workspaceId: string;
let processes: JobProcess[] = [];

beforeAll(async () => {
  databaseUrl = await cloneDatabase();
  bench = await JobBench.start(databaseUrl);
  await bench.queue.boss.offWork('project.delete');
  workspaceId = await prepareRuns(bench);
}, 60_000);
afterEach(async () => {
  for (const each of processes) await each.kill();
  processes = [];
});
afterAll(async () => {
  await bench.stop();
  await dropDatabase(databaseUrl);
});

async function start(stepMs: number): Promise<JobProcess> {
  const started = new JobProcess(databaseUrl, { steps: STEPS, stepMs });
  processes.push(started);
  await started.ready();
  return started;
}

const statusOf = async (runId: string) =>
  (await bench.sql<{ status: string }>('select status from run where id = $1', [runId]))[0]?.status;

const finished = (runId: string) => eventually(async () => (await statusOf(runId)) === 'SUCCEEDED', 60_000);

test('the job of a worker killed by kill -9 is taken up within 30 s, goes on behind its last step, and does nothing twice', async () => {
  const first = await start(1000);
  const runId = await startRun(bench, workspaceId, 'killed');
  await first.hear(({ step }) => step === 'step 1');
  const killedAt = performance.now();
  await first.kill();
  const second = await start(100);
  const { step } = await second.hear(said => said.kind === 'began');
  expect(performance.now() - killedAt).toBeLessThan(30_000);
  expect(step).toBe('step 1');
  await finished(runId);
  expect(await findFaults(bench, [runId], STEPS)).toEqual(NO_FAULTS);
}, 90_000);

test('F11: a worker frozen past its heartbeat finds its run taken over, and what it still writes is refused', async () => {
  const frozen = await start(3000);
  const runId = await startRun(bench, workspaceId, 'frozen');
  await frozen.hear(({ step }) => step === 'step 1');
  frozen.signal('SIGSTOP');
  const second = await start(3000);
  await second.hear(({ kind }) => kind === 'began');
  frozen.signal('SIGCONT');
  await frozen.hear(({ message }) => message?.includes('taken over') ?? false);
  expect(await statusOf(runId)).toBe('RUNNING');
  await finished(runId);
  const [run] = await bench.sql<{ steps: { message: string }[]; fence: number }>(
    'select steps, fence from run where id = $1',
    [runId],
  );
  expect(run?.fence).toBe(2);
  expect(run?.steps.map(({ message }) => message)).toEqual([
    `by ${frozen.pid}`,
    `by ${second.pid}`,
    `by ${second.pid}`,
  ]);
  expect(await findFaults(bench, [runId], STEPS)).toMatchObject({ stepsToldTwice: 0, endsToldTwice: 0 });
}, 90_000);

test('F8: instances are killed at random, and no run is lost, none done twice, no two of a lane at once', async () => {
  const runIds: string[] = [];
  for (let index = 0; index < 12; index += 1) runIds.push(await startRun(bench, workspaceId, `lane ${index % 4}`));
  const alive = await Promise.all([start(400), start(400)]);
  const all = Promise.all(runIds.map(finished)).then(() => 'finished' as const);
  for (let kill = 0; kill < 2; kill += 1) {
    const victim = alive[kill % 2] as JobProcess;
    if ((await Promise.race([victim.hear(({ kind }) => kind === 'began'), all])) === 'finished') break;
    await bench.sql('update working set ended_at = clock_timestamp() where worker = $1 and ended_at is null', [
      victim.pid,
    ]);
    await victim.kill();
    alive[kill % 2] = await start(400);
  }
  await all;
  expect(await findFaults(bench, runIds, STEPS)).toEqual(NO_FAULTS);
}, 180_000);
