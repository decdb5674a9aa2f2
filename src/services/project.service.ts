import { LockMode } from '@mikro-orm/core';
import type { Page, Row } from '../database/rows.ts';
import { Analysis, AnalysisStatus } from '../entities/analysis.ts';
import type { BuildSettings } from '../entities/build.ts';
import { Environment } from '../entities/environment.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { GitProvider } from '../entities/git-provider.ts';
import { Project, ProjectStatus } from '../entities/project.ts';
import { type Run, RunKind } from '../entities/run.ts';
import { DomainError, Forbidden, NotFound } from '../errors.ts';
import type { UnitOfWork } from '../events/unit-of-work.ts';
import type { Queue } from '../jobs/queue.ts';
import { type DeletionWish, refuseLossOfData } from './confirmation.ts';
import { refuseRunning, takeOutOfUse } from './environment-farewell.ts';
import { checkName } from './git-access.service.ts';
import type { RunService } from './run.service.ts';
import type { Scope } from './scope.ts';
import { freeSlug } from './slug.ts';

export interface ProjectWish {
  name: string;
  repository: string;
  gitProviderId?: string | null;
  branch?: string | null;
  rootDirectory?: string | null;
  description?: string | null;
}

export interface ProjectChange {
  name?: string;
  description?: string | null;
  branch?: string | null;
  rootDirectory?: string | null;
  build?: Partial<BuildSettings>;
  ifVersion?: number | null;
}

export interface ProjectFilter {
  status?: ProjectStatus | undefined;
}

/** Repositories that are or will be deployed. */
export class ProjectService {
  constructor(
    private readonly queue: Queue,
    private readonly runs: RunService,
  ) {}

  list(scope: Scope, { status }: ProjectFilter, page: Page): Promise<Row<Project>[]> {
    return scope.list(Project, { status }, page);
  }

  get(scope: Scope, id: string): Promise<Row<Project>> {
    return scope.row(Project, id);
  }

  /** The analysis starts by itself, in the same transaction. */
  async create(scope: Scope, wish: ProjectWish): Promise<Project> {
    return scope.transact(async unit => {
      const { workspaceId } = scope.viewer;
      await checkSource(unit, workspaceId, wish);
      await oneByOne(unit, workspaceId);
      const taken = await unit.em.find(Project, { workspaceId }, { fields: ['slug'] });
      const slug = freeSlug(wish.name, new Set(taken.map(project => project.slug)));
      const project = unit.em.create(Project, { ...wish, workspaceId, slug });
      await this.#analyze(unit, project);
      unit.tell(EventKind.project_updated, EventAction.CREATED, project, project.id);
      return project;
    });
  }

  /** What is sent is changed; what is not stays. Another branch or folder is looked at anew. */
  async update(scope: Scope, id: string, { ifVersion, build, ...change }: ProjectChange): Promise<Project> {
    return scope.transact(async unit => {
      const project = await scope.load(unit, Project, id, ifVersion);
      refuseDeleting(project);
      const before = { branch: project.branch, rootDirectory: project.rootDirectory };
      Object.assign(project, definedOf(change));
      if (build !== undefined) project.build = { ...project.build, ...definedOf(build) };
      const isElsewhere = project.branch !== before.branch || project.rootDirectory !== before.rootDirectory;
      if (isElsewhere) await this.#analyze(unit, project);
      project.version += 1;
      unit.tell(EventKind.project_updated, EventAction.UPDATED, project, project.id);
      return project;
    });
  }

  async retryAnalysis(scope: Scope, id: string, ifVersion?: number | null): Promise<Analysis> {
    return scope.transact(async unit => {
      const project = await scope.load(unit, Project, id, ifVersion);
      refuseDeleting(project);
      if (await isAnalyzing(unit, project))
        throw new DomainError('ANALYSIS_RUNNING', 'An analysis of this project is running');
      const analysis = await this.#analyze(unit, project);
      unit.tell(EventKind.project_updated, EventAction.UPDATED, project, project.id);
      return analysis;
    });
  }

  /** Accepted at once; what runs on servers is removed before the rows are. */
  async delete(scope: Scope, id: string, wish: DeletionWish): Promise<Run> {
    if (scope.viewer.environmentId !== null) throw new Forbidden('This token is bound to one environment');
    return scope.transact(async unit => {
      // Environments first, as whoever deploys holds them: the other way round the two would wait for each other.
      await holdEnvironments(unit, id, scope.viewer.workspaceId);
      const project = await scope.load(unit, Project, id, wish.ifVersion);
      if (project.status === ProjectStatus.DELETING)
        throw new DomainError('BEING_DELETED', 'The project is being deleted already');
      refuseLossOfData(scope, wish, project.slug);
      const environments = await holdEnvironments(unit, id, scope.viewer.workspaceId);
      await refuseRunning(
        unit,
        environments.map(environment => environment.id),
        wish.force,
      );
      project.status = ProjectStatus.DELETING;
      for (const environment of environments) await takeOutOfUse(unit, environment);
      unit.tell(EventKind.project_updated, EventAction.UPDATED, project, project.id);
      const run = this.runs.start(unit, RunKind.DELETE_PROJECT, scope.viewer.workspaceId, `Project:${id}`);
      const job = { runId: run.id, projectId: id, deleteData: wish.deleteData ?? false, force: wish.force ?? false };
      await this.queue.enqueue(unit, 'project.delete', job, { lane: id });
      return run;
    });
  }

  async #analyze(unit: UnitOfWork, project: Project): Promise<Analysis> {
    const analysis = unit.em.create(Analysis, { workspaceId: project.workspaceId, projectId: project.id });
    project.analysisId = analysis.id;
    if (project.status !== ProjectStatus.READY) project.status = ProjectStatus.ANALYZING;
    await this.queue.enqueue(unit, 'analysis.run', { analysisId: analysis.id }, { lane: project.id });
    return analysis;
  }
}

const holdEnvironments = (unit: UnitOfWork, projectId: string, workspaceId: string): Promise<Environment[]> =>
  unit.em.find(
    Environment,
    { projectId, workspaceId },
    { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' } },
  );

export async function isAnalyzing(unit: UnitOfWork, { analysisId }: Project): Promise<boolean> {
  const open = [AnalysisStatus.QUEUED, AnalysisStatus.RUNNING];
  return analysisId !== null && (await unit.em.count(Analysis, { id: analysisId, status: open })) > 0;
}

export function refuseDeleting({ status }: Project): void {
  if (status === ProjectStatus.DELETING) throw new DomainError('BEING_DELETED', 'The project is being deleted');
  if (status === ProjectStatus.DELETE_FAILED)
    throw new DomainError('BEING_DELETED', 'The project could not be deleted wholly; delete it again');
}

/** Leaves out what was not sent, so that it stays as it is. */
export const definedOf = <T extends object>(change: T): Partial<T> =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Partial<T>;

async function checkSource(
  unit: UnitOfWork,
  workspaceId: string,
  { repository, gitProviderId }: ProjectWish,
): Promise<void> {
  if (gitProviderId == null) return checkName(null, repository);
  const provider = await unit.em.findOne(GitProvider, { id: gitProviderId, workspaceId });
  if (provider === null) throw new NotFound('GitProvider');
  checkName(provider.provider, repository);
}

/** Two projects of one name may be made at the same moment, and want two slugs. */
const oneByOne = (unit: UnitOfWork, workspaceId: string): Promise<unknown> =>
  unit.em.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`projects ${workspaceId}`]);
