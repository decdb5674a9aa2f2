import type { EntityManager } from '@mikro-orm/postgresql';
import { clock } from '../../clock.ts';
import type { Deployment, DeploymentPhase } from '../../entities/deployment.ts';
import { LogStream } from '../../entities/deployment-message.ts';
import { LineAssembler } from './log-lines.ts';
import { type LogLine, LogRows } from './log-rows.ts';
import { LogTail } from './log-tail.ts';
import type { Masker } from './masker.ts';
import { plainText, splitText } from './plain-text.ts';

export interface LogLimits {
  /** Of what programs print in one deployment. */
  lines: number;
  bytes: number;
  /** So many of the last lines are kept of what is more than that. */
  tailLines: number;
}

export const LOG_LIMITS: LogLimits = { lines: 200_000, bytes: 32 * 1024 * 1024, tailLines: 500 };

const LINE_BYTES = 8 * 1024;
const PIECE_BYTES = 64 * 1024;
const BATCH_MS = 200;
const BATCH_LINES = 500;
const BATCH_BYTES = 256 * 1024;
/** Whoever writes waits while so much is waiting itself. */
const BUFFER_BYTES = 512 * 1024;

const STREAMS = { stdout: LogStream.STDOUT, stderr: LogStream.STDERR } as const;

/**
 * The log of one deployment: what programs print and what Slipway says, line by line, without secrets, in batches. Status and phase
 * of a line are those of the deployment when its batch is stored: `flush` before either changes. What could not be stored is told
 * by the next call.
 */
export class LogWriter {
  readonly #lines = { stdout: new LineAssembler(), stderr: new LineAssembler() };
  readonly #rows: LogRows;
  readonly #masker: Masker;
  readonly #limits: LogLimits;
  readonly #tail: LogTail;
  #waiting: LogLine[] = [];
  #waitingBytes = 0;
  #left: { lines: number; bytes: number } | undefined;
  #toPass = 0;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #failure: { error: unknown } | undefined;

  constructor(
    em: EntityManager,
    deployment: Pick<Deployment, 'id' | 'fence'>,
    { masker, limits = LOG_LIMITS }: { masker: Masker; limits?: LogLimits },
  ) {
    this.#rows = new LogRows(em, deployment);
    this.#masker = masker;
    this.#limits = limits;
    this.#tail = new LogTail(limits.tailLines);
  }

  /** Any bytes, cut anywhere. Returns when there is room for more. */
  async write(chunk: Buffer, from: keyof typeof STREAMS): Promise<void> {
    await this.#begin();
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      for (const text of this.#lines[from].push(chunk.subarray(at, at + PIECE_BYTES))) this.#take(text, STREAMS[from]);
      while (this.#waitingBytes > BUFFER_BYTES) await this.#send();
    }
    this.#throwFailure();
  }

  /** What Slipway itself says: never left out. */
  async line(text: string): Promise<void> {
    await this.#begin();
    for (const line of text.toWellFormed().split('\n')) this.#add(plainText(line), null);
    this.#throwFailure();
  }

  /** Everything that was written is stored, and the last line is taken for whole. */
  async flush(): Promise<void> {
    await this.#begin();
    for (const from of ['stdout', 'stderr'] as const)
      for (const text of this.#lines[from].end()) this.#take(text, STREAMS[from]);
    const { leftOut, lines } = this.#tail.take();
    if (leftOut > 0) this.#add(`… ${leftOut} lines are left out here`, null);
    for (const { text, stream } of lines) this.#add(text, stream);
    while (this.#waiting.length > 0 || this.#sending !== undefined) await this.#send();
    this.#throwFailure();
  }

  /** For what is told of it elsewhere than in its log. */
  mask(text: string): string {
    return this.#masker.mask(text);
  }

  /**
   * A program that is followed anew says everything from its beginning: what is stored of this phase already is passed over. The same
   * bytes make the same lines, however they are cut. Where several follow each other, `behind` is the line of ours before this one.
   */
  async passOver(phase: DeploymentPhase, behind = ''): Promise<void> {
    await this.flush();
    this.#toPass = (await this.#rows.stored(phase, behind)).lines;
  }

  /** Another writer may have been here before: the limits are those of the deployment. */
  async #begin(): Promise<void> {
    this.#throwFailure();
    if (this.#left !== undefined) return;
    const { lines, bytes } = await this.#rows.stored();
    this.#left ??= { lines: this.#limits.lines - lines, bytes: this.#limits.bytes - bytes };
  }

  #take(text: string, stream: LogStream): void {
    const left = this.#left as { lines: number; bytes: number };
    if (left.lines <= 0 || left.bytes <= 0) {
      this.#tail.push({ text, stream });
      return;
    }
    left.lines -= 1;
    left.bytes -= Buffer.byteLength(text);
    this.#add(text, stream);
    if (left.lines <= 0 || left.bytes <= 0)
      this.#add('The log is full: what programs print is left out from here on, but for its end', null);
  }

  #add(text: string, stream: LogStream | null): void {
    const at = clock.now();
    for (const message of splitText(this.#masker.mask(text), LINE_BYTES)) {
      if (stream !== null && this.#toPass > 0) {
        this.#toPass -= 1;
        continue;
      }
      this.#waiting.push({ at, stream, message });
      this.#waitingBytes += message.length;
    }
    this.#schedule();
  }

  #schedule(): void {
    if (this.#waiting.length >= BATCH_LINES || this.#waitingBytes >= BATCH_BYTES) void this.#send();
    else if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => void this.#send(), BATCH_MS);
  }

  /** One batch at a time, in order. Never rejects: what went wrong is kept for whoever writes next. */
  #send(): Promise<void> {
    this.#sending ??= this.#store().finally(() => {
      this.#sending = undefined;
      this.#schedule();
    });
    return this.#sending;
  }

  async #store(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (batch.length === 0 || this.#failure) return;
    try {
      await this.#rows.append(batch);
    } catch (error) {
      this.#failure = { error };
    }
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }
}
