import { CaddyAdmin } from '../../integrations/caddy/caddy-admin.ts';
import type { DockerApi } from '../../integrations/docker/docker-api.ts';
import type { Host } from '../../remote/host.ts';
import { ProxyFailure } from './proxy-failure.ts';

/** Where an environment is answered, and by whom behind it: ports of the server. */
export interface ProxyRoute {
  listenPort: number;
  /** On the server's loopback. */
  upstreamPort: number;
}

/** The one Caddy of a server. Every failure of it is a `ProxyFailure`. */
export class ServerProxy {
  readonly #admin: CaddyAdmin;

  constructor(
    private readonly docker: DockerApi,
    host: Host,
  ) {
    this.#admin = new CaddyAdmin(() => host.dial(2019));
  }

  close(): void {
    this.#admin.close();
  }

  /** Runs when this returns, whether or not it did before. */
  async ensure(): Promise<void> {
    await this.docker.inspectContainer('slipway-proxy');
    throw new ProxyFailure('Not built yet');
  }

  async route(_environmentId: string, _route: ProxyRoute): Promise<void> {
    throw new ProxyFailure('Not built yet');
  }

  async upstreamOf(_environmentId: string): Promise<ProxyRoute | null> {
    throw new ProxyFailure('Not built yet');
  }

  async unroute(_environmentId: string): Promise<void> {
    throw new ProxyFailure('Not built yet');
  }
}
