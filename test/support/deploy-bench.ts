import { gatherCompose } from '../../src/engine/compose/compose-files.ts';
import { BuilderKind } from '../../src/entities/build.ts';
import { type Deployment, DeploymentPhase, DeploymentStatus } from '../../src/entities/deployment.ts';
import type { Environment } from '../../src/entities/environment.ts';
import { VariableScope } from '../../src/entities/variable.ts';
import { Keyring } from '../../src/security/keyring.ts';
import { VariableStore } from '../../src/services/variable-store.ts';
import { type Person, TestApp } from './create-app.ts';
import { DeployMachine } from './deploy-machine.ts';
import { changeDeployment, makeDeployment, makeEnvironment } from './deployments.ts';
import { eventually } from './eventually.ts';
import { MemorySnapshot } from './memory-snapshot.ts';
import { changeIn } from './runs.ts';
import { testConfig } from './settings.ts';
import { stillClock } from './still-clock.ts';

const PATIENCE_MS = 60_000;

interface DeploymentAnswer {
  id: string;
  status: string;
  phase: string | null;
  isFinished: boolean;
  error: { code: string; message: string; hint: string | null } | null;
}

interface DeploymentRow {
  status: string;
  image: string | null;
  hasLeftovers: boolean;
  hostPort: number | null;
}

/** Deployments that the engine takes up behind their builds, as after a crash, on servers that pretend. */
export class DeployBench {
  readonly #machines: DeployMachine[] = [];

  private constructor(
    readonly app: TestApp,
    readonly ann: Person,
  ) {}

  static async start(): Promise<DeployBench> {
    const app = await TestApp.start();
    // What the clock does between two lines of a test is not what it is about.
    await stillClock(app, ['apps.watch', 'deployments.sweep']);
    return new DeployBench(app, await app.register());
  }

  async stop(): Promise<void> {
    await this.app.stop();
    for (const machine of this.#machines) await machine.stop();
  }

  /** A server that is ready. */
  async server(): Promise<{ machine: DeployMachine; serverId: string }> {
    const machine = await DeployMachine.start();
    this.#machines.push(machine);
    const body = { name: `web ${this.#machines.length}`, ...machine.place };
    const { token } = this.ann;
    const { id } = (await this.app.rest<{ id: string }>('POST', '/servers', { token, body })).body;
    const read = () => this.app.rest<{ status: string }>('GET', `/servers/${id}`, { token });
    await eventually(async () => (await read()).body.status === 'READY', PATIENCE_MS);
    return { machine, serverId: id };
  }

  environment(serverId: string, some: Partial<Environment> = {}): Promise<Environment> {
    return makeEnvironment(this.app, this.ann, { serverId, ...some });
  }

  /** One that was left when its image was there; `labels` are the image's. */
  async left(
    environment: Environment,
    { docker }: DeployMachine,
    { labels = {}, secret, ...some }: Partial<Deployment> & { labels?: Record<string, string>; secret?: string } = {},
  ): Promise<Deployment> {
    const status = DeploymentStatus.RUNNING;
    const begun = { status, phase: DeploymentPhase.BUILDING, startedAt: new Date(), buildKey: 'k', appPort: 3000 };
    const made = await makeDeployment(this.app, environment, { ...begun, builder: BuilderKind.DOCKERFILE, ...some });
    const image = `slipway/${environment.id}:${made.id}`;
    docker.images.set(image, { ...labels, 'slipway.environment': environment.id });
    const variables = this.#sealed(made.id, secret);
    return changeDeployment(this.app, made, { image, variables }, 'Building');
  }

  /** The same of a compose file, whose images are there. */
  async leftCompose(environment: Environment, machine: DeployMachine, text: string): Promise<Deployment> {
    const made = await this.left(environment, machine, { builder: BuilderKind.COMPOSE });
    const told = { variables: {}, secrets: new Set<string>(), port: null };
    const files = await gatherCompose(new MemorySnapshot({ 'compose.yaml': text }), 'compose.yaml', told);
    const composition = this.#store().sealComposition(made.id, JSON.stringify({ files, built: {} }));
    return changeDeployment(this.app, made, { composition }, 'Building');
  }

  /** Taken up, to its end. */
  async finish({ id, environmentId }: Deployment): Promise<DeploymentAnswer> {
    const { queue } = this.app.app;
    await changeIn(this.app, this.ann.workspaceId, unit =>
      queue.enqueue(unit, 'environment.deploy', { environmentId }, { lane: environmentId }),
    );
    return eventually(async () => {
      const { body } = await this.read<DeploymentAnswer>(`/environments/${environmentId}/deployments/${id}`);
      return body.isFinished && body;
    }, PATIENCE_MS);
  }

  read<Body>(path: string) {
    return this.app.rest<Body>('GET', path, { token: this.ann.token });
  }

  /** As the clock does it every minute, but now. */
  async clock(job: 'deployments.sweep' | 'apps.watch'): Promise<void> {
    const { boss } = this.app.app.queue;
    const id = (await boss.send(job, {})) ?? '';
    await eventually(async () => (await boss.findJobs(job, { id }))[0]?.state === 'completed', PATIENCE_MS);
  }

  async row({ id }: Pick<Deployment, 'id'>): Promise<DeploymentRow | undefined> {
    const columns = 'status, image, has_leftovers as "hasLeftovers", host_port as "hostPort"';
    return (await this.app.sql<DeploymentRow>(`select ${columns} from deployment where id = $1`, [id]))[0];
  }

  #sealed(deploymentId: string, secret = 'a secret value') {
    const variable = { key: 'PASSWORD', value: secret, isSecret: true, scope: VariableScope.RUNTIME };
    return this.#store().sealRelease(deploymentId, [variable]);
  }

  #store(): VariableStore {
    const { masterKey = '', previousMasterKeys } = testConfig({});
    return new VariableStore(this.app.app.database.orm.em, new Keyring(masterKey, previousMasterKeys));
  }
}
