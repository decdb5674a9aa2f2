import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from './certificate.ts';

export interface Asked {
  method: string;
  url: URL;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** What was sent, as it came. */
  body: string;
}

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  /** A string is sent as it is, anything else as JSON. */
  body?: unknown;
}

type Replier = Reply | ((asked: Asked) => Reply | Promise<Reply>);

/** Somebody else's API over TLS, as far as a test tells it what to say. It remembers what it was asked. */
export class StandIn {
  readonly asked: Asked[] = [];
  readonly caFile: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'slipway-stand-in-'));
  readonly #replies = new Map<string, Replier>();
  readonly #server: Server;

  private constructor() {
    this.caFile = join(this.#folder, 'cert.pem');
    this.#server = createServer(makeCertificate(this.#folder), async (request, response) => {
      const url = new URL(request.url ?? '/', this.url);
      let sent = '';
      for await (const chunk of request) sent += chunk;
      const asked = { method: request.method ?? '', url, headers: request.headers, body: sent };
      this.asked.push(asked);
      const { status = 200, headers = {}, body = {} } = await this.#reply(asked);
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body));
    });
  }

  static async start(): Promise<StandIn> {
    const standIn = new StandIn();
    await new Promise<void>(resolve => standIn.#server.listen(0, '127.0.0.1', resolve));
    return standIn;
  }

  get url(): string {
    return `https://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What to say to a path, which may end in `*`. The latest word counts. */
  on(path: string, reply: Replier): void {
    this.#replies.set(path, reply);
  }

  /** The paths and queries it was asked for since the last time. */
  takeAsked(): string[] {
    return this.asked.splice(0).map(({ url }) => `${url.pathname}${url.search}`);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise(resolve => this.#server.close(resolve));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #reply(asked: Asked): Reply | Promise<Reply> {
    const { pathname } = asked.url;
    const wild = [...this.#replies.keys()].find(path => path.endsWith('*') && pathname.startsWith(path.slice(0, -1)));
    const reply = this.#replies.get(pathname) ?? this.#replies.get(wild ?? '') ?? { status: 404 };
    return typeof reply === 'function' ? reply(asked) : reply;
  }
}
