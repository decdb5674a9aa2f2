import { AnalysisFailure } from '../analysis/analysis-failure.ts';
import type { AnalysisResult } from '../analysis/analysis-result.ts';
import type { AnalysisOptions } from '../analysis/analyze.ts';
import type { Row, Rows } from '../database/rows.ts';
import type { Checkout } from '../engine/git-checkouts.ts';
import { Analysis, type AnalysisProgress, AnalysisStatus } from '../entities/analysis.ts';
import { Project } from '../entities/project.ts';
import { DomainError, Invalid, NotFound } from '../errors.ts';
import type { RowBell } from '../events/row-bell.ts';
import { StoredStream, type StreamItem, type StreamSource } from '../events/stored-stream.ts';
import type { GitAccessService } from './git-access.service.ts';
import type { Scope } from './scope.ts';

export interface RepositoryWish {
  repository: string;
  gitProviderId?: string | null;
  branch?: string | null;
  rootDirectory?: string | null;
}

const AT_ONCE = 2;

/** Looks at repositories, and at the looks that were taken. */
export class AnalysisService {
  #running = 0;

  constructor(
    private readonly access: GitAccessService,
    private readonly rows: Rows,
    private readonly bell: RowBell,
  ) {}

  /** Analyses while the caller waits and stores nothing. Each costs a clone, so only a few at a time. */
  async analyzeNow(scope: Scope, wish: RepositoryWish): Promise<AnalysisResult> {
    if (this.#running >= AT_ONCE) {
      throw new DomainError('RATE_LIMITED', 'Other repositories are being analysed; try again', {
        retryAfterSeconds: 5,
      });
    }
    this.#running += 1;
    try {
      const { repository, branch = null, gitProviderId = null, rootDirectory = null } = wish;
      const checkout = await this.access.clone({
        workspaceId: scope.viewer.workspaceId,
        repository,
        branch,
        gitProviderId,
      });
      return await this.#analyze(checkout, { rootDirectory, name: nameOf(repository) });
    } catch (error) {
      throw error instanceof AnalysisFailure ? asInvalid(error) : error;
    } finally {
      this.#running -= 1;
    }
  }

  /** The rules of twenty languages are loaded when somebody asks for them. */
  async #analyze({ snapshot, dispose }: Checkout, options: AnalysisOptions): Promise<AnalysisResult> {
    try {
      const { analyzeSnapshot } = await import('../analysis/analyze.ts');
      return await analyzeSnapshot(snapshot, options);
    } finally {
      await dispose();
    }
  }

  /** The steps of the project's latest analysis, from its beginning, to its end. */
  async open(scope: Scope, projectId: string, after: string | null | undefined): Promise<StoredStream> {
    const { analysisId } = await scope.row(Project, projectId);
    if (analysisId === null) throw new NotFound('Analysis');
    return StoredStream.open(new AnalysisSource(this.rows, this.bell, analysisId), after);
  }
}

const asInvalid = ({ code, message, hint }: AnalysisFailure): Invalid =>
  new Invalid({ field: code === 'ROOT_NOT_FOUND' ? 'rootDirectory' : 'repository', message: `${message}. ${hint}` });

const nameOf = (repository: string): string =>
  repository
    .replace(/\.git$/, '')
    .split('/')
    .at(-1) ?? 'app';

class AnalysisSource implements StreamSource {
  readonly key: string;

  constructor(
    private readonly rows: Rows,
    private readonly bell: RowBell,
    private readonly analysisId: string,
  ) {
    this.key = `analysis:${analysisId}`;
  }

  /** A cursor of an earlier analysis begins this one at its beginning: its numbers are not ours. */
  locate(cursor: string | undefined): Promise<number> {
    if (cursor === undefined) return Promise.resolve(0);
    const [, analysisId = this.analysisId, seq] = /^(?:([0-9a-f-]{36}):)?(\d{1,9})$/.exec(cursor) ?? [];
    if (seq === undefined) throw new Invalid({ field: 'after', message: 'must be the id of a message of this stream' });
    return Promise.resolve(analysisId === this.analysisId ? Number(seq) : 0);
  }

  async read(position: number, limit: number): Promise<StreamItem[]> {
    const analysis = await this.rows.one(Analysis, { id: this.analysisId });
    if (analysis === undefined) return [];
    const fresh = analysis.steps.filter(({ seq }) => seq > position).slice(0, limit);
    return fresh.map(step => toItem(step, analysis));
  }

  /** Nothing comes after the last step, and nothing of a project that is gone. */
  async isOver(position: number): Promise<boolean> {
    const analysis = await this.rows.one(Analysis, { id: this.analysisId });
    const last = analysis?.steps.at(-1);
    return analysis === undefined || (last !== undefined && isLastStep(last) && last.seq <= position);
  }

  watch(ring: () => void): () => void {
    return this.bell.watch(this.key, ring);
  }
}

function toItem(step: AnalysisProgress, { id, result }: Row<Analysis>): StreamItem {
  const isLast = isLastStep(step);
  const value = isLast ? { ...step, result } : step;
  return { position: step.seq, cursor: `${id}:${step.seq}`, isLast, value };
}

const isLastStep = ({ status }: AnalysisProgress): boolean =>
  status === AnalysisStatus.SUCCEEDED || status === AnalysisStatus.FAILED;
