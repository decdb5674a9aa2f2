import { Deployment, DeploymentStatus } from '../entities/deployment.ts';
import { Environment, type EnvironmentService } from '../entities/environment.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { Project } from '../entities/project.ts';
import type { UnitOfWork } from '../events/unit-of-work.ts';
import { refuseUnconfirmed } from './confirmation.ts';
import { refuseDeletedEnvironment } from './deployment-queue.ts';
import { requireDeploy, whatIsDeployed } from './environment-settings.ts';
import type { Scope } from './scope.ts';

export interface ServicesWish {
  services: EnvironmentService[];
  confirm?: string | null;
  ifVersion?: number | null;
}

/** Databases and the like that an environment wants beside its application. */
export class EnvironmentServicesService {
  /** The whole list. Taking away one that has run takes its data away, which has to be said twice. */
  async set(scope: Scope, id: string, { services, confirm, ifVersion }: ServicesWish): Promise<Environment> {
    return scope.transact(async unit => {
      const environment = await scope.load(unit, Environment, id, ifVersion);
      refuseDeletedEnvironment(environment);
      const lost = environment.services.filter(before => !services.some(isSame(before)));
      if (lost.length > 0 && (await hasRun(unit, id))) await refuseLoss(scope, unit, environment, lost, confirm);
      const before = whatIsDeployed(environment);
      environment.services = services.map(({ name, kind, version }) => ({ name, kind, version }));
      if (whatIsDeployed(environment) !== before) requireDeploy(environment);
      environment.version += 1;
      unit.tell(EventKind.environment_updated, EventAction.UPDATED, environment, environment.projectId);
      return environment;
    });
  }
}

/** A service is known by its name; of another kind it is another one. */
const isSame =
  (before: EnvironmentService) =>
  ({ name, kind }: EnvironmentService): boolean =>
    name === before.name && kind === before.kind;

/** Services start with the first release that goes live. */
async function hasRun(unit: UnitOfWork, environmentId: string): Promise<boolean> {
  const status = [DeploymentStatus.LIVE, DeploymentStatus.SUPERSEDED];
  return (await unit.em.count(Deployment, { environmentId, status })) > 0;
}

async function refuseLoss(
  scope: Scope,
  unit: UnitOfWork,
  environment: Environment,
  lost: readonly EnvironmentService[],
  confirm: string | null | undefined,
): Promise<void> {
  const { slug } = await unit.em.findOneOrFail(Project, { id: environment.projectId });
  const names = lost.map(({ name }) => name).join(', ');
  refuseUnconfirmed(scope, `${slug}/${environment.slug}`, confirm, `The data of ${names} would be gone`);
}
