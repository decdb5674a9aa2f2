import { CADDY_ADMIN_PORT, CaddyAdmin } from '../../integrations/caddy/caddy-admin.ts';
import { CaddyFault } from '../../integrations/caddy/caddy-fault.ts';
import type { DockerApi } from '../../integrations/docker/docker-api.ts';
import type { Host } from '../../remote/host.ts';
import { saidText } from '../../remote/said-text.ts';
import { ProxyContainer } from './proxy-container.ts';
import { ProxyFailure } from './proxy-failure.ts';
import { type ProxyRoute, routeIn, serverFor, type WebServer } from './proxy-settings.ts';

const HTTP = '/config/apps/http';
/** By this it is known that the Caddy that answers is ours: another one may have been there before. */
const MARK = 'slipway-proxy';
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
    if ((await this.#admin.get('/config/')) === null) await this.#say(() => this.#admin.create(HTTP, settings));
    const http = await this.#admin.get<{ '@id'?: string }>(HTTP);
    if (http?.['@id'] !== MARK)
      throw new ProxyFailure(
        `Another Caddy answers on port ${CADDY_ADMIN_PORT} of the server`,
        'Stop it, or give its admin endpoint another port.',
      );
  }

  /** Requests at the one port are answered by the other from now on. Those that are under way are answered by whom they were given to. */
  async route(environmentId: string, route: ProxyRoute): Promise<void> {
    await this.#say(() => this.#admin.put(pathOf(environmentId), serverFor(route)));
  }

  async upstreamOf(environmentId: string): Promise<ProxyRoute | null> {
    const found = await this.#say(() => this.#admin.get<WebServer>(pathOf(environmentId)));
    return found === null ? null : routeIn(found);
  }

  async unroute(environmentId: string): Promise<void> {
    await this.#say(() => this.#admin.remove(pathOf(environmentId)));
  }

  async #say<Result>(what: () => Promise<Result>): Promise<Result> {
    try {
      return await what();
    } catch (error) {
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
