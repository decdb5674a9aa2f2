import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { TestApp } from '../support/create-app.ts';

type MoveRows = (from: pg.Client, to: pg.Client) => Promise<Record<string, number>>;

let source: TestApp;
let target: TestApp;
let clients: pg.Client[];
let moveRows: MoveRows;

beforeAll(async () => {
  ({ moveRows } = (await import('../../scripts/move-rows.mjs' as string)) as { moveRows: MoveRows });
  [source, target] = await Promise.all([TestApp.start(), TestApp.start()]);
  clients = [source, target].map(({ databaseUrl }) => new pg.Client({ connectionString: databaseUrl }));
  await Promise.all(clients.map(client => client.connect()));
});
afterAll(async () => {
  await Promise.all(clients.map(client => client.end()));
  await Promise.all([source.stop(), target.stop()]);
});

const move = () => moveRows(clients[0] as pg.Client, clients[1] as pg.Client);

test('all rows, waiting jobs and sequences arrive, and the target goes on with them', async () => {
  const ann = await source.register('ann@example.org');
  const headers = { 'idempotency-key': 'invite-bob' };
  const invitation = { email: 'bob@example.org', role: 'MEMBER' };
  await source.rest('POST', '/members/invitations', { token: ann.token, body: invitation, headers });
  await source.app.database.orm.em.fork().transactional(async em => {
    await source.app.queue.enqueue({ em }, 'password.forgot', { email: 'x@example.org' }, { startAfterSeconds: 3600 });
  });
  await source.sql(`select setval('event_seq', 9007199254740993)`);

  const counts = await move();
  expect(counts).toMatchObject({ users: 1, invitation: 1, idempotent_answer: 1, instance: 1 });
  // What is done by the clock may wait beside it at this moment.
  expect(counts['waiting jobs']).toBeGreaterThanOrEqual(1);
  for (const table of Object.keys(counts).filter(name => name !== 'waiting jobs')) {
    const text = `select to_json(t)::text as row from "${table}" t order by 1`;
    expect([table, await target.sql(text)]).toEqual([table, await source.sql(text)]);
  }
  expect(await target.sql('select last_value from event_seq')).toEqual([{ last_value: '9007199254740993' }]);
  const jobs = `select data->>'email' as email, state from pgboss.job where name = 'password.forgot'`;
  expect(await target.sql(jobs)).toEqual([{ email: 'x@example.org', state: 'created' }]);

  const me = await target.rest('GET', '/auth/me', { token: ann.token });
  expect(me).toMatchObject({ status: 200, body: { email: 'ann@example.org' } });
  const again = await target.rest('POST', '/members/invitations', { token: ann.token, body: invitation, headers });
  expect(again.headers.get('idempotency-replayed')).toBe('true');
});

test('a target with accounts is left alone', async () => {
  await expect(move()).rejects.toThrow('The target has accounts already');
});

test('a target of another version is refused', async () => {
  await source.sql(`insert into mikro_orm_migrations (name) values ('from-the-future')`);
  await expect(move()).rejects.toThrow('different versions');
});
