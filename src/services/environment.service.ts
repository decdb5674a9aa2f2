import type { Page, Row } from '../database/rows.ts';
import type { BuildSettings } from '../entities/build.ts';
import { Environment, type EnvironmentStatus } from '../entities/environment.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { Project, ProjectStatus } from '../entities/project.ts';
import { DomainError, Forbidden } from '../errors.ts';
import type { UnitOfWork } from '../events/unit-of-work.ts';
import type { AutoDeployService } from './auto-deploy.service.ts';
import { refuseDeletedEnvironment } from './deployment-queue.ts';
import { addEnvironment, type EnvironmentSketch, refuseTakenName } from './environment-creation.ts';
import type { EnvironmentMoveService } from './environment-move.service.ts';
import { applySettings, type EnvironmentSettings, requireDeploy, whatIsDeployed } from './environment-settings.ts';
import type { GitAccessService } from './git-access.service.ts';
import { isAnalyzing, refuseDeleting } from './project.service.ts';
import { checkVersion, type Scope } from './scope.ts';

export interface NewEnvironment extends EnvironmentSketch {
  projectId: string;
  build?: Partial<BuildSettings> | null;
}

export interface EnvironmentChange extends EnvironmentSettings {
  serverId?: string | null;
  ifVersion?: number | null;
}

export interface EnvironmentFilter {
  projectId?: string | undefined;
  status?: EnvironmentStatus | undefined;
}

/** Running copies of projects: a branch on a server. */
export class EnvironmentService {
  constructor(
    private readonly git: GitAccessService,
    private readonly moves: EnvironmentMoveService,
    private readonly autoDeploy: AutoDeployService,
  ) {}

  list(scope: Scope, { projectId, status }: EnvironmentFilter, page: Page): Promise<Row<Environment>[]> {
    return scope.list(Environment, { projectId, status }, page);
  }

  get(scope: Scope, id: string): Promise<Row<Environment>> {
    return scope.row(Environment, id);
  }

  /** An analysis that succeeded, or somebody who says how to build, is all that is needed: the project need not be finalised. */
  async create(scope: Scope, wish: NewEnvironment): Promise<Environment> {
    if (scope.viewer.environmentId !== null) throw new Forbidden('This token is bound to another environment');
    return scope.transact(async unit => {
      const project = await scope.load(unit, Project, wish.projectId);
      await refuseWithoutPlan(unit, project, wish.build);
      const environment = await addEnvironment(scope, unit, project, wish);
      applySettings(environment, { build: wish.build ?? {} });
      if (environment.autoDeploy) await this.autoDeploy.settle(unit, environment);
      unit.tell(EventKind.environment_updated, EventAction.CREATED, environment, project.id);
      return environment;
    });
  }

  /** One atomic change: what is sent changes, what is not stays, null clears. */
  async update(
    scope: Scope,
    id: string,
    { ifVersion, serverId, ...settings }: EnvironmentChange,
  ): Promise<Environment> {
    if (settings.branch != null) await this.#refuseMissingBranch(scope, id, settings.branch, ifVersion);
    return scope.transact(async unit => {
      const environment = await scope.load(unit, Environment, id, ifVersion);
      refuseDeletedEnvironment(environment);
      if (settings.name !== undefined) await refuseTakenName(unit, environment, settings.name);
      const before = whatIsDeployed(environment);
      applySettings(environment, settings);
      if (whatIsDeployed(environment) !== before) requireDeploy(environment);
      if (settings.autoDeploy !== undefined) await this.autoDeploy.settle(unit, environment);
      if (serverId !== undefined) await this.moves.place(scope, unit, environment, serverId);
      environment.version += 1;
      unit.tell(EventKind.environment_updated, EventAction.UPDATED, environment, environment.projectId);
      return environment;
    });
  }

  /** Whether there is such a branch only its provider knows, who is asked before anything is held. */
  async #refuseMissingBranch(scope: Scope, id: string, branch: string, ifVersion?: number | null): Promise<void> {
    const environment = await scope.row(Environment, id);
    checkVersion(environment, ifVersion);
    if (environment.branch === branch) return;
    const project = await scope.row(Project, environment.projectId);
    await this.git.newestCommit({ ...project, branch, workspaceId: scope.viewer.workspaceId });
  }
}

async function refuseWithoutPlan(
  unit: UnitOfWork,
  project: Project,
  build: Partial<BuildSettings> | null | undefined,
): Promise<void> {
  refuseDeleting(project);
  if (project.status === ProjectStatus.READY || project.status === ProjectStatus.ANALYZED) return;
  if (await isAnalyzing(unit, project))
    throw new DomainError('ANALYSIS_RUNNING', 'The project is still being analysed; wait for the end of it');
  if (build?.builder == null && project.build.builder === null)
    throw new DomainError('NOT_ANALYZED', 'The analysis failed: say how to build it in "build", or analyse again');
}
