import { DeploymentPhase } from '../../../entities/deployment.ts';
import { DeployFailure } from '../deploy-failure.ts';
import { DeployCancelled, type DeployStep, type Machine } from '../deploy-step.ts';
import { networkName, preDeployName, roleLabels } from '../names.ts';
import type { Release } from '../release.ts';
import { containerEnvironment } from '../release-container.ts';

const LIMIT_MS = 15 * 60_000;
const STOP_SECONDS = 10;

/** Runs the command that comes before a release, such as migrations, in the new image. Once, whoever takes it up. */
export class PreDeployStep implements DeployStep {
  readonly phase = DeploymentPhase.PRE_DEPLOY;

  constructor(private readonly release: Release) {}

  async hasHappened({ docker }: Machine): Promise<boolean> {
    // What a rollback brings back was prepared when it was first deployed; migrations do not run backwards.
    if (this.release.environment.preDeployCommand === null || this.release.isRollback) return true;
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

  async undo({ docker }: Machine): Promise<void> {
    await docker.removeContainer(this.#name, { volumes: true });
  }

  get #name(): string {
    return preDeployName(this.release.deployment.id);
  }

  async #start({ docker }: Machine): Promise<void> {
    const { deployment, environment } = this.release;
    await docker.ensureNetwork(networkName(environment.id), roleLabels(deployment, 'pre-deploy'));
    await docker.createContainer({
      name: this.#name,
      image: deployment.image ?? '',
      entrypoint: ['sh', '-c'],
      command: [environment.preDeployCommand ?? ''],
      env: containerEnvironment(this.release),
      labels: roleLabels(deployment, 'pre-deploy'),
      network: { name: networkName(environment.id) },
      memoryMb: environment.resources.memoryMb,
      cpus: environment.resources.cpus,
      restart: 'no',
    });
    await docker.startContainer(this.#name);
  }

  async #follow({ docker }: Machine): Promise<void> {
    const { log, endings } = this.release;
    const late = AbortSignal.timeout(LIMIT_MS);
    const signal = AbortSignal.any([endings.cancelled, endings.leave, late]);
    try {
      const onOutput = (chunk: Buffer, from: 'stdout' | 'stderr') => log.write(chunk, from);
      await docker.containerLogs(this.#name, { follow: true, signal, onOutput });
      await docker.waitContainer(this.#name, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      if (endings.leave.aborted) throw error;
      await docker.stopContainer(this.#name, STOP_SECONDS);
      if (endings.cancelled.aborted) throw new DeployCancelled();
      throw new DeployFailure('TIMED_OUT', 'The pre-deploy command took longer than 15 minutes', 'Make it shorter.');
    }
  }
}

export const MEMORY_HINT = 'Give it more memory with resources.memoryMb, or use less.';
