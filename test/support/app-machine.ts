import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EnvironmentAnswer, EnvironmentBench } from './environments.ts';
import { FakeDocker } from './fake-docker.ts';
import { SshMachine } from './ssh-machine.ts';

/** A server with a Docker that only pretends, and an application that really answers on its loopback. */
export class AppMachine {
  /** How the application answers. */
  status = 200;
  readonly #app: Server;

  private constructor(
    readonly machine: SshMachine,
    readonly docker: FakeDocker,
  ) {
    this.#app = createServer((_, response) => response.writeHead(this.status).end());
  }

  static async start(): Promise<AppMachine> {
    const docker = await FakeDocker.start();
    const server = new AppMachine(await SshMachine.start(), docker);
    server.machine.dockerPort = docker.port;
    server.machine.program('docker', 'echo 27.1.0');
    await new Promise<void>(resolve => server.#app.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get place(): { host: string; port: number; username: string } {
    return { host: '127.0.0.1', port: this.machine.port, username: 'root' };
  }

  get hostPort(): number {
    return (this.#app.address() as AddressInfo).port;
  }

  /** An environment that is live here, as far as anybody can see. */
  async release(
    bench: EnvironmentBench,
    projectId: string,
    serverId: string,
  ): Promise<EnvironmentAnswer & { deploymentId: string }> {
    const environment = await bench.environment({ projectId });
    // One application answers here, whichever release it is taken for.
    await bench.app.sql('update deployment set host_port = null where host_port = $1', [this.hostPort]);
    const deploymentId = await bench.makeLive(environment, { serverId, hostPort: this.hostPort });
    const labels = { 'slipway.environment': environment.id, 'slipway.deployment': deploymentId, 'slipway.role': 'app' };
    const name = `slipway-${deploymentId}`;
    this.docker.containers.set(name, { name, labels, state: 'running' });
    this.docker.images.set(`slipway/${environment.id}:${deploymentId}`, { 'slipway.environment': environment.id });
    this.docker.networks.set(`slipway-${environment.id}`, { 'slipway.environment': environment.id });
    this.docker.volumes.set(`data-${environment.id}`, { 'slipway.environment': environment.id });
    return { ...environment, deploymentId };
  }

  /** What the engine has of an environment. */
  left(environmentId: string): string[] {
    const { containers, images, networks, volumes } = this.docker;
    const own = (labels: Record<string, string>) => labels['slipway.environment'] === environmentId;
    return [
      ...[...containers.values()].filter(({ labels }) => own(labels)).map(() => 'container'),
      ...[...images.values()].filter(own).map(() => 'image'),
      ...[...networks.values()].filter(own).map(() => 'network'),
      ...[...volumes.values()].filter(own).map(() => 'volume'),
    ];
  }

  async stopAnswering(): Promise<void> {
    this.#app.closeAllConnections();
    await new Promise(resolve => this.#app.close(resolve));
  }

  async stop(): Promise<void> {
    if (this.#app.listening) await this.stopAnswering();
    await this.machine.stop();
    await this.docker.stop();
  }
}
