import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Person, TestApp } from '../support/create-app.ts';
import { eventually } from '../support/eventually.ts';
import { tellRuns } from '../support/runs.ts';
import { SseClient } from '../support/sse-client.ts';

let app: TestApp;
let twin: TestApp;
let owner: Person;
beforeAll(async () => {
  app = await TestApp.start();
  twin = await app.twin();
  owner = await app.register();
});
afterAll(async () => {
  await twin.stop();
  await app.stop();
});

const SUBSCRIPTION = { query: 'subscription { events { id } }' };

/** The same credential at both doors of both instances. */
async function openEverywhere(token: string): Promise<SseClient[]> {
  const readers = await Promise.all(
    [app, twin].flatMap(({ url }) => [
      SseClient.open(`${url}/api/v1/events`, { token }),
      SseClient.open(`${url}/graphql/stream`, { token, body: SUBSCRIPTION }),
    ]),
  );
  expect(readers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  return readers;
}

const allEnded = (readers: SseClient[]) => Promise.all(readers.map(({ ended }) => ended));

async function signIn({ email, password }: Person): Promise<string> {
  const { body } = await app.rest<{ accessToken: string }>('POST', '/auth/login', { body: { email, password } });
  return body.accessToken;
}

describe('a stream is closed, at every door and on every instance, when', () => {
  test('its session is signed out, while other sessions of the account go on', async () => {
    const [here, there] = [await signIn(owner), await signIn(owner)];
    const [closing, going] = [await openEverywhere(here), await openEverywhere(there)];
    await app.rest('POST', '/auth/logout', { token: here });
    await allEnded(closing);
    const [news] = await tellRuns(app, owner.workspaceId, 1);
    for (const reader of going) expect((await reader.next())?.data).toContain('"id"');
    expect(news).toBeDefined();
    await Promise.all(going.map(reader => reader.cut()));
  });

  test('its session is ended from elsewhere', async () => {
    const token = await signIn(owner);
    const readers = await openEverywhere(token);
    const { body } = await app.rest<{ id: string }[]>('GET', '/auth/sessions?limit=1', { token });
    await twin.rest('DELETE', `/auth/sessions/${body[0]?.id}`, { token: owner.token });
    await allEnded(readers);
  });

  test('the password is reset', async () => {
    const bob = await app.register();
    const readers = await openEverywhere(bob.token);
    await app.rest('POST', '/auth/forgot-password', { body: { email: bob.email } });
    const token = await app.mailbox.resetTokenFor(bob.email);
    await app.rest('POST', '/auth/reset-password', { body: { token, password: 'another horse battery' } });
    await allEnded(readers);
  });

  test('its API token is deleted', async () => {
    const { body } = await app.rest<{ id: string; token: string }>('POST', '/auth/tokens', {
      token: owner.token,
      body: { name: 'reader', scope: 'read' },
    });
    const readers = await openEverywhere(body.token);
    await twin.rest('DELETE', `/auth/tokens/${body.id}`, { token: owner.token });
    await allEnded(readers);
  });

  test('the role changes, since rights were checked when it opened', async () => {
    const bob = await app.join(owner, 'MEMBER');
    const readers = await openEverywhere(bob.token);
    await app.rest('PATCH', `/members/${bob.id}`, { token: owner.token, body: { role: 'VIEWER' } });
    await allEnded(readers);
    const again = await SseClient.open(`${app.url}/api/v1/events`, { token: bob.token });
    expect(again.status).toBe(200);
    await again.cut();
  });

  test('the account leaves the workspace', async () => {
    const bob = await app.join(owner, 'VIEWER');
    const readers = await openEverywhere(bob.token);
    await app.rest('DELETE', `/members/${bob.id}`, { token: owner.token });
    await allEnded(readers);
  });

  test('that was not heard, because the listening connection was down', async () => {
    const token = await signIn(owner);
    const readers = await openEverywhere(token);
    // Nobody is told of this change: as if the bell had rung while no one could hear it.
    await app.sql('begin');
    await app.sql('set local session_replication_role = replica');
    await app.sql(
      'update session set ended_at = now() where id = (select id from session where user_id = $1 order by id desc limit 1)',
      [owner.id],
    );
    await app.sql('commit');
    await app.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'slipway listener' and datname = current_database()`,
    );
    await allEnded(readers);
  });
});

test('a session that ends while its stream is being opened opens none', async () => {
  const token = await signIn(owner);
  await app.sql('begin');
  await app.sql('lock table event in access exclusive mode');
  const opening = SseClient.open(`${app.url}/api/v1/events`, { token });
  await eventually(async () => (await app.sql(WAITING_FOR_EVENTS)).length > 0);
  await twin.rest('POST', '/auth/logout', { token });
  await app.sql('commit');
  await (await opening).ended;
});

const WAITING_FOR_EVENTS = `select 1 from pg_locks where not granted and relation = 'event'::regclass`;

test('where one signs out one is out at once', async () => {
  for (let round = 0; round < 5; round += 1) {
    const token = await signIn(owner);
    expect((await app.rest('GET', '/auth/me', { token })).status).toBe(200);
    await app.rest('POST', '/auth/logout', { token });
    expect((await app.rest('GET', '/auth/me', { token })).status).toBe(401);
  }
});
