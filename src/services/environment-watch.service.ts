import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type App, judge, lookAtApps, type Verdict } from '../engine/app-look.ts';
import { Deployment } from '../entities/deployment.ts';
import { Environment, EnvironmentStatus } from '../entities/environment.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { Run, RunStatus } from '../entities/run.ts';
import { transact, type UnitOfWork, workOrigin } from '../events/unit-of-work.ts';
import { isOutOfReach } from '../remote/persist.ts';
import { subjectOf } from './environment-power.service.ts';
import type { ServerAccessService } from './server-access.service.ts';
import { ServerAway, ServerUntrusted } from './server-failure.ts';

/** So many servers at once, so that one that hangs holds up nobody. */
const SIDE_BY_SIDE = 16;

/** What should be serving. What was stopped is left alone, and so is what is on its way out. */
const WATCHED = [EnvironmentStatus.LIVE, EnvironmentStatus.DEGRADED, EnvironmentStatus.DOWN];

const NOT_KNOWN = 'Its server cannot be reached; whether it serves is not known';

/** Looks whether applications serve, and tells when that changes. */
export class EnvironmentWatchService {
  constructor(
    private readonly em: EntityManager,
    private readonly access: Pick<ServerAccessService, 'use'>,
    private readonly warn: (message: string, error: unknown) => void,
  ) {}

  async lookAtAll(signal: AbortSignal): Promise<void> {
    const byServer = [...(await this.#apps())];
    const lookOn = async () => {
      for (let next = byServer.pop(); next !== undefined && !signal.aborted; next = byServer.pop())
        await this.#lookSafely(...next);
    };
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lookOn));
  }

  async #apps(): Promise<Map<string, App[]>> {
    const fork = this.em.fork();
    const environments = await fork.find(Environment, { status: WATCHED, currentDeploymentId: { $ne: null } });
    const ids = environments.flatMap(({ currentDeploymentId }) => currentDeploymentId ?? []);
    const deployments = new Map((await fork.find(Deployment, { id: ids })).map(each => [each.id, each]));
    const apps = environments.flatMap(environment => {
      const deployment = deployments.get(environment.currentDeploymentId ?? '');
      return deployment === undefined ? [] : [{ environment, deployment }];
    });
    const placed = apps.filter(({ deployment }) => deployment.serverId !== null);
    return Map.groupBy(placed, ({ deployment }) => deployment.serverId ?? '');
  }

  async #lookSafely(serverId: string, apps: readonly App[]): Promise<void> {
    try {
      const looks = await this.access.use(serverId, host => lookAtApps(host, apps));
      for (const [app, look] of looks) await this.#keep(app, judge(app, look));
    } catch (error) {
      if (isAway(error)) await this.#doubt(apps);
      else this.warn('The applications of a server could not be looked at', error);
    }
  }

  /** A server that is away says nothing about what runs on it. */
  async #doubt(apps: readonly App[]): Promise<void> {
    for (const app of apps) await this.#keep(app, { status: app.environment.status, statusReason: NOT_KNOWN });
  }

  async #keep({ environment: before, deployment }: App, verdict: Partial<Verdict>): Promise<void> {
    if (isKnown(before, verdict)) return;
    await transact(this.em, workOrigin('watch environment', before.workspaceId), async unit => {
      const held = { lockMode: LockMode.PESSIMISTIC_WRITE };
      const environment = await unit.em.findOne(Environment, before.id, held);
      const isStill = environment?.currentDeploymentId === deployment.id && WATCHED.includes(environment.status);
      if (environment === null || !isStill || (await isWorkedOn(unit, environment.id))) return;
      const isNews = !isSaid(environment, verdict);
      Object.assign(environment, verdict);
      if (isNews) unit.tell(EventKind.environment_updated, EventAction.UPDATED, environment, environment.projectId);
    });
  }
}

const isAway = (error: unknown): boolean =>
  error instanceof ServerAway || error instanceof ServerUntrusted || isOutOfReach(error);

const isSaid = ({ status, statusReason }: Environment, verdict: Partial<Verdict>): boolean =>
  status === verdict.status && statusReason === verdict.statusReason;

function isKnown(environment: Environment, verdict: Partial<Verdict>): boolean {
  const { watch } = environment;
  const { deploymentId, restarts, misses } = verdict.watch ?? watch ?? {};
  const isSame = watch?.deploymentId === deploymentId && watch?.restarts === restarts && watch?.misses === misses;
  return isSame && isSaid(environment, verdict);
}

/** Whoever works on it knows better, and says so when it is true. */
async function isWorkedOn(unit: UnitOfWork, environmentId: string): Promise<boolean> {
  const open = { subject: subjectOf(environmentId), status: [RunStatus.QUEUED, RunStatus.RUNNING] };
  const started = { environmentId, isFinished: false, startedAt: { $ne: null } };
  return (await unit.em.count(Run, open)) > 0 || (await unit.em.count(Deployment, started)) > 0;
}
