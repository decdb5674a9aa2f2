import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { clock } from '../../clock.ts';
import { Deployment, DeploymentPhase, DeploymentStatus, DeploymentTrigger } from '../../entities/deployment.ts';
import { Environment } from '../../entities/environment.ts';
import { EventAction } from '../../entities/event.ts';
import { Run, RunStatus } from '../../entities/run.ts';
import { Server } from '../../entities/server.ts';
import { tellDeployment } from '../../events/deployment-story.ts';
import { transact, type UnitOfWork } from '../../events/unit-of-work.ts';
import { originOf } from './deployment-record.ts';

/** So many deployments work on one server at once: builds are heavy, and what serves there must not suffer. */
const AT_ONCE_PER_SERVER = 2;

/** The environment's turn: its deployment under way, or else the oldest that waits. `LATER` if it has to wait longer. */
export async function takeUp(em: EntityManager, environmentId: string): Promise<Deployment | 'NOTHING' | 'LATER'> {
  const known = await em.fork().findOne(Environment, environmentId);
  if (known === null) return 'NOTHING';
  return transact(em, originOf(known), async unit => {
    await unit.hasten();
    // Whoever queues, cancels or deletes holds the environment too: one after the other.
    const environment = await unit.em.findOne(Environment, environmentId, { lockMode: LockMode.PESSIMISTIC_WRITE });
    const next = await nextOf(unit, environmentId);
    if (next === null) return 'NOTHING';
    // It may have been moved since this was queued.
    const isMove = next.trigger === DeploymentTrigger.MOVE;
    if (next.startedAt === null && !isMove) next.serverId = environment?.serverId ?? next.serverId;
    if (next.startedAt === null && !(await hasRoom(unit, next))) return 'LATER';
    await begin(unit, next);
    return next;
  });
}

async function nextOf(unit: UnitOfWork, environmentId: string): Promise<Deployment | null> {
  const open = await unit.em.find(
    Deployment,
    { environmentId, isFinished: false },
    { orderBy: { number: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  return open.find(({ startedAt }) => startedAt !== null) ?? open[0] ?? null;
}

async function hasRoom(unit: UnitOfWork, { environmentId, serverId }: Deployment): Promise<boolean> {
  const busy = [RunStatus.QUEUED, RunStatus.RUNNING];
  if ((await unit.em.count(Run, { subject: `Environment:${environmentId}`, status: busy })) > 0) return false;
  if (serverId === null) return true;
  await unit.em.findOne(Server, serverId, { lockMode: LockMode.PESSIMISTIC_WRITE });
  const working = await unit.em.count(Deployment, { serverId, isFinished: false, startedAt: { $ne: null } });
  return working < AT_ONCE_PER_SERVER;
}

async function begin(unit: UnitOfWork, deployment: Deployment): Promise<void> {
  const isFirst = deployment.startedAt === null;
  deployment.fence += 1;
  deployment.startedAt ??= clock.now();
  if (deployment.status === DeploymentStatus.QUEUED) deployment.status = DeploymentStatus.RUNNING;
  if (isFirst) {
    deployment.phase = DeploymentPhase.PREPARING;
    const startedAt = deployment.startedAt.toISOString();
    deployment.phases = [{ name: DeploymentPhase.PREPARING, startedAt, finishedAt: null }];
  }
  await tellDeployment(unit, EventAction.UPDATED, deployment, isFirst ? 'Preparing' : 'Taken up again');
}
