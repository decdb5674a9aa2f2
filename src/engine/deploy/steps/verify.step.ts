import { setTimeout as pause } from 'node:timers/promises';
import { DeploymentPhase } from '../../../entities/deployment.ts';
import { DeployFailure } from '../deploy-failure.ts';
import { DeployCancelled, type DeployStep, type Machine } from '../deploy-step.ts';
import { askHealth, isHealthy, saidOf } from '../health.ts';
import { containerName } from '../names.ts';
import type { Release } from '../release.ts';
import { MEMORY_HINT } from './pre-deploy.step.ts';

/** What does not listen proves itself by going on running for so long. */
const SETTLED_MS = 5000;
const FIRST_WAIT_MS = 100;
const TAIL_LINES = 100;

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
      if (error instanceof DeployFailure) await this.#tellOutput(machine);
      throw error;
    }
  }

  async undo(): Promise<void> {
    // It only looked.
  }

  /** Most answer within a second: they are asked soon and often at first. */
  async #ask(machine: Machine, hostPort: number): Promise<void> {
    const { healthCheck } = this.release.environment;
    const intervalMs = healthCheck.intervalSeconds * 1000;
    const until = performance.now() + healthCheck.retries * intervalMs;
    let said = 'nothing';
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(intervalMs, waitMs * 2)) {
      await this.#refuseEnded(machine);
      const answer = await askHealth(() => machine.host.dial(hostPort), healthCheck);
      if (isHealthy(answer)) {
        await this.release.log.line(`${healthCheck.path} answered ${saidOf(answer)}`);
        return;
      }
      said = saidOf(answer);
      if (performance.now() + waitMs > until) break;
      await this.#pause(waitMs);
    }
    throw new DeployFailure(
      'HEALTH_TIMEOUT',
      `${healthCheck.path} on port ${this.release.deployment.appPort} did not answer well: last ${said}`,
      `It must listen on 0.0.0.0:${this.release.deployment.appPort} and answer with 2xx or 3xx; see build.port and healthCheck.`,
    );
  }

  async #watch(machine: Machine): Promise<void> {
    const until = performance.now() + SETTLED_MS;
    while (performance.now() < until) {
      await this.#refuseEnded(machine);
      await this.#pause(500);
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

  async #pause(ms: number): Promise<void> {
    const { cancelled, leave } = this.release.endings;
    try {
      await pause(ms, undefined, { signal: AbortSignal.any([cancelled, leave]) });
    } catch (error) {
      throw cancelled.aborted ? new DeployCancelled() : error;
    }
  }

  /** What the application said is what helps whoever has to mend it. */
  async #tellOutput({ docker }: Machine): Promise<void> {
    const { log, deployment } = this.release;
    await docker.containerLogs(containerName(deployment.id), {
      tail: TAIL_LINES,
      onOutput: (chunk, from) => log.write(chunk, from),
    });
  }
}
