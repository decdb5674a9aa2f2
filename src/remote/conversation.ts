import { Readable, type Writable } from 'node:stream';
import { type FailureReason, type Input, RemoteFailure, type StreamOptions, type StreamResult } from './host.ts';

/** A program that was started, here or elsewhere. */
export interface Program {
  readonly name: string;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Its exit code, or null if a signal ended it. Fails if nobody can tell any more. */
  readonly ended: Promise<number | null>;
  /** Ends it with all that it started. */
  end(): Promise<void>;
}

const TAIL_BYTES = 8 * 1024;
const DEFAULT_TIMEOUT_MS = 60_000;

export const timeoutOf = ({ timeoutMs = DEFAULT_TIMEOUT_MS }: StreamOptions): number => timeoutMs;

/** Feeds a program and listens to it until it ends, or until its time, our patience or the listener's is over. */
export async function converse(program: Program, options: StreamOptions): Promise<StreamResult> {
  const conversation = new Conversation(program, options);
  try {
    return await conversation.outcome();
  } finally {
    conversation.close();
  }
}

class Conversation {
  #stderrTail = '';
  #listening: Promise<void> | undefined;
  readonly #waiting: [chunk: Buffer, from: 'stdout' | 'stderr'][] = [];
  #isOver = false;
  #isGivenUp = false;
  #feed: Readable | undefined;
  #giveUp: (error: unknown) => void = () => undefined;
  readonly #givenUp: Promise<never>;
  readonly #timer: NodeJS.Timeout;

  constructor(
    private readonly program: Program,
    private readonly options: StreamOptions,
  ) {
    this.#givenUp = new Promise<never>((_, reject) => {
      this.#giveUp = error => {
        this.#isGivenUp = true;
        reject(error);
      };
    });
    this.#timer = setTimeout(() => this.#giveUp(this.#failure('TIMEOUT')), timeoutOf(options));
    options.signal?.addEventListener('abort', this.#abort, { once: true });
    if (options.signal?.aborted) this.#abort();
  }

  async outcome(): Promise<StreamResult> {
    const { ended } = this.program;
    const heard = Promise.all([this.#listen('stdout'), this.#listen('stderr')]);
    this.#say(this.options.stdin ?? '');
    const saidAll = Promise.all([ended, heard]).then(([exitCode]) => this.#allTaken().then(() => exitCode));
    // Either may fail after the other has settled the matter.
    for (const late of [saidAll, this.#givenUp]) late.catch(() => undefined);
    const exitCode = await Promise.race([saidAll, this.#givenUp]).catch(error => this.#leave(error));
    if (exitCode !== 0) throw this.#failure('EXIT', exitCode);
    return { stderrTail: this.#stderrTail };
  }

  close(): void {
    clearTimeout(this.#timer);
    this.options.signal?.removeEventListener('abort', this.#abort);
    this.#feed?.destroy();
  }

  readonly #abort = () => this.#giveUp(this.#failure('ABORTED'));

  #failure(reason: FailureReason, exitCode: number | null = null): RemoteFailure {
    return new RemoteFailure(this.program.name, exitCode, this.#stderrTail, reason, this.options.signal?.reason);
  }

  /** Whoever goes on from the last piece must know whether it was taken: the listener is waited for. */
  async #leave(error: unknown): Promise<never> {
    this.#isOver = true;
    this.#feed?.destroy();
    if (this.#isGivenUp) await this.program.end();
    await this.#listening;
    throw error;
  }

  #say(input: Input): void {
    const { stdin } = this.program;
    // It reads no more: that is its right, and its exit code says what came of it.
    stdin.on('error', () => this.#feed?.destroy());
    if (typeof input === 'string' || input instanceof Uint8Array) {
      stdin.end(input);
      return;
    }
    const feed = input instanceof Readable ? input : Readable.from(input);
    this.#feed = feed;
    feed.on('error', error => this.#giveUp(error));
    feed.on('end', () => stdin.end());
    stdin.on('drain', () => feed.resume());
    feed.on('data', (chunk: Uint8Array) => {
      if (!stdin.write(chunk)) feed.pause();
    });
  }

  #listen(from: 'stdout' | 'stderr'): Promise<void> {
    const stream = this.program[from];
    stream.on('data', (chunk: Buffer) => {
      if (from === 'stderr') this.#stderrTail = (this.#stderrTail + chunk.toString()).slice(-TAIL_BYTES);
      this.#hear(chunk, from);
    });
    return new Promise(resolve => stream.once('end', resolve).once('close', resolve));
  }

  /**
   * The two streams wait together: the listener hears one piece at a time. Of a program that ended Node lets the rest flow, paused or
   * not, as much as a pipe holds: that waits in line.
   */
  #hear(chunk: Buffer, from: 'stdout' | 'stderr'): void {
    if (this.#isOver) return;
    if (this.#listening !== undefined) this.#waiting.push([chunk, from]);
    else this.#give(chunk, from);
  }

  #give(chunk: Buffer, from: 'stdout' | 'stderr'): void {
    const { stdout, stderr } = this.program;
    try {
      const open = this.options.onOutput?.(chunk, from);
      if (open === undefined) return;
      stdout.pause();
      stderr.pause();
      this.#listening = open.then(
        () => this.#goOn(),
        error => this.#giveUp(error),
      );
    } catch (error) {
      this.#giveUp(error);
    }
  }

  #goOn(): void {
    this.#listening = undefined;
    while (this.#listening === undefined && !this.#isOver) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      this.#give(...next);
    }
    if (this.#listening !== undefined) return;
    this.program.stdout.resume();
    this.program.stderr.resume();
  }

  async #allTaken(): Promise<void> {
    while (this.#listening !== undefined && !this.#isGivenUp) await this.#listening;
  }
}
