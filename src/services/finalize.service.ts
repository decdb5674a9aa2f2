import type { BuildSettings } from '../entities/build.ts';
import { type Deployment, DeploymentTrigger } from '../entities/deployment.ts';
import { Environment, type EnvironmentDomain, type EnvironmentService } from '../entities/environment.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { Project, ProjectStatus } from '../entities/project.ts';
import { Server } from '../entities/server.ts';
import { DomainError } from '../errors.ts';
import type { UnitOfWork } from '../events/unit-of-work.ts';
import type { DeploymentQueue } from './deployment-queue.ts';
import { definedOf, isAnalyzing, refuseDeleting } from './project.service.ts';
import type { Scope } from './scope.ts';
import { slugOf } from './slug.ts';
import type { VariableStore, VariableWish } from './variable-store.ts';

export interface EnvironmentWish {
  name: string;
  branch?: string | null;
  serverId?: string | null;
  variables?: VariableWish[] | null;
  services?: EnvironmentService[] | null;
  domain?: EnvironmentDomain | null;
  autoDeploy?: boolean | null;
}

export interface FinalizeWish {
  name?: string | null;
  build?: Partial<BuildSettings> | null;
  environment: EnvironmentWish;
  deploy?: boolean | null;
  ifVersion?: number | null;
}

export interface Finalized {
  project: Project;
  environment: Environment;
  deployment: Deployment | null;
}

/** Turns an analysed repository into something that runs: all of it in one transaction, or nothing. */
export class FinalizeService {
  constructor(
    private readonly variables: VariableStore,
    private readonly deployments: DeploymentQueue,
  ) {}

  async finalize(scope: Scope, id: string, wish: FinalizeWish): Promise<Finalized> {
    return scope.transact(async unit => {
      const project = await scope.load(unit, Project, id, wish.ifVersion);
      await refuseTooEarlyOrLate(unit, project, wish);
      if (wish.name != null) project.name = wish.name;
      if (wish.build != null) project.build = { ...project.build, ...definedOf(wish.build) };
      project.status = ProjectStatus.READY;
      project.version += 1;
      // Held until the environment is on it: it cannot be deleted meanwhile.
      if (wish.environment.serverId != null) await scope.load(unit, Server, wish.environment.serverId);
      const environment = this.#environment(unit, project, wish.environment, scope.viewer.userId);
      unit.tell(EventKind.project_updated, EventAction.UPDATED, project, project.id);
      unit.tell(EventKind.environment_updated, EventAction.CREATED, environment, project.id);
      const deployment = wish.deploy ? await this.#deploy(unit, project, environment, scope.viewer.userId) : null;
      return { project, environment, deployment };
    });
  }

  #deploy(unit: UnitOfWork, project: Project, environment: Environment, actor: string): Promise<Deployment> {
    const branch = environment.branch ?? project.branch;
    return this.deployments.add(unit, environment, { trigger: DeploymentTrigger.FINALIZE, actor, branch });
  }

  #environment(unit: UnitOfWork, project: Project, wish: EnvironmentWish, userId: string): Environment {
    const environment = unit.em.create(Environment, {
      workspaceId: project.workspaceId,
      projectId: project.id,
      name: wish.name,
      slug: slugOf(wish.name),
      branch: wish.branch ?? null,
      serverId: wish.serverId ?? null,
      autoDeploy: wish.autoDeploy ?? false,
      services: wish.services ?? [],
      domains: wish.domain ? [wish.domain] : [],
    });
    for (const variable of wish.variables ?? []) this.variables.add(unit, environment, variable, userId);
    return environment;
  }
}

async function refuseTooEarlyOrLate(unit: UnitOfWork, project: Project, { build }: FinalizeWish): Promise<void> {
  refuseDeleting(project);
  if (project.status === ProjectStatus.READY)
    throw new DomainError('ALREADY_FINALIZED', 'The project is finalised already');
  if (await isAnalyzing(unit, project))
    throw new DomainError('ANALYSIS_RUNNING', 'The project is still being analysed');
  const hasPlan = build?.builder != null || project.build.builder !== null;
  if (project.status === ProjectStatus.ANALYSIS_FAILED && !hasPlan) {
    throw new DomainError('NOT_ANALYZED', 'The analysis failed: say how to build it in "build", or analyse again');
  }
}
