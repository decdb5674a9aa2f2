import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { AnalysisFailure } from '../analysis/analysis-failure.ts';
import type { AnalysisResult } from '../analysis/analysis-result.ts';
import type { AnalysisStep } from '../analysis/analyze.ts';
import { clock } from '../clock.ts';
import { isDatabaseAway } from '../database/availability.ts';
import {
  Analysis,
  type AnalysisError,
  type AnalysisProgress,
  AnalysisResultType,
  AnalysisStatus,
} from '../entities/analysis.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { Project, ProjectStatus } from '../entities/project.ts';
import { DomainError } from '../errors.ts';
import { ringRows } from '../events/row-bell.ts';
import { transact, type UnitOfWork, workOrigin } from '../events/unit-of-work.ts';
import type { Checkout } from './git-checkouts.ts';
import type { Try } from './run.engine.ts';

type Fetch = (project: Project, signal: AbortSignal) => Promise<Checkout>;

/** What is told while it goes on, and how far that is. */
const STEPS: Readonly<Record<string, [message: string, progress: number]>> = {
  FETCHING: ['Fetching the repository', 5],
  LISTING: ['Listing its files', 40],
  DETECTING: ['Looking for languages and frameworks', 55],
  APPS: ['Looking for more applications', 65],
  SERVICES: ['Looking for services it needs', 75],
  VARIABLES: ['Looking for variables it reads', 85],
};

class TakenOver extends Error {}

/** Carries an analysis out and writes down every step as it is taken. */
export class AnalysisEngine {
  constructor(
    private readonly em: EntityManager,
    private readonly fetch: Fetch,
  ) {}

  /** `isLastTry`: whoever worked on it died each time. Then it ends here, for nobody would ever end it later. */
  async perform(analysisId: string, { signal, isLastTry }: Try): Promise<void> {
    try {
      const taken = await this.#takeUp(analysisId);
      if (taken === undefined) return;
      if (isLastTry) await this.#fail(taken, GIVEN_UP);
      else await this.#carryThrough(taken, signal);
    } catch (error) {
      // Not ours any more: somebody else has it, or its project is gone.
      if (!(error instanceof TakenOver)) throw error;
    }
  }

  async #carryThrough(taken: Analysis, signal: AbortSignal): Promise<void> {
    try {
      await this.#analyze(taken, signal);
    } catch (error) {
      if (error instanceof TakenOver || signal.aborted || isDatabaseAway(error)) throw error;
      await this.#fail(taken, explain(error));
      if (!isForeseen(error)) throw error;
    }
  }

  #fail(taken: Analysis, error: AnalysisError): Promise<void> {
    return this.#finish(taken, AnalysisStatus.FAILED, run => {
      run.error = error;
    });
  }

  async #analyze(taken: Analysis, signal: AbortSignal): Promise<void> {
    const project = await this.em.fork().findOneOrFail(Project, taken.projectId);
    if (project.analysisId !== taken.id)
      throw new DomainError('CONFLICT', 'Another analysis of this project was asked for meanwhile');
    await this.#tell(taken, 'FETCHING');
    const checkout = await this.fetch(project, signal);
    try {
      const result = await this.#look(taken, project, checkout);
      await this.#finish(taken, AnalysisStatus.SUCCEEDED, run => {
        run.commit = checkout.commit;
        run.result = Object.assign(new AnalysisResultType(), storable(result));
      });
    } finally {
      await checkout.dispose();
    }
  }

  /** The rules do not wait for what is written of them, but it is written in their order, and before what comes of them. */
  async #look(taken: Analysis, project: Project, { snapshot }: Checkout): Promise<AnalysisResult> {
    let told = Promise.resolve();
    const onStep = (step: AnalysisStep) => {
      if (step === 'DONE') return;
      told = told.then(() => this.#tell(taken, step));
      // Awaited below; until then a refusal to write, such as of a deleted project, must not end the process.
      told.catch(() => undefined);
    };
    const { slug: name, rootDirectory, id: cacheScope } = project;
    try {
      const { analyzeSnapshot } = await import('../analysis/analyze.ts');
      return await analyzeSnapshot(snapshot, { name, rootDirectory, cacheScope, onStep });
    } finally {
      await told;
    }
  }

  async #takeUp(id: string): Promise<Analysis | undefined> {
    const analysis = await this.em.fork().findOne(Analysis, id);
    if (analysis === null || analysis.finishedAt !== null) return undefined;
    return this.#change(analysis, async run => {
      run.fence += 1;
      run.status = AnalysisStatus.RUNNING;
      run.startedAt ??= clock.now();
    });
  }

  async #tell(taken: Analysis, step: string): Promise<void> {
    const [message, progress] = STEPS[step] ?? [step, 90];
    await this.#change(taken, async run =>
      addStep(run, { status: AnalysisStatus.RUNNING, step, message, progress, result: null }),
    );
  }

  async #finish(taken: Analysis, status: AnalysisStatus, complete: (run: Analysis) => void): Promise<void> {
    await this.#change(taken, async (run, unit) => {
      complete(run);
      Object.assign(run, { status, finishedAt: clock.now() });
      const message = run.error?.message ?? 'Done';
      addStep(run, { status, step: 'DONE', message, progress: 100, result: run.result });
      await settleProject(unit, run);
    });
  }

  async #change(held: Analysis, change: (run: Analysis, unit: UnitOfWork) => Promise<void>): Promise<Analysis> {
    return transact(this.em, originOf(held), async unit => {
      await unit.hasten();
      const where = { id: held.id, fence: held.fence, finishedAt: null };
      const run = await unit.em.findOne(Analysis, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
      if (run === null) throw new TakenOver('The analysis was taken over or has ended; this worker stops');
      await change(run, unit);
      await ringRows(unit.em, `analysis:${run.id}`);
      return run;
    });
  }
}

