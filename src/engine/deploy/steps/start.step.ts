import { Deployment, DeploymentPhase } from '../../../entities/deployment.ts';
import { DockerFault } from '../../../integrations/docker/docker-fault.ts';
import { DeployFailure } from '../deploy-failure.ts';
import type { DeployStep, Machine } from '../deploy-step.ts';
import { containerName, environmentLabels, networkName } from '../names.ts';
import type { Release } from '../release.ts';
import { releaseContainer } from '../release-container.ts';
import { freePort } from '../server-ports.ts';

/** Below what Linux gives to outgoing connections (32768 and up), above what services use. */
const LOWEST_PORT = 20_000;
const HIGHEST_PORT = 28_999;
const TRIES = 5;

/** Starts the new release beside the old one. */
export class StartStep implements DeployStep {
  readonly phase = DeploymentPhase.STARTING;

  constructor(private readonly release: Release) {}

  async hasHappened({ docker }: Machine): Promise<boolean> {
    const state = await docker.inspectContainer(this.#name);
    return state !== null && state.startedAt !== null;
  }

  async run(machine: Machine): Promise<void> {
    const { environment, deployment } = this.release;
    await machine.docker.ensureNetwork(networkName(environment.id), environmentLabels(environment.id));
    if (deployment.appPort !== null) await machine.proxy.ensure();
    else
      await this.release.log.line(
        'No port is known, so it is not reachable from outside; set build.port if it listens',
      );
    for (let tries = 1; ; tries += 1) {
      try {
        await this.#start(machine, tries > 1);
        return;
      } catch (error) {
        await machine.docker.removeContainer(this.#name, { volumes: true });
        if (isPortTaken(error) && tries < TRIES) continue;
        throw asFailure(error);
      }
    }
  }

  async undo({ docker }: Machine): Promise<void> {
    await docker.removeContainer(this.#name, { volumes: true });
  }

  get #name(): string {
    return containerName(this.release.deployment.id);
  }

  async #start(machine: Machine, needsAnotherPort: boolean): Promise<void> {
    const { appPort, hostPort } = this.release.deployment;
    if (appPort !== null && (hostPort === null || needsAnotherPort)) await this.#takePort(machine);
    await machine.docker.createContainer(releaseContainer(this.release));
    await machine.docker.startContainer(this.#name);
  }

  /** Written down before it is used: whoever takes the deployment up finds the same. */
  async #takePort({ host }: Machine): Promise<void> {
    const { em, record, server } = this.release;
    const there = await em.fork().find(Deployment, { serverId: server.id, hostPort: { $ne: null } });
    const taken = new Set(there.flatMap(each => each.hostPort ?? []));
    const hostPort = await freePort(host, { from: LOWEST_PORT, to: HIGHEST_PORT, taken });
    if (hostPort === null) throw new DeployFailure('START_FAILED', 'The server has no port left');
    await record.change(deployment => void Object.assign(deployment, { hostPort }));
  }
}

const isPortTaken = (error: unknown): boolean =>
  error instanceof DockerFault && /port is already allocated|address already in use/.test(error.message);

function asFailure(error: unknown): unknown {
  if (!(error instanceof DockerFault)) return error;
  if (/no space left on device/i.test(error.message))
    return new DeployFailure('OUT_OF_DISK', 'The disk of the server is full', 'Free space on the server.');
  const hint = 'Check the start command and the image; the release before still serves.';
  return new DeployFailure('START_FAILED', `The release could not be started: ${error.message}`, hint);
}
