import { containerName, roleLabels } from '../../src/engine/deploy/names.ts';
import { type Deployment, DeploymentStatus } from '../../src/entities/deployment.ts';
import { Environment } from '../../src/entities/environment.ts';
import { VariableScope } from '../../src/entities/variable.ts';
import { Keyring } from '../../src/security/keyring.ts';
import { VariableStore } from '../../src/services/variable-store.ts';
import type { Person, TestApp } from './create-app.ts';
import { changeDeployment, makeDeployment } from './deployments.ts';
import { FakeDocker } from './fake-docker.ts';
import { testConfig } from './settings.ts';
import { SshMachine } from './ssh-machine.ts';

/** A server in the test whose Docker runs what it is told, and releases on it as the engine leaves them. */
export class PretendedReleases {
  private constructor(
    private readonly app: TestApp,
    readonly machine: SshMachine,
    readonly docker: FakeDocker,
    readonly serverId: string,
  ) {}

  static async start(app: TestApp, { token }: Pick<Person, 'token'>): Promise<PretendedReleases> {
    const machine = await SshMachine.start();
    const docker = await FakeDocker.start();
    machine.dockerPort = docker.port;
    machine.program('docker', 'echo 27.1.0');
    const body = { name: 'web', host: '127.0.0.1', port: machine.port, username: 'root' };
    const { id } = (await app.rest<{ id: string }>('POST', '/servers', { token, body })).body;
    return new PretendedReleases(app, machine, docker, id);
  }

  async stop(): Promise<void> {
    await this.machine.stop();
    await this.docker.stop();
  }

  run(name: string, labels: Record<string, string>): void {
    this.docker.containers.set(name, { name, labels, state: 'running' });
  }

  /** Its followers are told. */
  become(name: string, state: 'restarting' | 'exited'): void {
    const container = this.docker.containers.get(name);
    if (container) container.state = state;
    this.docker.output.end(name);
  }

  remove(name: string): void {
    this.become(name, 'exited');
    this.docker.containers.delete(name);
  }

  /** A release that is live, with a secret among its variables. */
  async goLive(environment: Environment, secret: string): Promise<Deployment> {
    const { app, serverId } = this;
    const made = await makeDeployment(app, environment, { status: DeploymentStatus.RUNNING, serverId });
    const variable = { key: 'PASSWORD', value: secret, isSecret: true, scope: VariableScope.RUNTIME };
    const variables = this.#store().sealRelease(made.id, [variable]);
    const change = { variables, status: DeploymentStatus.LIVE, isFinished: true };
    const live = await changeDeployment(app, made, change, 'Live');
    await app.sql('update environment set current_deployment_id = $2 where id = $1', [environment.id, live.id]);
    this.run(containerName(live.id), roleLabels(live, 'app'));
    return live;
  }

  #store(): VariableStore {
    const { masterKey = '', previousMasterKeys } = testConfig({});
    return new VariableStore(this.app.app.database.orm.em, new Keyring(masterKey, previousMasterKeys));
  }
}
