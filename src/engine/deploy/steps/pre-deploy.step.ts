import { DeploymentPhase, DeploymentStatus } from '../../../entities/deployment.ts';
import { wholeOutput } from '../../../integrations/docker/whole-output.ts';
import { ensureVolumes } from '../compose/ensure-volumes.ts';
import { DeployFailure } from '../deploy-failure.ts';
import { DeployCancelled, type DeployStep, type Machine } from '../deploy-step.ts';
import { environmentLabels, networkName, preDeployName } from '../names.ts';
import { preDeployContainer } from '../pre-deploy-container.ts';
import type { Release } from '../release.ts';
import { MEMORY_HINT } from '../verification.ts';

const LIMIT_MS = 15 * 60_000;
const STOP_SECONDS = 10;

/** Runs the command that comes before a release, such as migrations, in the new image. Once, whoever takes it up. */
export class PreDeployStep implements DeployStep {
  readonly phase = DeploymentPhase.PRE_DEPLOY;

  constructor(private readonly release: Release) {}

  async hasHappened({ docker }: Machine): Promise<boolean> {
    if (!this.release.runsPreDeploy || this.release.deployment.status === DeploymentStatus.LIVE) return true;
    const state = await docker.inspectContainer(this.#name);
    return state !== null && state.startedAt !== null && !state.isRunning && state.exitCode === 0;
  }

  async run(machine: Machine): Promise<void> {
    const { docker } = machine;
    const before = await docker.inspectContainer(this.#name);
    if (before?.startedAt == null) await this.#start(machine);
    else await this.release.log.passOver(this.phase);
    await this.#follow(machine);
    const state = await docker.inspectContainer(this.#name);
    if (state?.isOutOfMemory)
      throw new DeployFailure('OUT_OF_MEMORY', 'The pre-deploy command ran out of memory', MEMORY_HINT);
    if (state?.exitCode === 0) return;
    throw new DeployFailure(
      'PRE_DEPLOY_FAILED',
      `The pre-deploy command ended with ${state?.exitCode ?? 'no exit code'}`,
      'Its output is in the log above; the release before still serves.',
    );
  }

  /** It is the first that needs the environment's network, so it is taken back as the last: the network goes with the last container. */
  async undo({ docker }: Machine): Promise<void> {
    const { id } = this.release.environment;
    await docker.removeContainer(this.#name, { volumes: true });
    if ((await docker.containers(environmentLabels(id))).length === 0) await docker.removeNetwork(networkName(id));
  }

  get #name(): string {
    return preDeployName(this.release.deployment.id);
  }

  async #start(machine: Machine): Promise<void> {
    const { environment } = this.release;
    const { docker } = machine;
    await docker.ensureNetwork(networkName(environment.id), environmentLabels(environment.id));
    const spec = await preDeployContainer(this.release, machine);
    await ensureVolumes(docker, this.release, spec);
    await docker.createContainer(spec);
    if (spec.network?.name !== networkName(environment.id))
      await docker.connectNetwork(networkName(environment.id), this.#name, []);
    await docker.startContainer(this.#name);
  }

  async #follow({ docker }: Machine): Promise<void> {
    const { log, endings } = this.release;
    const late = AbortSignal.timeout(LIMIT_MS);
    const signal = AbortSignal.any([endings.cancelled, endings.leave, late]);
    try {
      const onOutput = (chunk: Buffer, from: 'stdout' | 'stderr') => log.write(chunk, from);
      await wholeOutput(docker, this.#name, { signal, onOutput });
    } catch (error) {
      if (!signal.aborted) throw error;
      if (endings.leave.aborted) throw error;
      await docker.stopContainer(this.#name, STOP_SECONDS);
      if (endings.cancelled.aborted) throw new DeployCancelled();
      throw new DeployFailure('TIMED_OUT', 'The pre-deploy command took longer than 15 minutes', 'Make it shorter.');
    }
  }
}
