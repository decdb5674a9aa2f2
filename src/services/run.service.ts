import { clock } from '../clock.ts';
import type { Page, Row } from '../database/rows.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { Run, type RunKind, RunStatus } from '../entities/run.ts';
import { DomainError } from '../errors.ts';
import type { UnitOfWork } from '../events/unit-of-work.ts';
import type { Scope } from './scope.ts';

export interface RunFilter {
  kind?: RunKind | undefined;
  status?: RunStatus | undefined;
}

/** Long work, as callers watch it. The engine carries it out. */
export class RunService {
  list(scope: Scope, { kind, status }: RunFilter, page: Page): Promise<Row<Run>[]> {
    return scope.list(Run, { kind, status }, page);
  }

  get(scope: Scope, id: string): Promise<Row<Run>> {
    return scope.row(Run, id);
  }

  /** Records that work was asked for; the caller enqueues its job in the same unit. */
  start(unit: UnitOfWork, kind: RunKind, workspaceId: string, subject: string | null): Run {
    const run = unit.em.create(Run, { workspaceId, kind, subject, requestedBy: unit.origin.actor });
    unit.tell(EventKind.run_updated, EventAction.CREATED, run);
    return run;
  }

  /** What has not begun is cancelled at once; what has begun cannot be, its worker owns it. */
  async cancel(scope: Scope, id: string, ifVersion?: number | null): Promise<Run> {
    return scope.transact(async unit => {
      const run = await scope.load(unit, Run, id, ifVersion);
      if (run.status !== RunStatus.QUEUED) {
        throw new DomainError('RUN_FINISHED', `A run that is ${run.status} cannot be cancelled`);
      }
      Object.assign(run, { status: RunStatus.CANCELLED, finishedAt: clock.now() });
      unit.tell(EventKind.run_updated, EventAction.UPDATED, run);
      return run;
    });
  }
}
