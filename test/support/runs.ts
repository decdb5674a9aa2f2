import { RunKind } from '../../src/entities/run.ts';
import { transact, type UnitOfWork, workOrigin } from '../../src/events/unit-of-work.ts';
import type { TestApp } from './create-app.ts';

/** Who asks in a test; the service itself where no account is given. */
export const originOf = (workspaceId: string, actor: string | null = null) => workOrigin('test', workspaceId, actor);

/** Runs and their events as the product makes them: rows, event and bell in one transaction. Returns their ids. */
export async function tellRuns(
  { app }: TestApp,
  workspaceId: string,
  count: number,
  subjectOf = (index: number) => `${index}`,
): Promise<string[]> {
  return changeIn({ app }, workspaceId, async unit =>
    Array.from({ length: count }, (_, index) => {
      return app.services.runs.start(unit, RunKind.RESEAL, workspaceId, subjectOf(index)).id;
    }),
  );
}

export const changeIn = <Result>(
  { app }: Pick<TestApp, 'app'>,
  workspaceId: string,
  work: (unit: UnitOfWork) => Promise<Result>,
): Promise<Result> => transact(app.database.orm.em, originOf(workspaceId), work);
