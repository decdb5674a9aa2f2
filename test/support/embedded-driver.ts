import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { createInterface } from 'node:readline';
import { Client } from 'pg';

interface Line {
  kind: 'opened' | 'refused' | 'acknowledged' | 'stopped';
  pid: number;
  adopted: boolean;
  url: string;
  row: string;
  message: string;
  count: number;
}

export interface StartOptions {
  uid?: number;
  gid?: number;
  env?: Record<string, string>;
}

const PROGRAM = new URL('./embedded-service.ts', import.meta.url).pathname;
/** Compiles the sources as the tests do. */
const LOADER = new URL('./swc-loader.mjs', import.meta.url).href;

/** The other end of embedded-service.ts: starts it, hears what it says, kills it. */
export class ServiceProcess {
  readonly acknowledged: string[];
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #heard = new EventEmitter();
  readonly #exited: Promise<unknown>;
  #past: Line[] = [];
  #log = '';

  constructor(dataDir: string, acknowledged: string[] = [], { uid, gid, env }: StartOptions = {}) {
    this.acknowledged = acknowledged;
    const options = { uid, gid, env: { ...process.env, ...env }, detached: true };
    this.#child = spawn(process.execPath, ['--no-warnings', '--import', LOADER, PROGRAM, dataDir], options);
    this.pid = this.#child.pid ?? 0;
    this.#exited = once(this.#child, 'exit');
    this.#child.stderr?.on('data', chunk => (this.#log += chunk));
    if (this.#child.stdout) createInterface(this.#child.stdout).on('line', line => this.#hear(JSON.parse(line)));
    this.#child.once('close', () => this.#heard.emit('closed'));
  }

  /** The next line of that kind, or the one said before anybody asked. Rejects when the process ends without it. */
  async hear(kind: Line['kind']): Promise<Line> {
    for (;;) {
      const said = this.#past.find(line => line.kind === kind);
      if (said) return said;
      if (this.#child.exitCode !== null && this.#child.stdout?.closed) {
        throw new Error(`The service ended without saying ${kind}: ${JSON.stringify(this.#past)} ${this.#log}`);
      }
      await Promise.race([once(this.#heard, 'line'), once(this.#heard, 'closed')]);
    }
  }

  /** Waits for `count` new acknowledgements from the PostgreSQL of any pid but `exceptPid`. */
  async hearWrites(count = 1, exceptPid = 0): Promise<Line> {
    for (;;) {
      const [line] = (await once(this.#heard, 'line')) as [Line];
      if (line.kind === 'acknowledged' && line.pid !== exceptPid) count -= 1;
      if (count <= 0) return line;
    }
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  /** Ctrl-C in a terminal: the signal goes to the whole process group. */
  async interrupt(): Promise<Line> {
    process.kill(-this.pid, 'SIGINT');
    const stopped = await this.hear('stopped');
    await this.#exited;
    return stopped;
  }

  #hear(line: Line): void {
    if (line.kind === 'acknowledged') this.acknowledged.push(line.row);
    else this.#past.push(line);
    this.#heard.emit('line', line);
  }
}

/** How many of the acknowledged rows are not in the database. */
export async function countLost(url: string, acknowledged: string[]): Promise<number> {
  const client = new Client(url);
  await client.connect();
  const { rows } = await client.query('select row from written');
  await client.end();
  const kept = new Set(rows.map(({ row }) => row));
  return acknowledged.filter(row => !kept.has(row)).length;
}
