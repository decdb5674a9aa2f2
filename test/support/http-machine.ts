import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';

export interface Request {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

type Answer = (response: ServerResponse, request: Request) => void | Promise<void>;

/** Speaks plain HTTP to whoever is given `open`, and counts how often that is asked for. */
export class HttpMachine {
  readonly requests: Request[] = [];
  opened = 0;
  /** Connections that are open now. */
  readonly sockets = new Set<Socket>();
  readonly #answers = new Map<string, Answer>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(async (incoming, response) => {
      const { method = '', url: path = '', headers } = incoming;
      const request = { method, path, headers, body: await text(incoming) };
      this.requests.push(request);
      const answer = this.#answers.get(`${method} ${path.replace(/\?.*/, '')}`);
      await (answer ?? this.json({ message: 'no such thing' }, 404))(response, request);
    });
    this.#server.on('connection', socket => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  static async start(): Promise<HttpMachine> {
    const machine = new HttpMachine();
    await new Promise<void>(resolve => machine.#server.listen(0, '127.0.0.1', resolve));
    return machine;
  }

  /** Such as `GET /version`. */
  on(what: string, answer: Answer): this {
    this.#answers.set(what, answer);
    return this;
  }

  json(body: unknown, status = 200): Answer {
    return response => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
  }

  status(status: number): Answer {
    return response => void response.writeHead(status).end();
  }

  readonly open = (): Promise<Duplex> =>
    new Promise((resolve, reject) => {
      this.opened += 1;
      const socket = connect((this.#server.address() as AddressInfo).port, '127.0.0.1');
      socket.once('connect', () => resolve(socket)).once('error', reject);
    });

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise(resolve => this.#server.close(resolve));
  }
}
