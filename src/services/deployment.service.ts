import { LockMode } from '@mikro-orm/core';
import { clock } from '../clock.ts';
import type { Page, Row } from '../database/rows.ts';
import { Deployment, DeploymentStatus, DeploymentTrigger } from '../entities/deployment.ts';
import { Environment } from '../entities/environment.ts';
import { EventAction } from '../entities/event.ts';
import { Project, ProjectStatus } from '../entities/project.ts';
import { DomainError, NotFound } from '../errors.ts';
import { cancelDeploymentBell, tellDeployment } from '../events/deployment-story.ts';
import { ringRows } from '../events/row-bell.ts';
import type { UnitOfWork } from '../events/unit-of-work.ts';
import { type DeploymentKey, deploymentRow } from './deployment-log.service.ts';
import type { DeploymentQueue } from './deployment-queue.ts';
import type { DeploymentWaits } from './deployment-waits.ts';
import { isAnalyzing, refuseDeleting } from './project.service.ts';
import type { Scope } from './scope.ts';

export interface DeploymentFilter {
  projectId?: string | undefined;
  environmentId?: string | undefined;
  status?: DeploymentStatus | undefined;
}

export interface DeployWish {
  environmentId: string;
  commit?: string | null;
  rebuild?: boolean | null;
}

export interface RollbackWish extends DeploymentKey {
  usesCurrentVariables: boolean;
}

/** Deployments, as they are asked for, watched, cancelled and taken back. The engine carries them out. */
export class DeploymentService {
  constructor(
    private readonly queue: DeploymentQueue,
    private readonly waits: DeploymentWaits,
  ) {}

  list(scope: Scope, filter: DeploymentFilter, page: Page): Promise<Row<Deployment>[]> {
    return scope.list(Deployment, filter, page);
  }

  async history(scope: Scope, environmentId: string, filter: DeploymentFilter, page: Page): Promise<Row<Deployment>[]> {
    await scope.row(Environment, environmentId);
    return scope.list(Deployment, { ...filter, environmentId }, page);
  }

  /** Answers when it is finished, or as it is when the seconds are over. */
  async get(scope: Scope, key: DeploymentKey, waitSeconds: number): Promise<Row<Deployment>> {
    const deployment = await deploymentRow(scope, key);
    if (deployment.isFinished || waitSeconds === 0) return deployment;
    await this.waits.finished(key.id, waitSeconds, scope.request);
    return deploymentRow(scope, key);
  }

  async create(scope: Scope, { environmentId, commit, rebuild }: DeployWish): Promise<Deployment> {
    return scope.transact(async unit => {
      const place = await loadEnvironment(scope, unit, environmentId);
      await refuseWithoutPlan(unit, place);
      const { project, environment } = place;
      return this.queue.add(unit, environment, {
        trigger: DeploymentTrigger.MANUAL,
        actor: scope.viewer.userId,
        branch: environment.branch ?? project.branch,
        wantedCommit: commit?.toLowerCase() ?? null,
        rebuild: rebuild ?? false,
      });
    });
  }

  /** What has not begun ends at once; what runs is asked to end, by whoever runs it. Asked twice, it is asked once. */
  async cancel(scope: Scope, key: DeploymentKey): Promise<Deployment> {
    return scope.transact(async unit => {
      const deployment = await loadDeployment(scope, unit, key);
      if (deployment.status === DeploymentStatus.QUEUED) await endUnbegun(unit, deployment);
      else if (deployment.status === DeploymentStatus.RUNNING) await askToEnd(unit, deployment);
      else if (deployment.status !== DeploymentStatus.CANCELLING) refuseToCancel(deployment);
      return deployment;
    });
  }

