import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { LOCK } from '../../src/database/lock.ts';
import { RunKind } from '../../src/entities/run.ts';
import { UnitOfWork } from '../../src/events/unit-of-work.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { eventually } from '../support/eventually.ts';
import { changeIn, originOf, tellRuns } from '../support/runs.ts';
import { SseClient } from '../support/sse-client.ts';

let app: TestApp;
let ann: Person;
beforeAll(async () => {
  app = await TestApp.start();
  ann = await app.register();
});
afterAll(() => app.stop());

interface Told {
  resourceId: string;
}

const listen = () => SseClient.open(`${app.url}/api/v1/events`, { token: ann.token });

test('a writer that began first and commits last is heard last, and is heard', async () => {
  const reader = await listen();
  const gate = Promise.withResolvers<void>();
  const late = changeIn(app, ann.workspaceId, async unit => {
    const run = app.app.services.runs.start(unit, RunKind.RESEAL, ann.workspaceId, 'late');
    await unit.em.flush();
    await gate.promise;
    return run.id;
  });
  const [early] = await tellRuns(app, ann.workspaceId, 1);
  expect(await reader.read<Told>(1)).toMatchObject([{ resourceId: early }]);
  gate.resolve();
  expect(await reader.read<Told>(1)).toMatchObject([{ resourceId: await late }]);
  await reader.cut();
});

test('whoever has a number but has not committed holds up the next number', async () => {
  const reader = await listen();
  await app.sql('begin');
  await app.sql('select pg_advisory_xact_lock($1)', [LOCK.events]);
  let isTold = false;
  const waiting = tellRuns(app, ann.workspaceId, 1).then(([id]) => {
    isTold = true;
    return id;
  });
  await eventually(async () => (await app.sql(WAITING)).length > 0);
  expect(isTold).toBe(false);
  await app.sql('commit');
  expect(await reader.read<Told>(1)).toMatchObject([{ resourceId: await waiting }]);
  await reader.cut();
});

test('a writer that is frozen with a number in its hand holds the others up for seconds only, and is refused', async () => {
  const thaw = Promise.withResolvers<void>();
  const frozen = app.app.database.orm.em.fork().transactional(async em => {
    const unit = new UnitOfWork(em, originOf(ann.workspaceId));
    app.app.services.runs.start(unit, RunKind.RESEAL, ann.workspaceId, 'frozen');
    await unit.complete();
    await thaw.promise;
  });
  const refused = expect(frozen).rejects.toThrow();
  await eventually(async () => (await app.sql(HELD)).length > 0);
  const [next] = await tellRuns(app, ann.workspaceId, 1);
  expect(next).toBeDefined();
  thaw.resolve();
  await refused;
  expect(await app.sql(`select 1 from run where subject = 'frozen'`)).toEqual([]);
});

const HELD = `
select 1 from pg_locks where locktype = 'advisory' and granted
and database = (select oid from pg_database where datname = current_database())`;

const WAITING = `
select 1 from pg_locks where locktype = 'advisory' and not granted
and database = (select oid from pg_database where datname = current_database())`;

test('forty writers at once: everything is heard, once, in the order of the numbers', async () => {
  const reader = await listen();
  const told = await Promise.all(
    Array.from({ length: 40 }, (_, writer) =>
      changeIn(app, ann.workspaceId, async unit => {
        const ids: string[] = [];
        for (let index = 0; index <= writer % 4; index += 1) {
          ids.push(app.app.services.runs.start(unit, RunKind.RESEAL, ann.workspaceId, `${writer}`).id);
          await unit.em.flush();
        }
        return ids;
      }),
    ),
  );
  const heard = (await reader.read<Told>(told.flat().length)).map(({ resourceId }) => resourceId);
  const stored = await app.sql<{ id: string }>(
    'select resource_id as id from event where resource_id = any($1) order by seq',
    [told.flat()],
  );
  expect(heard).toEqual(stored.map(({ id }) => id));
  expect(new Set(heard)).toEqual(new Set(told.flat()));
  await reader.cut();
});

test('a change that is rolled back is never told, though it had taken a number', async () => {
  const reader = await listen();
  const undone = changeIn(app, ann.workspaceId, async unit => {
    app.app.services.runs.start(unit, RunKind.RESEAL, ann.workspaceId, 'undone');
    await unit.complete();
    throw new Error('the last moment');
  });
  await expect(undone).rejects.toThrow('the last moment');
  const [told] = await tellRuns(app, ann.workspaceId, 1);
  expect(await reader.read<Told>(1)).toMatchObject([{ resourceId: told }]);
  const rows = await app.sql(`select 1 from event where data->>'subject' = 'undone'`);
  expect([...rows, ...(await app.sql(`select 1 from run where subject = 'undone'`))]).toEqual([]);
  await reader.cut();
});
