import { Agent, type AgentOptions, type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { Gate } from './gate.ts';

/** Opens a connection, to a port or a program of a far machine. */
export type Open = () => Promise<Duplex>;

export interface Question {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: unknown;
  signal?: AbortSignal;
  /** Until the whole answer is read; null for one that takes as long as it takes. A minute unless told otherwise. */
  timeoutMs?: number | null;
  /** Gets a connection of its own, so that it keeps nobody waiting. */
  isLong?: boolean;
}

const TIMEOUT_MS = 60_000;
const MOST_CONNECTIONS = 2;
/** A machine has few places for conversations: one that nobody uses is given back after so long. */
const IDLE_MS = 2000;

/** HTTP/1.1 over streams that somebody else opens. */
export class DuplexHttp {
  readonly #short: DuplexAgent;
  readonly #long: DuplexAgent;
  /** Node counts connections when they are open; those that are being opened count here. */
  readonly #gate = new Gate(MOST_CONNECTIONS);

  constructor(
    open: Open,
    /** What the other end wants to be called. */
    private readonly host: string,
  ) {
    this.#short = new DuplexAgent(open, { keepAlive: true, maxSockets: MOST_CONNECTIONS });
    this.#long = new DuplexAgent(open, { keepAlive: false });
  }

  /** Whatever the status, the answer is the reader's. What befalls the connection is thrown as it was told. */
  ask<Result>(question: Question, read: (answer: IncomingMessage) => Promise<Result>): Promise<Result> {
    const ask = () => this.#ask(question, read);
    return question.isLong ? ask() : this.#gate.pass(ask);
  }

  /** What is under way is lost. */
  close(): void {
    this.#short.destroy();
    this.#long.destroy();
  }

  async #ask<Result>(question: Question, read: (answer: IncomingMessage) => Promise<Result>): Promise<Result> {
    const { signal, timeoutMs = TIMEOUT_MS } = question;
    const limits = [signal, timeoutMs === null ? undefined : AbortSignal.timeout(timeoutMs)];
    const stop = AbortSignal.any(limits.filter(each => each !== undefined));
    let fault: Error | undefined;
    try {
      const answer = await this.#send(question, stop, error => {
        fault ??= error;
      });
      return await read(answer).finally(() => answer.destroy());
    } catch (error) {
      // A body that is cut off says only that it was; the request knows why.
      throw stop.aborted ? stop.reason : (fault ?? error);
    }
  }

  #send(
    { method, path, body, isLong = false }: Question,
    signal: AbortSignal,
    onFault: (error: Error) => void,
  ): Promise<IncomingMessage> {
    const text = body === undefined ? '' : JSON.stringify(body);
    const headers = {
      host: this.host,
      'content-length': Buffer.byteLength(text),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    return new Promise((resolve, reject) => {
      const agent = isLong ? this.#long : this.#short;
      const asked = request({ method, path, headers, agent, signal }, resolve);
      asked.on('error', onFault);
      asked.on('error', reject);
      asked.end(text);
    });
  }
}

/** Node's own, for streams that are no sockets. */
class DuplexAgent extends Agent {
  readonly #idle = new WeakMap<Duplex, NodeJS.Timeout>();
  #isClosed = false;

  constructor(
    private readonly open: Open,
    options: AgentOptions,
  ) {
    super(options);
  }

  override createConnection(_: unknown, opened: (error: Error | null, stream: Duplex) => void): undefined {
    const fail = (error: Error) => opened(error, undefined as unknown as Duplex);
    this.open().then(stream => {
      // Between two requests nobody listens.
      stream.on('error', () => undefined);
      if (!this.#isClosed) return opened(null, likeSocket(stream));
      stream.destroy();
      return fail(new Error('The connection is closed'));
    }, fail);
  }

  override keepSocketAlive(stream: Duplex): boolean {
    this.#idle.set(stream, setTimeout(() => stream.destroy(), IDLE_MS).unref());
    super.keepSocketAlive(stream);
    return true;
  }

  override reuseSocket(stream: Duplex, request: ClientRequest): void {
    clearTimeout(this.#idle.get(stream));
    super.reuseSocket(stream, request);
  }

  override destroy(): void {
    this.#isClosed = true;
    super.destroy();
  }
}

/** What Node asks of a socket besides: it means nothing here. */
const OF_SOCKETS = ['ref', 'unref', 'setKeepAlive', 'setNoDelay', 'setTimeout'];

function likeSocket(stream: Duplex): Duplex {
  for (const name of OF_SOCKETS) if (!(name in stream)) Object.defineProperty(stream, name, { value: () => stream });
  return stream;
}
