import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { CADDY_ADMIN_PORT, CaddyAdmin } from '../../integrations/caddy/caddy-admin.ts';
import { CaddyFault } from '../../integrations/caddy/caddy-fault.ts';
import type { DockerApi } from '../../integrations/docker/docker-api.ts';
import { DialFailure, type Host } from '../../remote/host.ts';
import { saidText } from '../../remote/said-text.ts';
import { anotherCaddy, ProxyContainer } from './proxy-container.ts';
import { ProxyFailure } from './proxy-failure.ts';
import { listenPortOf, type ProxyRoute, serversFor, type WebServer } from './proxy-settings.ts';

const HTTP = '/config/apps/http';
/** By this it is known that the Caddy that answers is ours: another one may have been there before. */
const MARK = 'slipway-proxy';
/** Whoever asks more seldom than this is not in the middle of it when an idle connection is closed. */
const LEAVE_MS = 1500;
const LONGEST_MESSAGE = 500;

/** The one Caddy of a server. Every failure of it is a `ProxyFailure`, and leaves its settings as they were. */
export class ServerProxy {
  readonly #admin: CaddyAdmin;
  readonly #container: ProxyContainer;

  constructor(docker: DockerApi, host: Host) {
    this.#admin = new CaddyAdmin(() => host.dial(CADDY_ADMIN_PORT));
    this.#container = new ProxyContainer(docker, this.#admin);
  }

  close(): void {
    this.#admin.close();
  }

  /** It runs and can be told things when this returns, whether or not it did before. */
  async ensure(): Promise<void> {
    await this.#container.ensure();
    const settings = { '@id': MARK, servers: {} };
    // Two who come at once make it once: it is only made where there is none.
    if ((await this.#get('/config/')) === null) await this.#say(() => this.#admin.create(HTTP, settings));
    const http = await this.#get<{ '@id'?: string }>(HTTP);
    if (http?.['@id'] !== MARK) throw anotherCaddy();
  }

  /** Requests at the one port are answered by the other from now on. Those that are under way are answered by whom they were given to. */
  async route(environmentId: string, { listenPort, upstreamPort }: ProxyRoute): Promise<void> {
    await this.ensure();
    await this.#container.pointAt(environmentId, upstreamPort);
    const path = pathOf(environmentId);
    const [wanted, plain] = serversFor(environmentId, listenPort);
    const found = await this.#get(path);
    if (isDeepStrictEqual(found, wanted) || isDeepStrictEqual(found, plain)) return;
    await this.#change(() =>
      this.#admin.put(path, wanted).catch(error => {
        if (!(error instanceof CaddyFault) || !/unknown field/.test(error.message)) throw error;
        return this.#admin.put(path, plain);
      }),
    );
  }

  async upstreamOf(environmentId: string): Promise<ProxyRoute | null> {
    if (!(await this.#isThere())) return null;
    const server = await this.#get<WebServer>(pathOf(environmentId));
    const listenPort = server === null ? null : listenPortOf(server);
    const upstreamPort = await this.#container.upstreamOf(environmentId);
    return listenPort === null || upstreamPort === null ? null : { listenPort, upstreamPort };
  }

  async unroute(environmentId: string): Promise<void> {
    if (!(await this.#isThere())) return;
    const path = pathOf(environmentId);
    if ((await this.#get(path)) !== null) await this.#change(() => this.#admin.remove(path));
    await this.#container.forget(environmentId);
  }

  /** One that was stopped keeps what it was told, and is started to be asked. Where there is none nothing was ever said. */
  async #isThere(): Promise<boolean> {
    const isThere = await this.#container.exists();
    if (isThere) await this.ensure();
    return isThere;
  }

  /** Starts every server of Caddy's anew. Before, those who are connected are asked to leave with their next answer. */
  async #change(change: () => Promise<void>): Promise<void> {
    const servers = await this.#get<Record<string, unknown>>(`${HTTP}/servers`);
    if (Object.keys(servers ?? {}).length === 0) return this.#say(change);
    await this.#container.askToLeave(true);
    try {
      await pause(LEAVE_MS);
      await this.#say(change);
    } finally {
      await this.#container.askToLeave(false);
    }
  }

  #get<Value>(path: string): Promise<Value | null> {
    return this.#say(() => this.#admin.get<Value>(path));
  }

  async #say<Result>(what: () => Promise<Result>): Promise<Result> {
    try {
      return await what();
    } catch (error) {
      if (error instanceof DialFailure) throw new ProxyFailure(error.message, null, false, { cause: error });
      throw error instanceof CaddyFault ? failureOf(error) : error;
    }
  }
}

const pathOf = (environmentId: string): string => `${HTTP}/servers/slipway-${environmentId}`;

function failureOf(fault: CaddyFault): ProxyFailure {
  const said = saidText(fault.message, LONGEST_MESSAGE);
  const isPortTaken = /address already in use/.test(fault.message);
  const hint = isPortTaken ? 'Another program of the server listens on that port.' : null;
  return new ProxyFailure(`The proxy refused: ${said}`, hint, isPortTaken, { cause: fault });
}