/** The messages' result would double what the row holds; the stream lays it in when it reads. */
function addStep(run: Analysis, step: Omit<AnalysisProgress, 'seq' | 'at'>): void {
  run.steps = [...run.steps, { ...step, result: null, seq: run.steps.length + 1, at: clock.now().toISOString() }];
}

/** A repository may hold what JSON can say and the database cannot keep: NUL, and halves of characters. */
const storable = <Value extends object>(value: Value): Value =>
  JSON.parse(JSON.stringify(value), (_, part: unknown) =>
    typeof part === 'string' ? part.replaceAll('\0', '').toWellFormed() : part,
  ) as Value;

/** A project in use stays READY whatever a later look says. */
async function settleProject(unit: UnitOfWork, run: Analysis): Promise<void> {
  const project = await unit.em.findOne(Project, run.projectId, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (project === null || project.analysisId !== run.id) return;
  if (project.status === ProjectStatus.ANALYZING) {
    project.status = run.status === AnalysisStatus.SUCCEEDED ? ProjectStatus.ANALYZED : ProjectStatus.ANALYSIS_FAILED;
  }
  unit.tell(EventKind.project_updated, EventAction.UPDATED, project, project.id);
}

const isForeseen = (error: unknown): boolean => error instanceof AnalysisFailure || error instanceof DomainError;

function explain(error: unknown): AnalysisError {
  if (error instanceof AnalysisFailure) return { code: error.code, message: error.message, hint: error.hint };
  if (error instanceof DomainError)
    return { code: error.code, message: error.message, hint: HINTS[error.code] ?? 'Mend it and analyse again.' };
  return {
    code: 'INTERNAL',
    message: 'Something went wrong on our side',
    hint: 'Analyse again; the log of the service has the details.',
  };
}

const GIVEN_UP: AnalysisError = {
  code: 'INTERNAL',
  message: 'The service stopped each time it worked on this',
  hint: 'The log of the service has the details; analyse again once they are mended.',
};

const HINTS: Readonly<Record<string, string>> = {
  REPOSITORY_NOT_FOUND: 'Check the name of the repository and the branch, and that the account may see it.',
  TOKEN_REJECTED: 'Connect the Git account again with a token that may read the repository.',
  UPSTREAM_FAILED: 'The provider is away or asks us to wait; analyse again later.',
  BRANCH_NOT_FOUND: 'Choose a branch that exists.',
  REPOSITORY_TOO_LARGE: 'Keep large files out of the repository, or at a server that can leave them out of a clone.',
  CONFLICT: 'Look at the later analysis.',
  BAD_INPUT: 'Correct the address of the repository.',
  NOT_FOUND: 'Connect the Git account again.',
};

const originOf = ({ workspaceId }: Analysis) => workOrigin('analysis', workspaceId);
