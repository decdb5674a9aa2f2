import { DeploymentPhase } from '../../../entities/deployment.ts';
import type { DeployStep, Machine } from '../deploy-step.ts';
import { startListening } from '../host-port.ts';
import { containerName, environmentLabels, networkName } from '../names.ts';
import type { Release } from '../release.ts';
import { releaseContainer } from '../release-container.ts';
import { startFailure } from '../start-failure.ts';

/** Starts the new release beside the old one. */
export class StartStep implements DeployStep {
  readonly phase = DeploymentPhase.STARTING;

  constructor(private readonly release: Release) {}

  async hasHappened({ docker }: Machine): Promise<boolean> {
    const state = await docker.inspectContainer(this.#name);
    return state !== null && state.startedAt !== null;
  }

  async run(machine: Machine): Promise<void> {
    const { environment, deployment, log } = this.release;
    await machine.docker.ensureNetwork(networkName(environment.id), environmentLabels(environment.id));
    if (deployment.appPort !== null) await machine.proxy.ensure();
    else await log.line('No port is known, so it is not reachable from outside; set build.port if it listens');
    try {
      await startListening(this.release, machine, {
        start: () => this.#start(machine),
        remove: () => machine.docker.removeContainer(this.#name, { volumes: true }),
      });
    } catch (error) {
      throw startFailure(error, 'The release');
    }
  }

  async undo({ docker }: Machine): Promise<void> {
    await docker.removeContainer(this.#name, { volumes: true });
  }

  get #name(): string {
    return containerName(this.release.deployment.id);
  }

  async #start({ docker }: Machine): Promise<void> {
    await docker.createContainer(releaseContainer(this.release));
    await docker.startContainer(this.#name);
  }
}
