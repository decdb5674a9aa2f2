import { randomUUID } from 'node:crypto';
import type { Response } from 'express';
import { clock } from '../clock.ts';
import type { Reader } from '../schema/audience.ts';
import type { CredentialService } from '../services/credential.service.ts';
import type { Viewer } from '../services/scope.ts';
import { type Caller, callerOf } from './caller.ts';

const HEARTBEAT_MS = 15_000;
const BACKLOG_LIMIT = 1024 * 1024;
const DRAINED_BELOW = 64 * 1024;
const DRAIN_TIMEOUT_MS = 30_000;
const COMMENT = Buffer.from(':\n\n');
const OPENING = Buffer.from('retry: 2000\n\n');

const HEAD = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'X-Accel-Buffering': 'no',
  Connection: 'keep-alive',
};

/** One response that is written to as long as somebody reads it. A reader that does not read is cut off; it can resume. */
class SseReader implements Reader {
  readonly id = randomUUID();
  /** Its ticket's use was heard of by all instances: a later use takes its place. */
  isAnnounced = false;
  #isGone = false;

  constructor(
    private readonly response: Response,
    public viewer: Viewer,
    readonly ticketId: string | undefined,
  ) {
    response.writeHead(200, HEAD);
    response.write(OPENING);
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  write(frame: Buffer): void {
    if (this.#isGone) return;
    this.response.write(frame);
    if (this.response.writableLength > BACKLOG_LIMIT) this.cut();
  }

  beat(): void {
    if (!this.#isGone && this.response.writableLength === 0) this.response.write(COMMENT);
  }

  async drained(): Promise<void> {
    if (this.#isGone || this.response.writableLength < DRAINED_BELOW) return;
    await new Promise<void>((resolve, reject) => {
      const give = setTimeout(() => settle(() => reject(new Error('the reader does not read'))), DRAIN_TIMEOUT_MS);
      const settle = (outcome: () => void) => {
        clearTimeout(give);
        this.response.off('drain', done).off('close', done);
        outcome();
      };
      const done = () => settle(resolve);
      this.response.once('drain', done).once('close', done);
    });
  }

  end(lastFrame: Buffer | undefined): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.response.end(lastFrame);
  }

  cut(): void {
    this.#isGone = true;
    this.response.destroy();
  }

  leave(): void {
    this.#isGone = true;
  }
}

/** Every open stream of this process: kept awake, and closed when what opened it no longer holds. */
export class SseConnections {
  readonly #readers = new Set<SseReader>();
  readonly #bySubject = new Map<string, Set<SseReader>>();
  #isClosing = false;
  readonly #heart = setInterval(() => this.#beat(), HEARTBEAT_MS).unref();

  constructor(private readonly credentials: CredentialService) {
    credentials.onChange(subject => void this.#recheck(subject));
    credentials.onTicketUse((ticketId, streamId) => this.#supersede(ticketId, streamId));
  }

  get count(): number {
    return this.#readers.size;
  }

  async open(response: Response, start: (reader: Reader) => () => void): Promise<void> {
    // Whoever asks for the head alone reads nothing and would never leave.
    if (response.req.method === 'HEAD')
      return void response.writeHead(200, { 'Content-Type': HEAD['Content-Type'] }).end();
    // Whoever left while the stream was being opened says so no more, and would keep its seat for ever.
    if (response.destroyed) return;
    const { viewer, ticketId } = callerOf(response) as Caller & { viewer: Viewer };
    const reader = new SseReader(response, viewer, ticketId);
    this.#register(reader);
    const stop = start(reader);
    response.once('close', () => {
      reader.leave();
      this.#unregister(reader);
      stop();
    });
    if (this.#isClosing) return reader.end(undefined);
    // What it was opened with may have ended while it was being opened: then nobody told us yet.
    await this.#verify([reader]);
    if (ticketId !== undefined) await this.credentials.announceTicketUse(ticketId, reader.id);
  }

  /** Clients come back after the time of `retry`, to another instance or to this one's successor. */
  closeAll(): void {
    this.#isClosing = true;
    clearInterval(this.#heart);
    for (const reader of this.#readers) reader.end(undefined);
  }

  #register(reader: SseReader): void {
    this.#readers.add(reader);
    for (const subject of subjectsOf(reader.viewer)) {
      this.#bySubject.set(subject, (this.#bySubject.get(subject) ?? new Set()).add(reader));
    }
  }

  #unregister(reader: SseReader): void {
    this.#readers.delete(reader);
    for (const subject of subjectsOf(reader.viewer)) {
      const readers = this.#bySubject.get(subject);
      readers?.delete(reader);
      if (readers?.size === 0) this.#bySubject.delete(subject);
    }
  }

  /** All instances hear of uses in the same order: of two that came at once, the one heard of last stays. */
  #supersede(ticketId: string, streamId: string): void {
    for (const reader of this.#readers) {
      if (reader.id === streamId) reader.isAnnounced = true;
      else if (reader.ticketId === ticketId && reader.isAnnounced) reader.end(undefined);
    }
  }

  async #recheck(subject: string | null): Promise<void> {
    const concerned = [...(subject === null ? this.#readers : (this.#bySubject.get(subject) ?? []))];
    // While nothing could be heard, a ticket may have been used elsewhere.
    const deaf = subject === null ? concerned.filter(({ ticketId }) => ticketId !== undefined) : [];
    for (const reader of deaf) reader.end(undefined);
    await this.#verify(concerned);
  }

  /** Each credential is asked for once. A database that cannot be asked right now does not vouch for anybody. */
  async #verify(readers: readonly SseReader[]): Promise<void> {
    for (const alike of Map.groupBy(readers, ({ viewer }) => credentialOf(viewer)).values()) {
      const [{ viewer }] = alike as [SseReader];
      const renewed = await this.credentials.renew(viewer).catch(() => undefined);
      for (const reader of alike) {
        if (renewed === undefined) reader.end(undefined);
        else reader.viewer = renewed;
      }
    }
  }

  #beat(): void {
    const now = clock.now().getTime();
    const isDue = ({ viewer: { expiresAt } }: SseReader) => expiresAt !== null && expiresAt <= now;
    // A session that was refreshed lives longer than its readers know.
    void this.#verify([...this.#readers].filter(isDue));
    for (const reader of this.#readers) reader.beat();
  }
}

const credentialOf = ({ sessionId, tokenId }: Viewer): string =>
  sessionId === null ? `token:${tokenId}` : `session:${sessionId}`;

const subjectsOf = (viewer: Viewer): string[] => [`user:${viewer.userId}`, credentialOf(viewer)];
