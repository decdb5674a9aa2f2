import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { UseMachine } from '../engine/environment-power.ts';
import { EnvironmentRemoval, type RemovalWish } from '../engine/environment-removal.ts';
import { type Step, writeDuring } from '../engine/run.engine.ts';
import { Environment, EnvironmentStatus } from '../entities/environment.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { Project } from '../entities/project.ts';
import { Run, RunKind, RunStatus } from '../entities/run.ts';
import { DomainError } from '../errors.ts';
import { transact, type UnitOfWork, workOrigin } from '../events/unit-of-work.ts';
import type { Queue } from '../jobs/queue.ts';
import type { AutoDeployService } from './auto-deploy.service.ts';
import { type DeletionWish, refuseLossOfData } from './confirmation.ts';
import { refuseRunning, takeOutOfUse } from './environment-farewell.ts';
import { subjectOf } from './environment-power.service.ts';
import type { RunService } from './run.service.ts';
import type { Scope } from './scope.ts';

/** Takes environments away: from their servers first, then the rows. */
export class EnvironmentDeletionService {
  constructor(
    private readonly em: EntityManager,
    private readonly use: UseMachine,
    private readonly runs: RunService,
    private readonly queue: Queue,
    private readonly autoDeploy: Pick<AutoDeployService, 'forget'>,
  ) {}

  async delete(scope: Scope, id: string, wish: DeletionWish): Promise<Run> {
    return scope.transact(async unit => {
      const environment = await scope.load(unit, Environment, id, wish.ifVersion);
      if (environment.status === EnvironmentStatus.DELETING)
        throw new DomainError('BEING_DELETED', 'The environment is being deleted already');
      const { slug } = await unit.em.findOneOrFail(Project, { id: environment.projectId });
      refuseLossOfData(scope, wish, `${slug}/${environment.slug}`);
      await refuseRunning(unit, [id], wish.force);
      await takeOutOfUse(unit, environment);
      const run = this.runs.start(unit, RunKind.DELETE_ENVIRONMENT, environment.workspaceId, subjectOf(id));
      const job = {
        runId: run.id,
        environmentId: id,
        deleteData: wish.deleteData ?? false,
        force: wish.force ?? false,
      };
      await this.queue.enqueue(unit, 'environment.work', job, { lane: id });
      return run;
    });
  }

  steps(run: Run, environmentId: string, wish: RemovalWish): Step[] {
    const removal = new EnvironmentRemoval(this.em, this.use, run, wish);
    return [
      { name: 'server', run: () => removal.clear(environmentId) },
      { name: 'rows', run: () => this.#removeRows(run, environmentId) },
    ];
  }

  /** A deletion that failed can be asked for again, one that was cancelled in time never happened. */
  async settle(runId: string, environmentId: string): Promise<void> {
    const run = await this.em.fork().findOne(Run, runId);
    if (run?.kind !== RunKind.DELETE_ENVIRONMENT) return;
    if (run.status !== RunStatus.FAILED && run.status !== RunStatus.CANCELLED) return;
    await transact(this.em, workOrigin('deleteEnvironment', run.workspaceId, run.requestedBy), async unit => {
      const held = { lockMode: LockMode.PESSIMISTIC_WRITE };
      const environment = await unit.em.findOne(Environment, environmentId, held);
      if (environment !== null) bringBack(unit, environment, run);
    });
  }

  async #removeRows(run: Run, environmentId: string): Promise<string> {
    return writeDuring(this.em, run, async unit => {
      const environment = await unit.em.findOne(Environment, { id: environmentId, workspaceId: run.workspaceId });
      if (environment === null) return 'It was gone already';
      await this.autoDeploy.forget(unit, environment);
      unit.tell(EventKind.environment_updated, EventAction.DELETED, environment, environment.projectId);
      unit.em.remove(environment);
      return 'Removed';
    });
  }
}

/** What it is after a deletion that did not come to its end. */
export function bringBack(unit: UnitOfWork, environment: Environment, run: Run): void {
  if (environment.status !== EnvironmentStatus.DELETING) return;
  const hasFailed = run.status === RunStatus.FAILED;
  environment.status = hasFailed
    ? EnvironmentStatus.DELETE_FAILED
    : (environment.statusBefore ?? EnvironmentStatus.IDLE);
  environment.statusReason = hasFailed ? (run.error?.message ?? null) : null;
  if (!hasFailed) environment.statusBefore = null;
  unit.tell(EventKind.environment_updated, EventAction.UPDATED, environment, environment.projectId);
}
