import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { clock } from '../clock.ts';
import { isDatabaseAway } from '../database/availability.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { Run, type RunError, RunStatus, type RunStep } from '../entities/run.ts';
import { DomainError } from '../errors.ts';
import type { RowBell } from '../events/row-bell.ts';
import { transact, type UnitOfWork, workOrigin } from '../events/unit-of-work.ts';
import { DeployFailure } from './deploy/deploy-failure.ts';

export interface Step {
  name: string;
  run(signal: AbortSignal): Promise<string | null>;
}

/** What a step may want of the run it is part of. */
export interface RunProgress {
  /** Somebody wants it to end. A step that can, ends what it began and throws `RunCancelled`. */
  cancelled: AbortSignal;
  /** Says how far the step under way has come. */
  tell(message: string): Promise<void>;
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

/** Somebody asked for it to end, and nothing of it runs any more. */
export class RunCancelled extends Error {
  constructor() {
    super('Cancelled');
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
    private readonly bell?: Pick<RowBell, 'watch'>,
  ) {}

  /** `isLastTry`: whoever worked on it died each time. Then it ends here, for nobody would ever end it later. */
  async perform(runId: string, { signal, isLastTry }: Try, makeSteps: MakeSteps): Promise<void> {
    try {
      const taken = await this.#takeUp(runId);
      if (taken === undefined) return;
      if (isLastTry) await this.#change(taken, run => finish(run, RunStatus.FAILED, GIVEN_UP));
      else await this.#carryThrough(taken, signal, makeSteps);
    } catch (error) {
      if (!(error instanceof RunTakenOver)) throw error;
      this.log.info({ runId }, error.message);
    }
  }

  async #carryThrough(taken: Run, signal: AbortSignal, makeSteps: MakeSteps): Promise<void> {
    const cancel = new AbortController();
    const unwatch = await this.#watchCancel(taken, cancel);
    const tell = (message: string) => this.#tell(taken, message);
    try {
      for (const step of makeSteps(taken, { cancelled: cancel.signal, tell })) {
        const before = taken.steps.find(({ name }) => name === step.name);
        if (before === undefined && cancel.signal.aborted) throw new RunCancelled();
        if (before?.status !== RunStatus.SUCCEEDED) await this.#carryOut(taken, step, signal);
      }
    } catch (error) {
      if (isForAnother(error, signal)) throw error;
      await this.#endBadly(taken, error);
      return;
    } finally {
      unwatch();
    }
    await this.#change(taken, run => finish(run, RunStatus.SUCCEEDED, null));
  }

  async #endBadly(taken: Run, error: unknown): Promise<void> {
    if (error instanceof RunCancelled) {
      await this.#change(taken, run => finish(run, RunStatus.CANCELLED, null));
      return;
    }
    if (!isForeseen(error)) this.log.error({ runId: taken.id, err: error }, 'A run failed');
    const status = error instanceof RunReverted ? RunStatus.REVERTED : RunStatus.FAILED;
    await this.#change(taken, run => finish(run, status, explain(error)));
  }

  /** The wish is a row, the bell only says that there may be one. */
  async #watchCancel({ id }: Run, cancel: AbortController): Promise<() => void> {
    const look = async () => {
      const run = await this.em.fork().findOne(Run, id);
      if (run !== null && run.cancelAskedAt !== null) cancel.abort(new RunCancelled());
    };
    const failed = (err: unknown) => this.log.error({ runId: id, err }, 'Whether a run is cancelled could not be read');
    const unwatch = this.bell?.watch(cancelBell(id), () => void look().catch(failed));
    await look();
    return unwatch ?? (() => undefined);
  }

  async #tell(taken: Run, message: string): Promise<void> {
    await this.#change(taken, run => {
      const step = run.steps.find(({ status }) => status === RunStatus.RUNNING);
      if (step) setStep(run, step.name, RunStatus.RUNNING, message);
    });
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
      const status = error instanceof RunCancelled ? RunStatus.CANCELLED : RunStatus.FAILED;
      await this.#change(taken, run => setStep(run, step.name, status, explain(error).message));
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

/**
 * What a step writes about the thing it works on, in a transaction of its own: a worker that was away too long, whose run somebody
 * else has taken up or ended, writes nothing.
 */
export async function writeDuring<Result>(
  em: EntityManager,
  { id, fence, kind, workspaceId, requestedBy }: Run,
  work: (unit: UnitOfWork, run: Run) => Promise<Result>,
): Promise<Result> {
  return transact(em, originOf({ kind, workspaceId, requestedBy }), async unit => {
    const current = { id, fence, finishedAt: null };
    const run = await unit.em.findOne(Run, current, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (run === null) throw new RunTakenOver();
    return work(unit, run);
  });
}

type MakeSteps = (run: Run, progress: RunProgress) => Step[];

/** Rings when somebody wants a run to end. */
export const cancelBell = (runId: string): string => `cancel run ${runId}`;

/** No fault of the run: it is not ours any more, or has to wait, and whoever takes it up next goes on with it. */
const isForAnother = (error: unknown, signal: AbortSignal): boolean =>
  error instanceof RunTakenOver || signal.aborted || isDatabaseAway(error);

const isForeseen = (error: unknown): error is DomainError | RunReverted | DeployFailure =>
  error instanceof DomainError || error instanceof RunReverted || error instanceof DeployFailure;

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
  if (error instanceof RunCancelled) return { code: 'CANCELLED', message: error.message, hint: null };
  if (error instanceof DeployFailure) return { code: error.code, message: error.message, hint: error.hint };
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

const originOf = ({ kind, workspaceId, requestedBy }: Pick<Run, 'kind' | 'workspaceId' | 'requestedBy'>) =>
  workOrigin(`run ${kind}`, workspaceId, requestedBy);
