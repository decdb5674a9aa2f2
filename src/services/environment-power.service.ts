import type { EntityManager } from '@mikro-orm/postgresql';
import { EnvironmentPower, type UseMachine } from '../engine/environment-power.ts';
import type { Step } from '../engine/run.engine.ts';
import { Deployment } from '../entities/deployment.ts';
import { Environment } from '../entities/environment.ts';
import { Run, type RunKind, RunStatus } from '../entities/run.ts';
import { DomainError } from '../errors.ts';
import type { UnitOfWork } from '../events/unit-of-work.ts';
import type { Queue } from '../jobs/queue.ts';
import { refuseDeletedEnvironment } from './deployment-queue.ts';
import type { RunService } from './run.service.ts';
import type { Scope } from './scope.ts';

/** Restarts, stops and starts what serves. */
export class EnvironmentPowerService {
  constructor(
    private readonly em: EntityManager,
    private readonly use: UseMachine,
    private readonly runs: RunService,
    private readonly queue: Queue,
  ) {}

  /** Asked for twice, it is done once. */
  async ask(scope: Scope, kind: RunKind, id: string, ifVersion?: number | null): Promise<Run> {
    return scope.transact(async unit => {
      const environment = await scope.load(unit, Environment, id, ifVersion);
      refuseDeletedEnvironment(environment);
      if (environment.currentDeploymentId === null)
        throw new DomainError('NOT_DEPLOYED', 'Nothing of this environment runs yet; deploy it first');
      await refuseDeploying(unit, id);
      const subject = subjectOf(id);
      const open = { subject, status: [RunStatus.QUEUED, RunStatus.RUNNING] };
      const last = await unit.em.findOne(Run, open, { orderBy: { id: 'desc' } });
      if (last?.kind === kind) return last;
      const run = this.runs.start(unit, kind, environment.workspaceId, subject);
      await this.queue.enqueue(unit, 'environment.work', { runId: run.id, environmentId: id }, { lane: id });
      return run;
    });
  }

  steps(run: Run, environmentId: string): Step[] {
    return new EnvironmentPower(this.em, this.use, run, environmentId).steps();
  }
}

/** Deployments wait for runs of their environment that have this subject. */
export const subjectOf = (environmentId: string): string => `Environment:${environmentId}`;

async function refuseDeploying(unit: UnitOfWork, environmentId: string): Promise<void> {
  if ((await unit.em.count(Deployment, { environmentId, isFinished: false })) > 0)
    throw new DomainError('DEPLOYMENT_RUNNING', 'A deployment of this environment is under way; wait or cancel it');
}
