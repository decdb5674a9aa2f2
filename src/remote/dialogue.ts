import { Duplex, type Readable } from 'node:stream';
import type { Program } from './conversation.ts';
import { RemoteFailure } from './host.ts';

const TAIL_BYTES = 8 * 1024;
/** A program that is told that nothing more will come has so long to end by itself. */
const FAREWELL_MS = 1000;

/** A program as a stream: its standard input and output. It ends when the program has ended well, and fails when it did not. */
export class Dialogue extends Duplex {
  #stderrTail = '';
  #isOver = false;

  constructor(private readonly program: Program) {
    super({ allowHalfOpen: false });
    const { stdin, stdout, stderr, ended } = program;
    stdout.on('data', (chunk: Buffer) => {
      if (!this.destroyed && !this.push(chunk)) stdout.pause();
    });
    stderr.on('data', (chunk: Buffer) => {
      this.#stderrTail = (this.#stderrTail + chunk.toString()).slice(-TAIL_BYTES);
    });
    // It reads no more: that is its right, and how it ends says what came of it.
    stdin.on('error', () => undefined);
    Promise.all([ended, endOf(stdout)]).then(
      ([exitCode]) => this.#finish(exitCode),
      error => this.#leave(error),
    );
  }

  override _read(): void {
    this.program.stdout.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.program.stdin.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.program.stdin.end();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#end().then(
      () => done(error),
      fault => done(error ?? fault),
    );
  }

  #finish(exitCode: number | null): void {
    if (exitCode !== 0) this.#leave(new RemoteFailure(this.program.name, exitCode, this.#stderrTail, 'EXIT'));
    this.#isOver = true;
    if (!this.destroyed) this.push(null);
  }

  #leave(error: Error): void {
    this.#isOver = true;
    this.destroy(error);
  }

  async #end(): Promise<void> {
    if (this.#isOver) return;
    const { stdin, stdout, ended } = this.program;
    stdin.end();
    stdout.resume();
    if (!(await settlesWithin(ended, FAREWELL_MS))) await this.program.end();
  }
}

const endOf = (stream: Readable): Promise<void> =>
  new Promise(resolve => stream.once('end', resolve).once('close', resolve));

async function settlesWithin(promise: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, milliseconds, false);
  const settled = promise.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([settled, late]);
  } finally {
    clearTimeout(timer);
  }
}