  /** A new deployment of a release that is kept: its image, and its variables unless today's are wanted. */
  async rollBack(scope: Scope, { usesCurrentVariables, ...key }: RollbackWish): Promise<Deployment> {
    return scope.transact(async unit => {
      const { environment } = await loadEnvironment(scope, unit, key.environmentId);
      const release = await loadDeployment(scope, unit, key);
      refuseWithoutRelease(environment, release);
      const { id: rollbackOf, commit, branch } = release;
      const waiting = {
        environmentId: environment.id,
        status: DeploymentStatus.QUEUED,
        rollbackOf,
        usesCurrentVariables,
      };
      const same = await unit.em.findOne(Deployment, waiting);
      const trigger = DeploymentTrigger.ROLLBACK;
      const actor = scope.viewer.userId;
      const wish = {
        trigger,
        actor,
        branch,
        commit,
        wantedCommit: commit?.sha ?? null,
        rollbackOf,
        usesCurrentVariables,
      };
      return same ?? this.queue.add(unit, environment, wish);
    });
  }
}

/** The project is held before its environment, in the order of whoever deletes them. */
async function loadEnvironment(scope: Scope, unit: UnitOfWork, id: string): Promise<Place> {
  const { projectId } = await scope.row(Environment, id);
  const project = await unit.em.findOne(Project, { id: projectId }, { lockMode: LockMode.PESSIMISTIC_READ });
  if (project === null) throw new NotFound('Environment');
  refuseDeleting(project);
  return { project, environment: await scope.load(unit, Environment, id) };
}

interface Place {
  project: Project;
  environment: Environment;
}

async function loadDeployment(
  scope: Scope,
  unit: UnitOfWork,
  { environmentId, id }: DeploymentKey,
): Promise<Deployment> {
  const deployment = await scope.load(unit, Deployment, id);
  if (deployment.environmentId !== environmentId) throw new NotFound('Deployment');
  return deployment;
}

/** How to build it is known from an analysis, or was said. */
async function refuseWithoutPlan(unit: UnitOfWork, { project, environment }: Place): Promise<void> {
  if (project.status === ProjectStatus.READY || project.status === ProjectStatus.ANALYZED) return;
  if (project.build.builder !== null || environment.build.builder !== null) return;
  if (await isAnalyzing(unit, project))
    throw new DomainError('ANALYSIS_RUNNING', 'The project is still being analysed');
  throw new DomainError('NOT_ANALYZED', 'The analysis failed: say how to build it in "build", or analyse again');
}

async function endUnbegun(unit: UnitOfWork, deployment: Deployment): Promise<void> {
  const now = clock.now();
  const status = DeploymentStatus.CANCELLED;
  Object.assign(deployment, { status, cancelAskedAt: now, finishedAt: now, isFinished: true });
  await tellDeployment(unit, EventAction.UPDATED, deployment, 'Cancelled before it began');
}

async function askToEnd(unit: UnitOfWork, deployment: Deployment): Promise<void> {
  Object.assign(deployment, { status: DeploymentStatus.CANCELLING, cancelAskedAt: clock.now() });
  await tellDeployment(unit, EventAction.UPDATED, deployment, 'Asked to end');
  await ringRows(unit.em, cancelDeploymentBell(deployment.id));
}

function refuseToCancel({ status, isFinished }: Deployment): never {
  const isDraining = status === DeploymentStatus.LIVE && !isFinished;
  const why = isDraining ? 'It serves already; roll back to another instead' : `It is ${status} already`;
  throw new DomainError('DEPLOYMENT_FINISHED', why);
}

const WAS_LIVE: readonly DeploymentStatus[] = [DeploymentStatus.LIVE, DeploymentStatus.SUPERSEDED];

function refuseWithoutRelease(environment: Environment, release: Deployment): void {
  if (!WAS_LIVE.includes(release.status))
    throw new DomainError('NOT_DEPLOYED', `Deployment ${release.number} was never live; choose one that was`);
  if (environment.currentDeploymentId === release.id)
    throw new DomainError('CONFLICT', `Deployment ${release.number} is what serves now`);
  if (release.image === null)
    throw new DomainError(
      'RELEASE_GONE',
      `The image of deployment ${release.number} is no longer kept; deploy its commit`,
    );
  if (release.serverId !== environment.serverId)
    throw new DomainError('RELEASE_GONE', `Deployment ${release.number} is on another server; deploy its commit`);
}
