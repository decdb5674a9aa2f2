import type { BuildSettings } from '../entities/build.ts';
import { type Deployment, DeploymentTrigger } from '../entities/deployment.ts';
import { type Environment, type EnvironmentService, SslMode } from '../entities/environment.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { Project, ProjectStatus } from '../entities/project.ts';
import { DomainError, Invalid } from '../errors.ts';
import type { UnitOfWork } from '../events/unit-of-work.ts';
import type { AutoDeployService } from './auto-deploy.service.ts';
import type { DeploymentQueue } from './deployment-queue.ts';
import { addEnvironment, type EnvironmentSketch } from './environment-creation.ts';
import type { DomainSketch, EnvironmentDomainService } from './environment-domain.service.ts';
import { definedOf, isAnalyzing, refuseDeleting } from './project.service.ts';
import type { Scope } from './scope.ts';
import type { VariableStore, VariableWish } from './variable-store.ts';

export interface EnvironmentWish extends EnvironmentSketch {
  variables?: VariableWish[] | null;
  services?: EnvironmentService[] | null;
  domain?: DomainSketch | null;
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
    private readonly domains: EnvironmentDomainService,
    private readonly deployments: DeploymentQueue,
    private readonly autoDeploy: AutoDeployService,
  ) {}

  async finalize(scope: Scope, id: string, wish: FinalizeWish): Promise<Finalized> {
    return scope.transact(async unit => {
      const project = await scope.load(unit, Project, id, wish.ifVersion);
      await refuseTooEarlyOrLate(unit, project, wish);
      if (wish.name != null) project.name = wish.name;
      if (wish.build != null) project.build = { ...project.build, ...definedOf(wish.build) };
      project.status = ProjectStatus.READY;
      project.isFinalized = true;
      project.version += 1;
      const environment = await this.#environment(scope, unit, project, wish.environment);
      unit.tell(EventKind.project_updated, EventAction.UPDATED, project, project.id);
      if (environment.autoDeploy) await this.autoDeploy.settle(unit, environment);
      unit.tell(EventKind.environment_updated, EventAction.CREATED, environment, project.id);
      const deployment = wish.deploy ? await this.#deploy(unit, project, environment, scope.viewer.userId) : null;
      return { project, environment, deployment };
    });
  }

  #deploy(unit: UnitOfWork, project: Project, environment: Environment, actor: string): Promise<Deployment> {
    const branch = environment.branch ?? project.branch;
    return this.deployments.add(unit, environment, { trigger: DeploymentTrigger.FINALIZE, actor, branch });
  }

  async #environment(scope: Scope, unit: UnitOfWork, project: Project, wish: EnvironmentWish): Promise<Environment> {
    const environment = await addEnvironment(scope, unit, project, wish);
    environment.services = wish.services ?? [];
    // Its certificate has no place here.
    if (wish.domain?.ssl === SslMode.CUSTOM) throw new Invalid({ field: 'environment.domain.ssl', message: LATER });
    if (wish.domain) await this.domains.add(unit, environment, wish.domain, 'environment.domain.hostname');
    await this.variables.put(unit, environment, wish.variables ?? [], 'environment.variables');
    return environment;
  }
}

const LATER = 'can be CUSTOM once the environment is made: set its domain then, with the certificate';

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
