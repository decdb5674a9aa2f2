import { type ChildProcess, spawn } from 'node:child_process';
import type { Command } from '../commands/command.ts';
import { type Host, RemoteFailure, type RunOptions, type RunResult } from './host.ts';

const TAIL_BYTES = 8 * 1024;
const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_OUTPUT_BYTES = 64 * 1024 * 1024;

/** The machine we run on. Programs are started by their words, without a shell, in a group of their own that ends as one. */
export class LocalHost implements Host {
  constructor(private readonly path: string) {}

  run(command: Command, options: RunOptions = {}): Promise<RunResult> {
    const [program = '', ...args] = command.words;
    return new Promise((resolve, reject) => {
      const child = spawn(program, args, { env: { PATH: this.path, LC_ALL: 'C', ...options.env }, detached: true });
      const watch = new Watch(child, program, options);
      child.on('error', () => watch.fail('NOT_STARTED'));
      child.on('close', code => {
        const outcome = watch.outcome(code);
        if (outcome instanceof RemoteFailure) reject(outcome);
        else resolve(outcome);
      });
      child.stdin.on('error', () => undefined);
      child.stdin.end(options.stdin);
    });
  }
}

/** Collects what a program says and ends it when its time, its output or our patience is over. */
class Watch {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #stderr = '';
  #fault: RemoteFailure['reason'] | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(
    private readonly child: ChildProcess,
    private readonly program: string,
    private readonly options: RunOptions,
  ) {
    this.#timer = setTimeout(() => this.#end('TIMEOUT'), options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    options.signal?.addEventListener('abort', this.#abort, { once: true });
    if (options.signal?.aborted) this.#abort();
    child.stdout?.on('data', (chunk: Buffer) => this.#collect(chunk));
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-TAIL_BYTES);
    });
  }

  fail(reason: RemoteFailure['reason']): void {
    this.#fault ??= reason;
  }

  outcome(exitCode: number | null): RunResult | RemoteFailure {
    clearTimeout(this.#timer);
    this.options.signal?.removeEventListener('abort', this.#abort);
    const fault = this.#fault ?? (exitCode === 0 ? undefined : 'EXIT');
    if (fault !== undefined)
      return new RemoteFailure(this.program, exitCode, this.#stderr, fault, this.options.signal?.reason);
    return { stdout: Buffer.concat(this.#chunks), stderrTail: this.#stderr };
  }

  readonly #abort = () => this.#end('ABORTED');

  #collect(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > (this.options.maxOutputBytes ?? DEFAULT_OUTPUT_BYTES)) this.#end('TOO_MUCH_OUTPUT');
    else this.#chunks.push(chunk);
  }

  #end(reason: RemoteFailure['reason']): void {
    this.fail(reason);
    const { pid } = this.child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // The group is gone already: then there is nothing left to end.
    }
  }
}
