import { clock } from '../clock.ts';
import type { Page, Row } from '../database/rows.ts';
import { cancelBell } from '../engine/run.engine.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { Run, RunKind, RunStatus } from '../entities/run.ts';
import { DomainError } from '../errors.ts';
import { ringRows } from '../events/row-bell.ts';
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

  /** What has not begun is cancelled at once. What has begun is its worker's, who is asked to end it, if it is of a kind that can be. */
  async cancel(scope: Scope, id: string, ifVersion?: number | null): Promise<Run> {
    return scope.transact(async unit => {
      const run = await scope.load(unit, Run, id, ifVersion);
      if (run.status === RunStatus.QUEUED) Object.assign(run, { status: RunStatus.CANCELLED, finishedAt: clock.now() });
      else await askToEnd(unit, run);
      unit.tell(EventKind.run_updated, EventAction.UPDATED, run);
      return run;
    });
  }
}

const ENDABLE: readonly RunKind[] = [RunKind.INSTALL_DOCKER];

async function askToEnd(unit: UnitOfWork, run: Run): Promise<void> {
  if (run.status !== RunStatus.RUNNING || !ENDABLE.includes(run.kind))
    throw new DomainError('RUN_FINISHED', `A run that is ${run.status} cannot be cancelled`);
  run.cancelAskedAt ??= clock.now();
  await ringRows(unit.em, cancelBell(run.id));
}
