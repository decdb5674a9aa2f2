import { Agent, request } from 'node:http';

export interface Answered {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  body: string;
  at: number;
}

type Ask = (call: (method: string, path: string, body?: object) => Promise<Answered>) => Promise<void>;

/** Clients that ask one thing after the other, each over a connection it keeps. Whoever is refused a new one goes home. */
export class SteadyLoad {
  readonly answered: Answered[] = [];
  /** Connections that broke under a request: it may have been done or not. */
  readonly broken: string[] = [];
  readonly #clients: Promise<void>[];
  #isOver = false;

  constructor(
    private readonly url: string,
    private readonly token: string,
    clients: number,
    ask: Ask,
  ) {
    this.#clients = Array.from({ length: clients }, () => this.#keepAsking(ask));
  }

  get count(): number {
    return this.answered.length;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.ended();
  }

  /** All have gone home. */
  async ended(): Promise<void> {
    await Promise.all(this.#clients);
  }

  async #keepAsking(ask: Ask): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const call = (method: string, path: string, body?: object) => this.#call(agent, method, path, body);
    while (!this.#isOver) {
      try {
        await ask(call);
      } catch (error) {
        const { code = 'unknown' } = error as { code?: string };
        if (code === 'ECONNREFUSED') break;
        this.broken.push(code);
      }
    }
    agent.destroy();
  }

  #call(agent: Agent, method: string, path: string, body?: object): Promise<Answered> {
    return new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const headers = {
        authorization: `Bearer ${this.token}`,
        ...(text === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      };
      const sent = request(`${this.url}${path}`, { method, agent, headers }, response => {
        let received = '';
        response.setEncoding('utf8').on('data', chunk => {
          received += chunk;
        });
        response.once('error', reject).once('end', () => {
          const { statusCode: status = 0, headers: answeredWith } = response;
          const answered = { status, headers: answeredWith, body: received, at: performance.now() };
          this.answered.push(answered);
          resolve(answered);
        });
      });
      sent.once('error', reject).end(text);
    });
  }
}
