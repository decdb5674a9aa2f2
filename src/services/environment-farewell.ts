import { LockMode } from '@mikro-orm/core';
import { clock } from '../clock.ts';
import { Deployment, DeploymentStatus } from '../entities/deployment.ts';
import { type Environment, EnvironmentStatus } from '../entities/environment.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { Server, ServerStatus } from '../entities/server.ts';
import { DomainError } from '../errors.ts';
import { tellDeployment } from '../events/deployment-story.ts';
import type { UnitOfWork } from '../events/unit-of-work.ts';

/** What has begun is on a server: it has to end first. */
export async function refuseRunning(
  unit: UnitOfWork,
  environmentIds: readonly string[],
  force?: boolean | null,
): Promise<void> {
  if (force) await giveUpCancelled(unit, environmentIds);
  const busy = { environmentId: [...environmentIds], isFinished: false, startedAt: { $ne: null } };
  if ((await unit.em.count(Deployment, busy)) > 0)
    throw new DomainError('DEPLOYMENT_RUNNING', 'A deployment is running; cancel it first');
}

/**
 * One that is being cancelled ends when its server has been cleared. If that is away for good, `force` ends it as it is. `gone` are the
 * servers that were asked just now; without it what was last seen of each one counts. Answers those that were ended.
 */
export async function giveUpCancelled(
  unit: UnitOfWork,
  environmentIds: readonly string[],
  gone?: ReadonlySet<string>,
): Promise<Deployment[]> {
  const cancelling = { environmentId: [...environmentIds], status: DeploymentStatus.CANCELLING };
  const givenUp: Deployment[] = [];
  for (const each of await unit.em.find(Deployment, cancelling, { lockMode: LockMode.PESSIMISTIC_WRITE })) {
    const server = await unit.em.findOne(Server, { id: each.serverId ?? each.id });
    const isGone = server === null || (gone?.has(server.id) ?? server.status !== ServerStatus.READY);
    if (!isGone) continue;
    Object.assign(each, { status: DeploymentStatus.CANCELLED, isFinished: true, finishedAt: clock.now() });
    // Whoever still works on it writes nothing more.
    Object.assign(each, { fence: each.fence + 1, hasLeftovers: server !== null });
    await tellDeployment(unit, EventAction.UPDATED, each, 'Cancelled: its server is gone, and what is left there too');
    givenUp.push(each);
  }
  // Whoever looks next asks the database.
  await unit.em.flush();
  return givenUp;
}

/** Nothing is deployed any more, and nothing changed. The environment is held by the caller. */
export async function takeOutOfUse(unit: UnitOfWork, environment: Environment): Promise<void> {
  const { status, id: environmentId } = environment;
  if (status === EnvironmentStatus.DELETING) return;
  if (status !== EnvironmentStatus.DELETE_FAILED) environment.statusBefore = status;
  Object.assign(environment, { status: EnvironmentStatus.DELETING, statusReason: null });
  const waiting = { environmentId, status: DeploymentStatus.QUEUED };
  for (const each of await unit.em.find(Deployment, waiting, { lockMode: LockMode.PESSIMISTIC_WRITE })) {
    Object.assign(each, { status: DeploymentStatus.CANCELLED, isFinished: true, finishedAt: clock.now() });
    await tellDeployment(unit, EventAction.UPDATED, each, 'Cancelled: its environment is being deleted');
  }
  unit.tell(EventKind.environment_updated, EventAction.UPDATED, environment, environment.projectId);
}
