/**
 * An instance that works on runs, in a process of its own, so that it can be killed and frozen. Each run has a few steps;
 * each step looks whether its effect is there, and if not makes it: a row of `effect`. Says on stdout what it does.
 */
import 'reflect-metadata';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { RunEngine, type Step } from '../../src/engine/run.engine.ts';
import type { Run } from '../../src/entities/run.ts';
import { JobBench } from './job-bench.ts';

const [databaseUrl = '', steps = '3', stepMs = '200'] = process.argv.slice(2);
const worker = process.pid;

const say = (kind: string, body: object = {}) => process.stdout.write(`${JSON.stringify({ kind, worker, ...body })}\n`);

const log = pino(
  { level: 'info' },
  { write: (line: string) => say('logged', { message: (JSON.parse(line) as { msg: string }).msg }) },
);

const bench = await JobBench.start(
  databaseUrl,
  {
    'project.delete': ({ runId, projectId }, context) =>
      engine().perform(runId, context, run => stepsOf(run, projectId)),
  },
  log,
);
say('ready');

function engine(): RunEngine {
  return new RunEngine(bench.database.orm.em, log);
}

function stepsOf(run: Run, lane: string): Step[] {
  return Array.from({ length: Number(steps) }, (_, index) => ({
    name: `step ${index}`,
    run: async () => work(run, lane, `step ${index}`),
  }));
}

/** Heeds no signal: what is done too late has to be refused, whether or not the worker was told to stop. */
async function work(run: Run, lane: string, step: string): Promise<string> {
  const [{ id } = { id: 0 }] = await bench.sql<{ id: number }>(
    'insert into working (worker, lane, run_id) values ($1, $2, $3) returning id',
    [worker, lane, run.id],
  );
  say('began', { runId: run.id, step });
  await pause(Number(stepMs));
  const there = await bench.sql('select 1 from effect where run_id = $1 and step = $2', [run.id, step]);
  if (there.length === 0)
    await bench.sql('insert into effect (run_id, step, worker) values ($1, $2, $3)', [run.id, step, worker]);
  await bench.sql('update working set ended_at = clock_timestamp() where id = $1', [id]);
  say('ended', { runId: run.id, step });
  return `by ${worker}`;
}
