import { type IncomingMessage, request } from 'node:http';

export interface SseMessage {
  id: string | undefined;
  event: string | undefined;
  data: string;
}

export interface SseOptions {
  token?: string;
  method?: string;
  headers?: Record<string, string>;
  body?: object;
}

/** Reads a stream as bytes come, and can stop reading, or cut the line, at any moment. */
export class SseClient {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly comments: string[] = [];
  readonly ended: Promise<void>;
  lastId: string | undefined;
  retryMs: number | undefined;
  #rest = '';
  #messages: SseMessage[] = [];
  #isOver = false;
  #wake: () => void = () => undefined;

  private constructor(private readonly response: IncomingMessage) {
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.#take(text));
    // A line that was cut is an end like any other to a reader who can resume.
    response.on('error', () => undefined);
    this.ended = new Promise(resolve => response.once('close', resolve)).then(() => {
      this.#isOver = true;
      this.#wake();
    });
  }

  /** Resolves when the answer's head has come, whatever its status. */
  static open(url: string, { token, method, headers, body }: SseOptions = {}): Promise<SseClient> {
    return new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const call = request(url, {
        method: method ?? (text === undefined ? 'GET' : 'POST'),
        agent: false,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(text === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
      });
      call.once('error', reject).once('response', response => resolve(new SseClient(response)));
      call.end(text);
    });
  }

  /** The next message; undefined when the stream is over. */
  async next(): Promise<SseMessage | undefined> {
    for (;;) {
      const message = this.#messages.shift();
      if (message !== undefined || this.#isOver) return message;
      await new Promise<void>(resolve => {
        this.#wake = resolve;
      });
    }
  }

  async take(count: number): Promise<SseMessage[]> {
    const taken: SseMessage[] = [];
    while (taken.length < count) {
      const message = await this.next();
      if (message === undefined) throw new Error(`the stream ended after ${taken.length} of ${count} messages`);
      taken.push(message);
    }
    return taken;
  }

  /** The data of the next messages, parsed. */
  async read<Data>(count: number): Promise<Data[]> {
    return (await this.take(count)).map(({ data }) => JSON.parse(data) as Data);
  }

  /** What came and was not taken yet. */
  drain(): SseMessage[] {
    return this.#messages.splice(0);
  }

  /** The body of an answer that is no stream. */
  async problem<Body>(): Promise<Body> {
    await this.ended;
    return JSON.parse(this.#rest) as Body;
  }

  pause(): void {
    this.response.pause();
  }

  resume(): void {
    this.response.resume();
  }

  async cut(): Promise<void> {
    this.response.destroy();
    await this.ended;
  }

  #take(text: string): void {
    const blocks = (this.#rest + text).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    for (const block of blocks) this.#read(block);
    this.#wake();
  }

  #read(block: string): void {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      const [, name = '', value = ''] = /^([^:]*): ?(.*)$/s.exec(line) ?? [];
      fields.set(name, value);
    }
    if (fields.has('retry')) this.retryMs = Number(fields.get('retry'));
    const data = fields.get('data');
    if (data === undefined) {
      if (fields.has('')) this.comments.push(block);
      return;
    }
    this.lastId = fields.get('id') ?? this.lastId;
    this.#messages.push({ id: fields.get('id'), event: fields.get('event'), data });
  }
}
