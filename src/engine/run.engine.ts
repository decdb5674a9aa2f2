import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { clock } from '../clock.ts';
import { isDatabaseAway } from '../database/availability.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { Run, type RunError, RunStatus, type RunStep } from '../entities/run.ts';
import { DomainError } from '../errors.ts';
import { transact, workOrigin } from '../events/unit-of-work.ts';

export interface Step {
  name: string;
  run(signal: AbortSignal): Promise<string | null>;
}

export interface Try {
  signal: AbortSignal;
  isLastTry: boolean;
}

interface Log {
  info(context: object, message: string): void;
  error(context: object, message: string): void;
}

/** A run that somebody else took over, or that ended meanwhile: whoever still works on it has to stop. */
export class RunTakenOver extends Error {
  constructor() {
    super('The run was taken over or has ended; this worker stops');
  }
}

/** What was done was taken back: the run has ended, and everything is as it was before. */
export class RunReverted extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Carries a run through its steps and tells each change as it becomes true. Taking it up gives a new fence;
 * a worker that was away too long finds its own fence outdated and writes nothing more.
 */
export class RunEngine {
  constructor(
    private readonly em: EntityManager,
    private readonly log: Log,
  ) {}

  /** `isLastTry`: whoever worked on it died each time. Then it ends here, for nobody would ever end it later. */
  async perform(runId: string, { signal, isLastTry }: Try, makeSteps: (run: Run) => Step[]): Promise<void> {
    try {
      const taken = await this.#takeUp(runId);
      if (taken === undefined) return;
      if (isLastTry) await this.#change(taken, run => finish(run, RunStatus.FAILED, GIVEN_UP));
      else await this.#carryThrough(taken, signal, makeSteps(taken));
    } catch (error) {
      if (!(error instanceof RunTakenOver)) throw error;
      this.log.info({ runId }, error.message);
    }
  }

  async #carryThrough(taken: Run, signal: AbortSignal, steps: Step[]): Promise<void> {
    const done = new Set(taken.steps.filter(({ status }) => status === RunStatus.SUCCEEDED).map(({ name }) => name));
    try {
      for (const step of steps) if (!done.has(step.name)) await this.#carryOut(taken, step, signal);
    } catch (error) {
      if (isForAnother(error, signal)) throw error;
      if (!isForeseen(error)) this.log.error({ runId: taken.id, err: error }, 'A run failed');
      const status = error instanceof RunReverted ? RunStatus.REVERTED : RunStatus.FAILED;
      await this.#change(taken, run => finish(run, status, explain(error)));
      return;
    }
    await this.#change(taken, run => finish(run, RunStatus.SUCCEEDED, null));
  }

  async #takeUp(runId: string): Promise<Run | undefined> {
    const run = await this.em.fork().findOne(Run, runId);
    if (run === null || run.finishedAt !== null) return undefined;
    return this.#change(run, current => {
      current.fence += 1;
      current.status = RunStatus.RUNNING;
      current.startedAt ??= clock.now();
    });
  }

  async #carryOut(taken: Run, step: Step, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await this.#change(taken, run => setStep(run, step.name, RunStatus.RUNNING, null));
    try {
      const message = await step.run(signal);
      await this.#change(taken, run => setStep(run, step.name, RunStatus.SUCCEEDED, message));
    } catch (error) {
      if (isForAnother(error, signal)) throw error;
      await this.#change(taken, run => setStep(run, step.name, RunStatus.FAILED, explain(error).message));
      throw error;
    }
  }

  async #change(held: Run, change: (run: Run) => void): Promise<Run> {
    return transact(this.em, originOf(held), async unit => {
      await unit.hasten();
      const run = await unit.em.findOne(
        Run,
        { id: held.id, fence: held.fence, finishedAt: null },
        { lockMode: LockMode.PESSIMISTIC_WRITE },
      );
      if (run === null) throw new RunTakenOver();
      change(run);
      unit.tell(EventKind.run_updated, EventAction.UPDATED, run);
      return run;
    });
  }
}

/** No fault of the run: it is not ours any more, or has to wait, and whoever takes it up next goes on with it. */
const isForAnother = (error: unknown, signal: AbortSignal): boolean =>
  error instanceof RunTakenOver || signal.aborted || isDatabaseAway(error);

const isForeseen = (error: unknown): error is DomainError | RunReverted =>
  error instanceof DomainError || error instanceof RunReverted;

function setStep(run: Run, name: string, status: RunStatus, message: string | null): void {
  const now = clock.now().toISOString();
  const before = run.steps.find(step => step.name === name);
  const finishedAt = status === RunStatus.RUNNING ? null : now;
  const step: RunStep = { name, status, message, startedAt: before?.startedAt ?? now, finishedAt };
  run.steps = before ? run.steps.map(each => (each === before ? step : each)) : [...run.steps, step];
}

function finish(run: Run, status: RunStatus, error: RunError | null): void {
  Object.assign(run, { status, error, finishedAt: clock.now() });
}

/** What we foresaw is told; the rest is in the log of the worker, under the run's id. */
function explain(error: unknown): RunError {
  if (isForeseen(error)) return { code: error.code, message: error.message, hint: null };
  return {
    code: 'INTERNAL',
    message: 'Something went wrong on our side',
    hint: 'The log of the service has the details',
  };
}

const GIVEN_UP: RunError = {
  code: 'INTERNAL',
  message: 'The service stopped each time it worked on this',
  hint: 'The log of the service has the details; try again once they are mended',
};

const originOf = (run: Run) => workOrigin(`run ${run.kind}`, run.workspaceId, run.requestedBy);
