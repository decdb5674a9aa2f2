import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { RunKind } from '../../src/entities/run.ts';
import { Workspace } from '../../src/entities/workspace.ts';
import { RunService } from '../../src/services/run.service.ts';
import type { JobBench } from './job-bench.ts';

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

export interface Said {
  kind: 'ready' | 'began' | 'ended' | 'logged';
  worker: number;
  runId?: string;
  step?: string;
  message?: string;
}

/** The other end of job-program.ts. */
export class JobProcess {
  readonly said: Said[] = [];
  readonly #child: ChildProcess;
  readonly #heard = new EventEmitter();
  readonly #exited: Promise<void>;
  #isGone = false;

  constructor(databaseUrl: string, { steps = 3, stepMs = 200 } = {}) {
    const words = ['--no-warnings', '--import', fileOf('./swc-loader.mjs'), fileOf('./job-program.ts')];
    this.#child = spawn(process.execPath, [...words, databaseUrl, `${steps}`, `${stepMs}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#exited = once(this.#child, 'close').then(() => {
      this.#isGone = true;
      this.#heard.emit('line');
    });
    this.#heard.setMaxListeners(0);
    if (this.#child.stdout) {
      createInterface(this.#child.stdout).on('line', line => {
        this.said.push(JSON.parse(line) as Said);
        this.#heard.emit('line');
      });
    }
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async hear(matches: (said: Said) => boolean, withinMs = 60_000): Promise<Said> {
    const deadline = AbortSignal.timeout(withinMs);
    for (;;) {
      const found = this.said.find(matches);
      if (found) return found;
      if (this.#isGone) throw new Error(`the instance ended after it said ${JSON.stringify(this.said)}`);
      await once(this.#heard, 'line', { signal: deadline }).catch(cause => {
        throw new Error(`not heard within ${withinMs} ms, but ${JSON.stringify(this.said)}`, { cause });
      });
    }
  }

  ready(): Promise<Said> {
    return this.hear(({ kind }) => kind === 'ready');
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.#exited;
  }
}

/** What the instances write down beside their runs, and a workspace for the runs to be of. */
export async function prepareRuns(bench: JobBench): Promise<string> {
  await bench.sql(`
    create table if not exists effect (run_id uuid, step text, worker int, at timestamptz default clock_timestamp());
    create table if not exists working (
      id serial, worker int, lane text, run_id uuid, began_at timestamptz default clock_timestamp(), ended_at timestamptz)`);
  return bench.change(async unit => unit.em.create(Workspace, { name: 'of the runs' }).id);
}

/** A run and its job, in one transaction. */
export const startRun = (bench: JobBench, workspaceId: string, lane: string): Promise<string> =>
  bench.change(async unit => {
    const run = new RunService().start(unit, RunKind.RESEAL, workspaceId, lane);
    await unit.em.flush();
    await bench.queue.enqueue(unit, 'project.delete', { runId: run.id, projectId: lane }, { lane });
    return run.id;
  });

export interface RunFaults {
  unfinished: number;
  effectsMissing: number;
  effectsTwice: number;
  stepsToldTwice: number;
  endsToldTwice: number;
  overlaps: number;
}

/** What must not be, whoever died meanwhile. */
export async function findFaults(bench: JobBench, runIds: string[], steps: number): Promise<RunFaults> {
  const count = async (text: string): Promise<number> => {
    const [row] = await bench.sql<{ count: number }>(`select count(*)::int as count from (${text}) as found`, [runIds]);
    return row?.count ?? Number.NaN;
  };
  const effects = await count('select distinct run_id, step from effect where run_id = any($1)');
  return {
    unfinished: await count(`select 1 from run where id = any($1) and status <> 'SUCCEEDED'`),
    effectsMissing: runIds.length * steps - effects,
    effectsTwice: await count('select 1 from effect where run_id = any($1) group by run_id, step having count(*) > 1'),
    stepsToldTwice: await count(`
      select 1 from event, jsonb_array_elements(data->'steps') as step
      where resource_id = any($1) and step->>'status' = 'SUCCEEDED'
      group by resource_id, step->>'name' having count(distinct step->>'finishedAt') > 1`),
    endsToldTwice: await count(`
      select 1 from event where resource_id = any($1) and data->>'finishedAt' is not null
      group by resource_id having count(*) > 1`),
    overlaps: await count(`
      select 1 from working one join working other on other.lane = one.lane and other.worker <> one.worker
        and other.began_at > one.began_at and other.began_at < one.ended_at
      where one.run_id = any($1)`),
  };
}

export const NO_FAULTS: RunFaults = {
  unfinished: 0,
  effectsMissing: 0,
  effectsTwice: 0,
  stepsToldTwice: 0,
  endsToldTwice: 0,
  overlaps: 0,
};
