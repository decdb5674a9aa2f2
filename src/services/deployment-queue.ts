import { clock } from '../clock.ts';
import type { Commit } from '../entities/analysis.ts';
import { Deployment, DeploymentStatus, DeploymentTrigger } from '../entities/deployment.ts';
import { type Environment, EnvironmentStatus } from '../entities/environment.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { DomainError } from '../errors.ts';
import { tellDeployment } from '../events/deployment-story.ts';
import type { UnitOfWork } from '../events/unit-of-work.ts';
import type { Queue } from '../jobs/queue.ts';

export interface DeploymentWish {
  trigger: DeploymentTrigger;
  /** Who asked; null for the service itself. */
  actor: string | null;
  /** The branch it follows: the environment's own, else the project's; null for the default one. */
  branch: string | null;
  /** A commit that was asked for; without it the newest of the branch when it begins. */
  wantedCommit?: string | null;
  /** What is known of the commit already. */
  commit?: Commit | null;
  rebuild?: boolean;
  rollbackOf?: string | null;
  usesCurrentVariables?: boolean;
  /** Another server than the environment's: where it is moved to. */
  serverId?: string | null;
}

/** A rollback does something of its own: nothing newer stands in for it. For a move another move does. */
const OVERTAKEN: readonly DeploymentTrigger[] = [
  DeploymentTrigger.PUSH,
  DeploymentTrigger.MANUAL,
  DeploymentTrigger.FINALIZE,
];

/** Deployments that wait for their turn. One at a time for each environment, in the order they were asked for. */
export class DeploymentQueue {
  constructor(private readonly queue: Pick<Queue, 'enqueue'>) {}

  /** The environment was loaded with a lock: two that are asked for at once stand in a row. */
  async add(unit: UnitOfWork, environment: Environment, wish: DeploymentWish): Promise<Deployment> {
    refuseDeletedEnvironment(environment);
    const serverId = wish.serverId ?? environment.serverId;
    if (serverId === null)
      throw new DomainError('NO_SERVER', 'The environment is on no server yet; choose one with "serverId" first');
    const waiting = await unit.em.find(
      Deployment,
      { environmentId: environment.id, status: DeploymentStatus.QUEUED },
      { orderBy: { number: 'desc' } },
    );
    const same = waiting.find(each => isSame(each, wish, serverId));
    if (same !== undefined) return same;
    const deployment = this.#create(unit, environment, wish, serverId);
    for (const each of waiting) if (isOvertaken(each, wish)) await overtake(unit, each, deployment);
    await tellDeployment(unit, EventAction.CREATED, deployment, 'Queued');
    unit.tell(EventKind.environment_updated, EventAction.UPDATED, environment, environment.projectId);
    await this.queue.enqueue(unit, 'environment.deploy', { environmentId: environment.id }, { lane: environment.id });
    return deployment;
  }

  #create(unit: UnitOfWork, environment: Environment, wish: DeploymentWish, serverId: string): Deployment {
    const { workspaceId, projectId, id: environmentId } = environment;
    environment.deploymentCount += 1;
    const { trigger, actor, branch, wantedCommit, commit, rebuild, rollbackOf, usesCurrentVariables } = wish;
    const deployment = unit.em.create(Deployment, {
      ...{ workspaceId, projectId, environmentId, serverId, trigger, actor, branch },
      number: environment.deploymentCount,
      wantedCommit: wantedCommit ?? null,
      commit: commit ?? null,
      rebuild: rebuild ?? false,
      rollbackOf: rollbackOf ?? null,
      usesCurrentVariables: usesCurrentVariables ?? true,
    });
    environment.latestDeploymentId = deployment.id;
    return deployment;
  }
}

export function refuseDeletedEnvironment({ status }: Environment): void {
  if (status === EnvironmentStatus.DELETING) throw new DomainError('BEING_DELETED', 'The environment is being deleted');
  if (status === EnvironmentStatus.DELETE_FAILED)
    throw new DomainError('BEING_DELETED', 'The environment could not be deleted wholly; delete it again');
}

/** Asked for twice before it has begun, it is done once. */
const isSame = (waiting: Deployment, wish: DeploymentWish, serverId: string): boolean =>
  isOvertaken(waiting, wish) &&
  waiting.serverId === serverId &&
  waiting.branch === wish.branch &&
  waiting.wantedCommit === (wish.wantedCommit ?? null) &&
  (waiting.rebuild || !wish.rebuild);

const isOvertaken = ({ trigger }: Deployment, wish: DeploymentWish): boolean =>
  OVERTAKEN.includes(trigger)
    ? OVERTAKEN.includes(wish.trigger)
    : trigger === DeploymentTrigger.MOVE && wish.trigger === trigger;

async function overtake(unit: UnitOfWork, waiting: Deployment, by: Deployment): Promise<void> {
  Object.assign(waiting, {
    status: DeploymentStatus.SKIPPED,
    isFinished: true,
    finishedAt: clock.now(),
    supersededBy: by.id,
  });
  await tellDeployment(unit, EventAction.UPDATED, waiting, `Overtaken by deployment ${by.number}`);
}
