import { LockMode } from '@mikro-orm/core';
import { clock } from '../clock.ts';
import type { Row } from '../database/rows.ts';
import { Deployment, DeploymentStatus, DeploymentTrigger } from '../entities/deployment.ts';
import { Environment, EnvironmentStatus } from '../entities/environment.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { Server } from '../entities/server.ts';
import { DomainError, Invalid } from '../errors.ts';
import { tellDeployment } from '../events/deployment-story.ts';
import type { UnitOfWork } from '../events/unit-of-work.ts';
import { type DeploymentQueue, type DeploymentWish, refuseDeletedEnvironment } from './deployment-queue.ts';
import { giveUpCancelled } from './environment-farewell.ts';
import { checkVersion, type Scope } from './scope.ts';
import type { ServerAccessService } from './server-access.service.ts';
import { ServerAway, ServerUntrusted } from './server-failure.ts';

export interface MoveWish {
  serverId: string;
  force?: boolean | null;
  ifVersion?: number | null;
}

/** Puts environments on servers. What is live goes on serving where it is until it serves from the new place. */
export class EnvironmentMoveService {
  constructor(
    private readonly deployments: DeploymentQueue,
    private readonly access: ServerAccessService,
  ) {}

  /**
   * `force` forgets what is on the old server, if that server does not answer any more, and what is being cancelled on one that does not:
   * it would be for ever.
   */
  async move(scope: Scope, id: string, { serverId, force, ifVersion }: MoveWish): Promise<Environment> {
    const before = await scope.row(Environment, id);
    checkVersion(before, ifVersion);
    const gone = force ? await this.#goneServers(scope, before, serverId) : null;
    return scope.transact(async unit => {
      const environment = await scope.load(unit, Environment, id, ifVersion);
      refuseDeletedEnvironment(environment);
      if (gone !== null) await giveUp(scope, unit, environment, gone);
      const isForgotten = environment.currentDeploymentId !== null && gone?.has(environment.serverId ?? '');
      const queued = isForgotten
        ? await this.#abandon(scope, unit, environment, serverId)
        : await this.place(scope, unit, environment, serverId);
      if (queued === null) scope.notes.status = 200;
      environment.version += 1;
      unit.tell(EventKind.environment_updated, EventAction.UPDATED, environment, environment.projectId);
      return environment;
    });
  }

  /** The environment is held by the caller. Answers the deployment that moves it, where one is needed. */
  async place(
    scope: Scope,
    unit: UnitOfWork,
    environment: Environment,
    serverId: string | null,
  ): Promise<Deployment | null> {
    if (serverId === environment.serverId) return null;
    // Held until the environment is on it: it cannot be deleted meanwhile.
    if (serverId !== null) await scope.load(unit, Server, serverId);
    const current = await currentOf(unit, environment);
    if (current === null) await settle(unit, environment, serverId);
    else if (serverId === null) throw new Invalid({ field: 'serverId', message: RUNS_THERE });
    else return this.deployments.add(unit, environment, moving(current, scope.viewer.userId, serverId));
    return null;
  }

  /** Of the servers that something of it is on, but for the one it is to be on. */
  async #goneServers(scope: Scope, environment: Row<Environment>, target: string): Promise<Set<string>> {
    const { id: environmentId, serverId, currentDeploymentId } = environment;
    const stuck = await scope.list(Deployment, { environmentId, status: DeploymentStatus.CANCELLING }, { limit: 10 });
    const ids = new Set([currentDeploymentId === null ? null : serverId, ...stuck.map(each => each.serverId)]);
    const gone = new Set<string>();
    for (const id of ids) if (id !== null && id !== target && (await this.#isGone(id))) gone.add(id);
    return gone;
  }

  /** Whether it answers to somebody who comes anew; what is open already may be dead without our knowing. */
  async #isGone(serverId: string): Promise<boolean> {
    try {
      await this.access.useAnew(serverId, async () => undefined);
      return false;
    } catch (error) {
      if (error instanceof ServerAway || error instanceof ServerUntrusted) return true;
      throw error;
    }
  }

  async #abandon(scope: Scope, unit: UnitOfWork, environment: Environment, serverId: string): Promise<Deployment> {
    const current = await currentOf(unit, environment);
    if (current === null) throw new TypeError('an environment that is left has something that runs');
    const { id: oldId, name: oldName } = await scope.load(unit, Server, environment.serverId ?? '');
    await scope.load(unit, Server, serverId);
    await settle(unit, environment, serverId);
    Object.assign(environment, { currentDeploymentId: null, status: EnvironmentStatus.IDLE, needsDeploy: true });
    await unit.em.nativeUpdate(Deployment, { environmentId: environment.id, serverId: oldId }, { image: null });
    const queued = await this.deployments.add(unit, environment, moving(current, scope.viewer.userId, serverId));
    // Should the server come back, what is left there is cleared away: two copies of one application do harm.
    const aside = { status: DeploymentStatus.SUPERSEDED, image: null, hasLeftovers: true };
    Object.assign(current, aside, { supersededBy: queued.id });
    current.finishedAt ??= clock.now();
    await tellDeployment(unit, EventAction.UPDATED, current, `Forgotten: ${oldName} does not answer any more`);
    const left = `container slipway-${current.id}, images slipway/${environment.id}, network slipway-${environment.id}`;
    warn(scope, oldName, left);
    return queued;
  }
}

async function giveUp(scope: Scope, unit: UnitOfWork, { id }: Environment, gone: ReadonlySet<string>): Promise<void> {
  for (const each of await giveUpCancelled(unit, [id], gone)) {
    const server = await unit.em.findOne(Server, { id: each.serverId ?? each.id });
    if (server !== null) warn(scope, server.name, `container slipway-${each.id}, image slipway/${id}:${each.id}`);
  }
}

function warn({ notes }: Scope, server: string, left: string): void {
  notes.warnings = [...(notes.warnings ?? []), `Left behind on ${server}: ${left}`];
}

const RUNS_THERE = 'cannot be null while something runs there: name another server, or delete the environment';

/** The same commit in another place. */
const moving = ({ branch, commit }: Deployment, actor: string, serverId: string): DeploymentWish => ({
  ...{ trigger: DeploymentTrigger.MOVE, actor, branch, commit, serverId },
  wantedCommit: commit?.sha ?? null,
});

async function currentOf(unit: UnitOfWork, { currentDeploymentId: id }: Environment): Promise<Deployment | null> {
  return id === null ? null : unit.em.findOneOrFail(Deployment, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** Where nothing runs the server simply changes, and with it what waits. */
async function settle(unit: UnitOfWork, environment: Environment, serverId: string | null): Promise<void> {
  const unfinished = await unit.em.find(Deployment, { environmentId: environment.id, isFinished: false });
  const waiting = unfinished.filter(({ status }) => status === DeploymentStatus.QUEUED);
  const isBusy = unfinished.length > waiting.length || (serverId === null && waiting.length > 0);
  if (isBusy)
    throw new DomainError(
      'DEPLOYMENT_RUNNING',
      'A deployment of this environment is running; cancel it or wait for it',
    );
  for (const each of waiting) each.serverId = serverId;
  Object.assign(environment, { serverId, publicPort: null, url: null });
}
