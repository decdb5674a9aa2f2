import { AppMachine } from './app-machine.ts';
import type { FakeDocker } from './fake-docker.ts';
import { PretendedCaddy } from './pretended-caddy.ts';
import type { SshMachine } from './ssh-machine.ts';

const ADMIN_PORT = 2019;
/** Nobody listens on the first port of all. */
const NOBODYS_PORT = 1;

/** A server that can be deployed to, as far as nothing is built: Docker and the proxy pretend, and every release is one application. */
export class DeployMachine {
  private constructor(
    readonly app: AppMachine,
    readonly caddy: PretendedCaddy,
  ) {}

  static async start(): Promise<DeployMachine> {
    const made = new DeployMachine(await AppMachine.start(), await PretendedCaddy.start());
    made.docker.images.set('caddy:2', {});
    made.docker.execute = made.caddy.execute;
    made.machine.portBehind = port => made.#portBehind(port);
    // The firewall of this machine is none of its business.
    made.machine.program('ufw', 'echo "Status: inactive"');
    return made;
  }

  get docker(): FakeDocker {
    return this.app.docker;
  }

  get machine(): SshMachine {
    return this.app.machine;
  }

  get place(): AppMachine['place'] {
    return this.app.place;
  }

  /** The container that answers the world for an environment. */
  serving(environmentId: string): string | undefined {
    const port = this.caddy.upstreamOf(environmentId);
    if (port === undefined) return undefined;
    return [...this.docker.containers.values()].find(({ hostPort }) => hostPort === port)?.name;
  }

  /** It answers, but its Docker does not. */
  loseDocker(): void {
    this.machine.program('docker', 'echo "Cannot connect to the Docker daemon" >&2; exit 1');
  }

  findDocker(): void {
    this.machine.program('docker', 'echo 27.1.0');
  }

  async stop(): Promise<void> {
    await this.app.stop();
    await this.caddy.stop();
  }

  /** The proxy answers while its container runs, an application while one does that has its port. */
  #portBehind(port: number): number {
    const isProxyUp = this.docker.containers.get('slipway-proxy')?.state === 'running';
    if (port === ADMIN_PORT) return isProxyUp ? this.caddy.adminPort : NOBODYS_PORT;
    const upstream = (isProxyUp ? this.caddy.behind(port) : undefined) ?? port;
    const isPublished = [...this.docker.containers.values()].some(
      ({ hostPort, state }) => hostPort === upstream && state === 'running',
    );
    return isPublished ? this.app.hostPort : upstream;
  }
}
