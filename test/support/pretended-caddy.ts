import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

interface WebServer {
  listen: string[];
}

const SERVERS = '/config/apps/http/servers';

/** A proxy that is told things as Caddy is, and remembers them. Programs in its container are really run, on a folder of its own. */
export class PretendedCaddy {
  readonly #folder = mkdtempSync(join(tmpdir(), 'slipway-caddy-'));
  readonly #servers = new Map<string, WebServer>();
  #http: object | undefined;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(): Promise<PretendedCaddy> {
    const caddy = new PretendedCaddy();
    await new Promise<void>(resolve => caddy.#server.listen(0, '127.0.0.1', resolve));
    return caddy;
  }

  get adminPort(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  readonly execute = ([program = '', ...words]: readonly string[]): Promise<{ exitCode: number; output: string }> =>
    new Promise(resolve => {
      const own = words.map(word => word.replaceAll('/config/slipway', this.#folder));
      execFile(program, own, (error, stdout, stderr) =>
        resolve({ exitCode: Number(error?.code ?? 0), output: stdout + stderr }),
      );
    });

  /** The port that answers for an environment. */
  upstreamOf(environmentId: string): number | undefined {
    if (!this.#servers.has(`slipway-${environmentId}`)) return undefined;
    const [name] = readdirSync(this.#folder).includes(environmentId)
      ? readdirSync(join(this.#folder, environmentId))
      : [];
    return name === undefined ? undefined : Number(name);
  }

  /** Whoever comes to this port is answered by that one. */
  behind(listenPort: number): number | undefined {
    const [name] = [...this.#servers].find(([, { listen }]) => listen.includes(`:${listenPort}`)) ?? [];
    return name === undefined ? undefined : this.upstreamOf(name.replace(/^slipway-/, ''));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise(resolve => this.#server.close(resolve));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    const sent = await text(request);
    if (method !== 'GET') this.#change(method, url, sent);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(method === 'GET' ? (this.#look(url) ?? null) : {}));
  }

  #look(path: string): unknown {
    const servers = Object.fromEntries(this.#servers);
    if (this.#http === undefined) return undefined;
    if (path === '/config/') return { apps: {} };
    if (path === '/config/apps/http') return { ...this.#http, servers };
    return path === SERVERS ? servers : servers[path.slice(SERVERS.length + 1)];
  }

  #change(method: string, path: string, sent: string): void {
    const name = path.slice(SERVERS.length + 1);
    if (path === '/config/apps/http') this.#http = JSON.parse(sent) as object;
    else if (method === 'DELETE') this.#servers.delete(name);
    else this.#servers.set(name, JSON.parse(sent) as WebServer);
  }
}
