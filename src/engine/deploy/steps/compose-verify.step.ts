import { DeploymentPhase } from '../../../entities/deployment.ts';
import type { ContainerState } from '../../../integrations/docker/docker-answers.ts';
import { layOut, type Part } from '../compose/layout.ts';
import { DeployFailure } from '../deploy-failure.ts';
import type { DeployStep, Machine } from '../deploy-step.ts';
import { askHealth, isHealthy, saidOf } from '../health.ts';
import { LABEL } from '../names.ts';
import type { Release } from '../release.ts';
import { healthTimeout, MEMORY_HINT, pauseFor, SETTLED_MS, tellOutput } from '../verification.ts';

const LOOK_MS = 500;
/** Services that wait for each other by failing until they find each other have so long to do so. */
const PATIENCE_MS = 60_000;
const MOST_RESTARTS = 5;

/** Waits until the web service answers and all others go on running, while the release before serves. */
export class ComposeVerifyStep implements DeployStep {
  readonly phase = DeploymentPhase.VERIFYING;

  constructor(private readonly release: Release) {}

  async hasHappened(): Promise<boolean> {
    return false;
  }

  async run(machine: Machine): Promise<void> {
    const parts = await layOut(this.release, this.release.composed(), machine);
    const watched = parts.filter(({ kind }) => kind !== 'JOB');
    const web = parts.find(({ kind }) => kind === 'WEB');
    const { hostPort } = this.release.deployment;
    if (web !== undefined && hostPort !== null) await this.#ask(machine, web, hostPort);
    await this.#settle(machine, watched);
  }

  async undo(): Promise<void> {
    // It only looked.
  }

  /** It may fail and be started anew until what it depends on is there. */
  async #ask(machine: Machine, web: Part, hostPort: number): Promise<void> {
    const { environment, log, endings } = this.release;
    const { healthCheck } = environment;
    let said = 'nothing';
    for (let tries = 1; tries <= healthCheck.retries; tries += 1) {
      const answer = await askHealth(() => machine.host.dial(hostPort), healthCheck);
      if (isHealthy(answer)) return log.line(`${healthCheck.path} answered ${saidOf(answer)}`);
      said = saidOf(answer);
      const state = await machine.docker.inspectContainer(web.container);
      if (state === null || state.restartCount > MOST_RESTARTS) return this.#refuse(machine, web, state);
      if (tries < healthCheck.retries) await pauseFor(endings, healthCheck.intervalSeconds * 1000);
    }
    await tellOutput(this.release, machine, web.container);
    throw healthTimeout(this.release, said);
  }

  /** All of them, for a while, without one that ends. */
  async #settle(machine: Machine, parts: readonly Part[]): Promise<void> {
    const until = performance.now() + PATIENCE_MS;
    let since = performance.now();
    let before = '';
    for (;;) {
      const states = await Promise.all(parts.map(({ container }) => machine.docker.inspectContainer(container)));
      const at = states.findIndex((state, index) => !this.#isSound(parts[index] as Part, state));
      const now = states.map(state => `${state?.id} ${state?.restartCount} ${state?.isRunning}`).join();
      if (at >= 0 || now !== before) since = performance.now();
      before = now;
      if (performance.now() - since >= SETTLED_MS) return;
      if (performance.now() > until) {
        const worst = at >= 0 ? at : states.findIndex(state => (state?.restartCount ?? 0) > 0);
        return this.#refuse(machine, parts[worst] as Part, states[worst] ?? null);
      }
      await pauseFor(this.release.endings, LOOK_MS);
    }
  }

  /** One that is not meant to be started anew may have ended well. */
  #isSound({ service, kind }: Part, state: ContainerState | null): boolean {
    if (state?.isRunning) return state.health !== 'unhealthy';
    return state !== null && kind === 'APP' && service.restart !== 'unless-stopped' && state.exitCode === 0;
  }

  async #refuse(machine: Machine, { service, container }: Part, state: ContainerState | null): Promise<never> {
    if (state === null)
      throw new DeployFailure('START_FAILED', `The service ${service.name} was removed by somebody else`);
    await tellOutput(this.release, machine, container);
    if (state.isOutOfMemory)
      throw new DeployFailure('OUT_OF_MEMORY', `The service ${service.name} ran out of memory`, MEMORY_HINT);
    const isMade = state.labels[LABEL.madeBy] === undefined ? '' : ' (its data are as they were)';
    const hint = `Its last output is in the log above${isMade}; one that is meant to end needs restart: "no".`;
    const how = state.isRunning ? 'does not become healthy' : `ends by itself, with exit code ${state.exitCode}`;
    throw new DeployFailure('START_FAILED', `The service ${service.name} ${how}`, hint);
  }
}
