import { DeploymentPhase } from '../../../entities/deployment.ts';
import { DeployFailure } from '../deploy-failure.ts';
import type { DeployStep, Machine } from '../deploy-step.ts';
import { containerName } from '../names.ts';
import type { Release } from '../release.ts';
import { askOften, healthTimeout, MEMORY_HINT, pauseFor, SETTLED_MS, tellOutput } from '../verification.ts';

/** Waits until the new release answers, while the old one serves. */
export class VerifyStep implements DeployStep {
  readonly phase = DeploymentPhase.VERIFYING;

  constructor(private readonly release: Release) {}

  /** Asking again harms nobody, and the answer may have changed. */
  async hasHappened(): Promise<boolean> {
    return false;
  }

  async run(machine: Machine): Promise<void> {
    try {
      if (this.release.deployment.hostPort === null) await this.#watch(machine);
      else await this.#ask(machine, this.release.deployment.hostPort);
    } catch (error) {
      if (error instanceof DeployFailure)
        await tellOutput(this.release, machine, containerName(this.release.deployment.id));
      throw error;
    }
  }

  async undo(): Promise<void> {
    // It only looked.
  }

  async #ask(machine: Machine, hostPort: number): Promise<void> {
    const said = await askOften(this.release, machine, hostPort, () => this.#refuseEnded(machine));
    if (said !== null) throw healthTimeout(this.release, said);
  }

  async #watch(machine: Machine): Promise<void> {
    const until = performance.now() + SETTLED_MS;
    while (performance.now() < until) {
      await this.#refuseEnded(machine);
      await pauseFor(this.release.endings, 500);
    }
    await this.#refuseEnded(machine);
  }

  /** One that was started anew by Docker has ended before. */
  async #refuseEnded({ docker }: Machine): Promise<void> {
    const state = await docker.inspectContainer(containerName(this.release.deployment.id));
    if (state === null) throw new DeployFailure('START_FAILED', 'Its container was removed by somebody else');
    if (state.isRunning && !state.isRestarting && state.restartCount === 0) return;
    if (state.isOutOfMemory)
      throw new DeployFailure('OUT_OF_MEMORY', 'The release ran out of memory while it started', MEMORY_HINT);
    const hint = 'Its last output is in the log above; check the start command and the variables it needs.';
    throw new DeployFailure('START_FAILED', `The release ended by itself, with exit code ${state.exitCode}`, hint);
  }
}
