/**
 * F11 in full: an instance is frozen for a minute in the middle of a run, another takes the run over, and the first wakes up.
 * Prints what was seen; exits with 1 when a promise was broken.
 *
 *   npm run faults:f11 [-- SECONDS]
 */
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.ts';
import { withJobCluster } from '../../test/support/job-cluster.ts';
import { findFaults, JobProcess, startRun } from '../../test/support/job-process.ts';

const frozenSeconds = Number(process.argv[2] ?? 60);
const STEPS = 3;
/** The second one is still at work when the first wakes up. */
const SECOND_STEP_MS = 40_000;

const figures = await withJobCluster(async ({ databaseUrl, bench, workspaceId }) => {
  const first = new JobProcess(databaseUrl, { steps: STEPS, stepMs: 1000 });
  const second = new JobProcess(databaseUrl, { steps: STEPS, stepMs: SECOND_STEP_MS });
  try {
    await first.ready();
    second.signal('SIGSTOP');
    const runId = await startRun(bench, workspaceId, 'frozen');
    await first.hear(({ step }) => step === 'step 1');
    first.signal('SIGSTOP');
    second.signal('SIGCONT');
    const frozenAt = performance.now();
    await second.hear(({ kind }) => kind === 'began');
    const takenOverMs = Math.round(performance.now() - frozenAt);
    await pause(Math.max(0, frozenSeconds * 1000 - takenOverMs));
    const before = await stateOf(bench, runId);
    first.signal('SIGCONT');
    await first.hear(({ message }) => message?.includes('taken over') ?? false);
    const after = await stateOf(bench, runId);
    await eventually(async () => (await stateOf(bench, runId)).status === 'SUCCEEDED', 5 * SECOND_STEP_MS);
    const { stepsToldTwice, endsToldTwice } = await findFaults(bench, [runId], STEPS);
    const writesOfTheFrozen = Number(JSON.stringify(before) !== JSON.stringify(after));
    return { frozenSeconds, takenOverMs, fence: after.fence, writesOfTheFrozen, stepsToldTwice, endsToldTwice };
  } finally {
    await Promise.all([first.kill(), second.kill()]);
  }
});
console.table([figures]);
const isKept =
  figures.takenOverMs <= 30_000 &&
  figures.writesOfTheFrozen + figures.stepsToldTwice + figures.endsToldTwice === 0 &&
  figures.fence === 2;
if (!isKept) console.error('FAILED: see the figures');
process.exitCode = isKept ? 0 : 1;

async function stateOf(bench, runId) {
  const [run] = await bench.sql('select status, fence, steps from run where id = $1', [runId]);
  return run;
}
