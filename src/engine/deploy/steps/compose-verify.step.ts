import { DeploymentPhase } from '../../../entities/deployment.ts';
import type { ContainerState } from '../../../integrations/docker/docker-answers.ts';
import { layOut, type Part } from '../compose/layout.ts';
import { DeployFailure } from '../deploy-failure.ts';
import type { DeployStep, Machine } from '../deploy-step.ts';
import { LABEL } from '../names.ts';
import type { Release } from '../release.ts';
import { askOften, healthTimeout, MEMORY_HINT, pauseFor, SETTLED_MS, tellOutput } from '../verification.ts';

const LOOK_MS = 500;
/** Services that wait for each other by failing until they find each other have so long to do so. */
const PATIENCE_MS = 60_000;
/** Docker waits longer before each one: so many take half a minute. */
const MOST_RESTARTS = 8;
const MOST_TOLD = 5;

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
    if (web !== undefined && hostPort !== null) await this.#ask(machine, web, hostPort, watched);
    await this.#settle(machine, watched);
  }

  async undo(): Promise<void> {
    // It only looked.
  }

  /** It may fail and be started anew until what it depends on is there. */
  async #ask(machine: Machine, web: Part, hostPort: number, parts: readonly Part[]): Promise<void> {
    const said = await askOften(this.release, machine, hostPort, async () => {
      const state = await machine.docker.inspectContainer(web.container);
      if (isHopeless(state)) await this.#blame(machine, parts);
    });
    if (said === null) return;
    await this.#blame(machine, parts);
    await tellOutput(this.release, machine, web.container);
    throw healthTimeout(this.release, said);
  }

  /** All of them, for a while, without one that ends. */
  async #settle(machine: Machine, parts: readonly Part[]): Promise<void> {
    const until = performance.now() + PATIENCE_MS;
    let since = performance.now();
    let before = '';
    for (;;) {
      const states = await statesOf(machine, parts);
      const now = states.map(({ state }) => `${state?.id} ${state?.restartCount} ${state?.isRunning}`).join();
      if (now !== before || states.some(each => !isSound(each))) since = performance.now();
      before = now;
      if (performance.now() - since >= SETTLED_MS) return;
      if (performance.now() > until || states.some(each => !isSound(each) && isHopeless(each.state))) {
        await this.#blame(machine, parts);
        throw new DeployFailure(
          'START_FAILED',
          'Its services do not come to rest: one ends and is started over and over',
        );
      }
      await pauseFor(this.release.endings, LOOK_MS);
    }
  }

  /** Says what those that do not run have said, and names the first: the others may only miss that one. */
  async #blame(machine: Machine, parts: readonly Part[]): Promise<void> {
    const { id } = this.release.deployment;
    const states = await statesOf(machine, parts);
    const unsound = states.filter(each => !isSound(each) || isStartedAnew(each, id));
    const [first] = unsound;
    if (first === undefined) return;
    for (const { part, state } of unsound.slice(0, MOST_TOLD)) {
      await this.release.log.line(`The service ${part.service.name} said last:`);
      if (state !== null) await tellOutput(this.release, machine, part.container);
      await this.release.log.flush();
    }
    throw endFailure(first);
  }
}

interface PartState {
  part: Part;
  state: ContainerState | null;
}

async function statesOf({ docker }: Machine, parts: readonly Part[]): Promise<PartState[]> {
  return Promise.all(parts.map(async part => ({ part, state: await docker.inspectContainer(part.container) })));
}

/** One that is not meant to be started anew may have ended well. */
function isSound({ part, state }: PartState): boolean {
  if (state?.isRunning) return state.health !== 'unhealthy';
  return state !== null && part.kind === 'APP' && part.service.restart !== 'unless-stopped' && state.exitCode === 0;
}

/** Gone, ended too often, or a program that is not there or cannot be run. */
const isHopeless = (state: ContainerState | null): boolean =>
  state === null || state.restartCount > MOST_RESTARTS || (!state.isRunning && [126, 127].includes(state.exitCode));

/** What runs for longer than this deployment may have been so for reasons of long ago. */
const isStartedAnew = ({ part, state }: PartState, deploymentId: string): boolean =>
  (state?.restartCount ?? 0) > 0 && (part.kind !== 'KEPT' || state?.labels[LABEL.madeBy] === deploymentId);

function endFailure({ part: { service }, state }: PartState): DeployFailure {
  if (state === null)
    return new DeployFailure('START_FAILED', `The service ${service.name} was removed by somebody else`);
  if (state.isOutOfMemory)
    return new DeployFailure('OUT_OF_MEMORY', `The service ${service.name} ran out of memory`, MEMORY_HINT);
  const how = state.health === 'unhealthy' ? 'is not healthy' : `ended by itself, with exit code ${state.exitCode}`;
  const hint = 'Its last output is in the log above. One that is meant to end needs restart: "no" in the compose file.';
  return new DeployFailure('START_FAILED', `The service ${service.name} ${how}`, hint);
}
