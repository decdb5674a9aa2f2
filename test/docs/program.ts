import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

const PATIENCE_MS = 15_000;

/** A program at work: what it was given to read, and what it has said so far. */
export class Program {
  said = '';
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown[]>;
  #complaints = '';

  constructor(
    private readonly name: string,
    words: string[],
    input: string,
    options: { cwd: string; env: NodeJS.ProcessEnv },
  ) {
    this.#child = spawn(name, words, { ...options, detached: true });
    this.#closed = once(this.#child, 'close');
    this.#child.stdout?.on('data', chunk => (this.said += chunk));
    this.#child.stderr?.on('data', chunk => (this.#complaints += chunk));
    this.#child.stdin?.end(input);
  }

  /** Waits for a good end; a bad one is thrown, with what the program complained of. */
  async finish(): Promise<void> {
    const timer = setTimeout(() => this.#kill(), PATIENCE_MS);
    const [code, signal] = await this.#closed;
    clearTimeout(timer);
    if (code !== 0) throw new Error(`${this.name} ended with ${code ?? signal}: ${this.#complaints}${this.said}`);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#kill();
    await this.#closed;
  }

  get complaints(): string {
    return this.#complaints;
  }

  /** It and all it started. */
  #kill(): void {
    if (this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGKILL');
  }
}
