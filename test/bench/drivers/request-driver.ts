/** Sends one request again and again over a few kept-alive connections, on raw sockets: cheap enough to share the machine. */
import { connect, type Socket } from 'node:net';
import { answerQuestions } from '../support/driver-process.ts';

export interface Slice {
  port: number;
  /** The whole request, as it goes over the wire. */
  request: string;
  connections: number;
  milliseconds: number;
}

export interface SliceResult {
  requests: number;
  milliseconds: number;
  bodyBytes: number;
}

const HEAD_END = '\r\n\r\n';

answerQuestions<Slice>(async ({ port, request, connections, milliseconds }) => {
  const bytes = Buffer.from(request);
  const startedAt = performance.now();
  const ends = startedAt + milliseconds;
  const lines = Array.from({ length: connections }, () => new Line(port, bytes, ends));
  await Promise.all(lines.map(line => line.finished));
  return {
    requests: lines.reduce((sum, line) => sum + line.requests, 0),
    milliseconds: performance.now() - startedAt,
    bodyBytes: lines[0]?.bodyBytes ?? 0,
  } satisfies SliceResult;
});

class Line {
  requests = 0;
  bodyBytes = 0;
  readonly finished: Promise<void>;
  readonly #socket: Socket;
  readonly #request: Buffer;
  readonly #ends: number;
  #head = '';
  #missing = -1;
  #fail: (error: Error) => void = () => undefined;

  constructor(port: number, request: Buffer, ends: number) {
    this.#request = request;
    this.#ends = ends;
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.finished = new Promise((resolve, reject) => {
      this.#fail = reject;
      this.#socket
        .on('connect', () => this.#socket.write(request))
        .on('data', chunk => this.#take(chunk))
        .on('error', reject)
        .on('close', () => resolve());
    });
  }

  #take(chunk: Buffer): void {
    const body = this.#missing < 0 ? this.#readHead(chunk) : chunk.length;
    if (body === undefined) return;
    this.#missing -= body;
    if (this.#missing > 0) return;
    this.#missing = -1;
    this.requests += 1;
    if (performance.now() < this.#ends) this.#socket.write(this.#request);
    else this.#socket.destroy();
  }

  /** How much of the chunk belongs to the body, once the head is whole. */
  #readHead(chunk: Buffer): number | undefined {
    this.#head += chunk.toString('latin1');
    const end = this.#head.indexOf(HEAD_END);
    if (end < 0) return undefined;
    const inBody = this.#head.length - end - HEAD_END.length;
    const length = /\r\ncontent-length: (\d+)/i.exec(this.#head)?.[1];
    if (length === undefined || !this.#head.startsWith('HTTP/1.1 200')) {
      this.#fail(new Error(`An unexpected answer: ${this.#head.slice(0, 1000)}`));
      this.#socket.destroy();
      return undefined;
    }
    this.#head = '';
    this.#missing = Number(length);
    this.bodyBytes = this.#missing;
    return inBody;
  }
}
