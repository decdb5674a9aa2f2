import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export interface Usage {
  cpuMicros: number;
  rssBytes: number;
}

const START_WITHIN_MS = 30_000;
const METER = new URL('./meter.mjs', import.meta.url).href;

/** A server in a process of its own, with a meter on it. What it prints goes to a file: nobody has to read along. */
export class MeasuredProcess {
  readonly name: string;
  readonly port: number;
  readonly #child: ChildProcess;
  readonly #logFile: string;

  private constructor(name: string, port: number, child: ChildProcess, logFile: string) {
    this.name = name;
    this.port = port;
    this.#child = child;
    this.#logFile = logFile;
  }

  static async start(name: string, words: readonly string[], folder: string, env: Record<string, string>) {
    const port = await freePort();
    const logFile = join(folder, `${name}-${port}.log`);
    const log = openSync(logFile, 'a');
    const child = spawn(process.execPath, ['--no-warnings', '--import', METER, ...words], {
      env: { ...process.env, ...env, PORT: `${port}` },
      stdio: ['ignore', log, log, 'ipc'],
    });
    const started = new MeasuredProcess(name, port, child, logFile);
    await started.#listens();
    return started;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Since the process began. */
  async usage(): Promise<Usage> {
    const { usage } = await this.ask<{ usage: Usage }>('usage');
    return usage;
  }

  async ask<Answer>(question: string | object): Promise<Answer> {
    this.tell(question);
    const [answer] = (await once(this.#child, 'message')) as [Answer];
    return answer;
  }

  tell(message: string | object): void {
    this.#child.send(message);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await exited;
  }

  async #listens(): Promise<void> {
    const deadline = Date.now() + START_WITHIN_MS;
    while (!(await accepts(this.port))) {
      if (this.#child.exitCode !== null || Date.now() > deadline)
        throw new Error(`${this.name} did not start: ${readFileSync(this.#logFile, 'utf8').slice(-4000)}`);
      await pause(20);
    }
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise(resolve => server.close(resolve));
  return port;
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
