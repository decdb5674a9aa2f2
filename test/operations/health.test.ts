import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { TestApp } from '../support/create-app.ts';
import { eventually } from '../support/eventually.ts';
import { withDatabase } from '../support/settings.ts';

let app: TestApp;
let name: string;
/** Not in the database that goes away. */
let outside: pg.Client;
beforeAll(async () => {
  app = await TestApp.start();
  [{ name } = { name: '' }] = await app.sql<{ name: string }>('select current_database() as name');
  outside = new pg.Client({ connectionString: withDatabase(app.databaseUrl, 'postgres') });
  await outside.connect();
});
afterAll(async () => {
  await outside.end();
  await app.stop();
});

async function ask(path: string) {
  const response = await fetch(`${app.url}${path}`);
  return { status: response.status, body: await response.json() };
}

const READY = { status: 200, body: { status: 'ok', database: 'ok', queue: 'ok' } };

test('a service that can work says so, without a token', async () => {
  expect(await ask('/healthz')).toEqual({ status: 200, body: { status: 'ok' } });
  expect(await ask('/readyz')).toEqual(READY);
});

test('while the queue is away it is not ready, and says why; it lives all the same', async () => {
  await app.sql('alter schema pgboss rename to pgboss_away');
  expect(await ask('/readyz')).toEqual({
    status: 503,
    body: { status: 'unavailable', database: 'ok', queue: 'unavailable' },
  });
  expect((await ask('/healthz')).status).toBe(200);
  await app.sql('alter schema pgboss_away rename to pgboss');
  expect(await ask('/readyz')).toEqual(READY);
});

test('a database that does not answer is told within seconds, not when it gives up', async () => {
  await app.sql('begin');
  await app.sql('lock table pgboss.queue in access exclusive mode');
  const startedAt = performance.now();
  expect(await ask('/readyz')).toMatchObject({ status: 503, body: { queue: 'unavailable' } });
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  await app.sql('commit');
  await eventually(async () => (await ask('/readyz')).status === 200);
});

test('while the database is away it is not ready, and comes back with it by itself', async () => {
  await outside.query(`alter database ${name} with allow_connections false`);
  await outside.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name like $2',
    [name, 'slipway%'],
  );
  await eventually(async () => (await ask('/readyz')).status === 503);
  expect((await ask('/readyz')).body).toEqual({ status: 'unavailable', database: 'unavailable', queue: 'unavailable' });
  expect((await ask('/healthz')).status).toBe(200);
  await outside.query(`alter database ${name} with allow_connections true`);
  await eventually(async () => (await ask('/readyz')).status === 200);
});
