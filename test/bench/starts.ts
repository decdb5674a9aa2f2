import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Figure, spell } from './report.ts';
import { freePort } from './support/measured-process.ts';
import { median } from './support/statistics.ts';
import { usualFlags } from './support/usual-flags.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MEGABYTE = 1024 * 1024;

export const startNotes = [
  'Start: with the embedded PostgreSQL on a folder that was set up before, nothing to install, build or migrate. "Own" is what the log says,',
  'from the birth of the process to listening; "npm start" is from the command to the same line. Memory: RSS of the service, and the',
  'sum of PSS (shared pages counted once) of the service and every process of its PostgreSQL, after it was left alone.',
];

export async function benchStarts(times: number, idleMs: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-bench-'));
  try {
    const own = await repeat(times, async () => {
      const run = await Run.start(process.execPath, [...usualFlags(), 'scripts/start.mjs'], folder);
      await run.stop();
      return run.ownMs;
    });
    const byCommand = await repeat(times, async () => {
      const run = await Run.start('npm', ['start'], folder);
      await run.stop();
      return run.commandMs;
    });
    return [
      startFigure('start to listening, own', own, 800),
      startFigure('npm start to listening', byCommand, 2000),
      ...(await weighIdle(folder, idleMs)),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The first is left out: it sets the folder up and fills caches. */
async function repeat(times: number, measure: () => Promise<number>): Promise<number[]> {
  const values: number[] = [];
  for (let count = 0; count <= times; count += 1) values.push(await measure());
  return values.slice(1);
}

const startFigure = (name: string, values: number[], atMost: number): Figure => ({
  part: 'start',
  name,
  value: `median of ${values.length}, from ${spell(Math.min(...values))} to ${spell(Math.max(...values))} ms`,
  score: median(values),
  unit: ' ms',
  target: { atMost },
  details: { median: median(values), min: Math.min(...values), max: Math.max(...values) },
});

async function weighIdle(folder: string, idleMs: number): Promise<Figure[]> {
  if (process.platform !== 'linux') return [];
  const run = await Run.start(process.execPath, [...usualFlags(), 'scripts/start.mjs'], folder);
  try {
    await pause(idleMs);
    const rss = kilobytes(`/proc/${run.pid}/status`, 'VmRSS') * 1024;
    const service = pssOf(run.pid);
    const postgres = postgresPids(folder).map(pssOf);
    const database = postgres.reduce((sum, pss) => sum + pss, 0);
    const all = (service + database) / MEGABYTE;
    return [
      memoryFigure('idle RSS of the service', `${idleMs / 1000} s after its start`, rss / MEGABYTE, 150),
      memoryFigure(
        'idle, with the embedded database',
        `service ${spell(service / MEGABYTE)} MB, PostgreSQL ${spell(database / MEGABYTE)} MB in ${postgres.length} processes`,
        all,
        200,
      ),
    ];
  } finally {
    await run.stop();
  }
}

const memoryFigure = (name: string, value: string, megabytes: number, atMost: number): Figure => ({
  part: 'start',
  name,
  value,
  score: megabytes,
  unit: ' MB',
  target: { atMost },
  details: { megabytes },
});

/** The service started as a person starts it, by a command of which all processes form one group. */
class Run {
  readonly commandMs: number;
  readonly ownMs: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, commandMs: number, ownMs: number) {
    this.#child = child;
    this.commandMs = commandMs;
    this.ownMs = ownMs;
  }

  static async start(command: string, words: string[], dataDir: string): Promise<Run> {
    const logFile = join(dataDir, `start-${process.hrtime.bigint()}.log`);
    const log = openSync(logFile, 'a');
    const env = { ...process.env, PORT: `${await freePort()}`, DATA_DIR: dataDir, LOG_FORMAT: 'json' };
    const startedAt = performance.now();
    const child = spawn(command, words, { cwd: ROOT, env, stdio: ['ignore', log, log], detached: true });
    for (;;) {
      const listens = /listens on .* \((\d+) ms after/.exec(readFileSync(logFile, 'utf8'));
      if (listens) return new Run(child, performance.now() - startedAt, Number(listens[1]));
      if (child.exitCode !== null) throw new Error(`The service did not start: ${readFileSync(logFile, 'utf8')}`);
      await pause(2);
    }
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async stop(): Promise<void> {
    const exited = once(this.#child, 'exit');
    process.kill(-this.pid, 'SIGTERM');
    await exited;
  }
}

function postgresPids(folder: string): number[] {
  const pidFile = join(folder, 'postgres/cluster/postmaster.pid');
  const postmaster = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  const pids = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number);
  return [postmaster, ...pids.filter(pid => parentOf(pid) === postmaster)];
}

const parentOf = (pid: number): number =>
  existsSync(`/proc/${pid}/status`)
    ? Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
    : 0;

const pssOf = (pid: number): number => kilobytes(`/proc/${pid}/smaps_rollup`, 'Pss') * 1024;

const kilobytes = (file: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(file, 'utf8'))?.[1]);
