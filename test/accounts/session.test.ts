import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DAY, MINUTE } from '../../src/clock.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { later } from '../support/moved-clock.ts';
import { DOORS, type Door, ThreeDoors } from '../support/three-doors.ts';

let app: TestApp;
let twin: TestApp;
let doors: ThreeDoors;
beforeAll(async () => {
  app = await TestApp.start();
  twin = await app.twin();
  doors = await ThreeDoors.of(app);
});
afterAll(async () => {
  await twin.stop();
  await app.stop();
});

interface Pair {
  accessToken: string;
  refreshToken: string;
}

const refresh = (door: Door, refreshToken: string) => doors.call(door, 'Mutation.refresh', { refreshToken });
const pairOf = async (door: Door, refreshToken: string) => (await refresh(door, refreshToken)).value as Pair;
const statusOf = async (instance: TestApp, token: string) => (await instance.rest('GET', '/auth/me', { token })).status;

async function signIn({ email, password }: Person): Promise<Pair> {
  return (await app.rest<Pair>('POST', '/auth/login', { body: { email, password } })).body;
}

describe.each(DOORS)('at the door %s', door => {
  test('a refresh token gives a new pair, and that again', async () => {
    const { refreshToken } = await app.register();
    const second = await pairOf(door, refreshToken);
    const third = await pairOf(door, second.refreshToken);
    expect(new Set([refreshToken, second.refreshToken, third.refreshToken]).size).toBe(3);
    expect(await statusOf(app, third.accessToken)).toBe(200);
  });

  test('its immediate predecessor gets the same successor for 30 seconds: two tabs stay signed in', async () => {
    const { refreshToken } = await app.register();
    const [one, other] = [await pairOf(door, refreshToken), await pairOf(door, refreshToken)];
    expect(other.refreshToken).toBe(one.refreshToken);
    await later(29_000, async () => {
      expect((await pairOf(door, refreshToken)).refreshToken).toBe(one.refreshToken);
    });
    expect((await refresh(door, one.refreshToken)).status).toBe(200);
  });

  test('after 30 seconds the predecessor was copied: it ends the session', async () => {
    const { refreshToken } = await app.register();
    const successor = await pairOf(door, refreshToken);
    await later(31_000, async () => {
      expect(await refresh(door, refreshToken)).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
      expect(await refresh(door, successor.refreshToken)).toMatchObject({ status: 401 });
      expect(await statusOf(app, successor.accessToken)).toBe(401);
    });
  });

  test('an older one ends the whole family, however soon it comes', async () => {
    const { refreshToken } = await app.register();
    const second = await pairOf(door, refreshToken);
    const third = await pairOf(door, second.refreshToken);
    expect(await refresh(door, refreshToken)).toMatchObject({ status: 401 });
    expect(await refresh(door, third.refreshToken)).toMatchObject({ status: 401 });
    expect([await statusOf(app, third.accessToken), await statusOf(twin, third.accessToken)]).toEqual([401, 401]);
  });

  test('signing out acts at once, on every instance, for access and refresh tokens', async () => {
    const bob = await app.register();
    const other = await signIn(bob);
    expect([await statusOf(app, bob.token), await statusOf(twin, bob.token)]).toEqual([200, 200]);
    expect(await doors.call(door, 'Mutation.logout', {}, { token: bob.token })).toMatchObject({ status: 200 });
    expect(await Promise.all([statusOf(twin, bob.token), statusOf(app, bob.token)])).toEqual([401, 401]);
    expect(await refresh(door, bob.refreshToken)).toMatchObject({ status: 401 });
    expect(await statusOf(twin, other.accessToken)).toBe(200);
  });

  test('one sees where one is signed in, and signs out there', async () => {
    const bob = await app.register();
    const other = await signIn(bob);
    const list = async () =>
      (await doors.call(door, 'Query.sessions', {}, { token: bob.token })).value as { id: string; ip: string }[];
    const sessions = await list();
    expect(sessions).toHaveLength(2);
    expect(sessions[0]).toMatchObject({
      ip: '127.0.0.1',
      userAgent: expect.any(String),
      createdAt: expect.any(String),
    });
    const id = sessions[0]?.id;
    expect(await statusOf(twin, other.accessToken)).toBe(200);
    expect(await doors.call(door, 'Mutation.deleteSession', { id }, { token: bob.token })).toMatchObject({
      value: { id },
    });
    expect(await statusOf(twin, other.accessToken)).toBe(401);
    expect(await list()).toHaveLength(1);
    expect(await doors.call(door, 'Mutation.deleteSession', { id }, { token: bob.token })).toMatchObject({
      status: 404,
    });
  });

  test("another member's session is not found", async () => {
    const owner = await app.register();
    const member = await app.join(owner, 'MEMBER');
    const [session] = (await doors.call(door, 'Query.sessions', {}, { token: member.token })).value as { id: string }[];
    const answer = await doors.call(door, 'Mutation.deleteSession', { id: session?.id }, { token: owner.token });
    expect(answer).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });

  test.each([
    'slr_',
    'x',
    'slr_01890000-0000-7000-8000-000000000000.1.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    'slr_01890000-0000-7000-8000-000000000000.999999999999.AAAA',
    'eyJhbGciOiJub25lIn0.e30.',
  ])('%s is no refresh token', async token => {
    expect(await refresh(door, token)).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
  });
});

test('ten sign-outs are seen by both instances in the very next requests', async () => {
  const bob = await app.register();
  const pairs: Pair[] = [];
  for (let n = 0; n < 10; n += 1) pairs.push(await signIn(bob));
  for (let round = 0; round < 10; round += 1) {
    const { accessToken } = pairs[round] as Pair;
    await Promise.all([statusOf(app, accessToken), statusOf(twin, accessToken)]);
    const there = round % 2 === 0 ? app : twin;
    await there.rest('POST', '/auth/logout', { token: accessToken });
    const statuses = Array.from({ length: 10 }, (_, n) => statusOf(n % 2 === 0 ? app : twin, accessToken));
    expect(await Promise.all(statuses)).toEqual(statuses.map(() => 401));
  }
});

test('twenty tabs that refresh at once all get the same successor', async () => {
  const { refreshToken } = await app.register();
  const pairs = await Promise.all(Array.from({ length: 20 }, () => pairOf('rest', refreshToken)));
  expect(new Set(pairs.map(pair => pair.refreshToken)).size).toBe(1);
});

test('the access token ends after 15 minutes, the session after 30 days without a refresh', async () => {
  const bob = await app.register();
  await later(15 * MINUTE - 5000, async () => expect(await statusOf(app, bob.token)).toBe(200));
  await later(15 * MINUTE + 5000, async () => expect(await statusOf(app, bob.token)).toBe(401));
  const kept = await later(29 * DAY, () => pairOf('rest', bob.refreshToken));
  await later(58 * DAY, async () => expect((await refresh('rest', kept.refreshToken)).status).toBe(200));
  const late = await app.register();
  await later(31 * DAY, async () => {
    expect(await refresh('rest', late.refreshToken)).toMatchObject({ status: 401 });
    const { accessToken } = await signIn(late);
    expect((await app.rest<unknown[]>('GET', '/auth/sessions', { token: accessToken })).body).toHaveLength(1);
  });
});

test('refresh tokens are not in the database', async () => {
  const { refreshToken } = await app.register();
  const [, , mac] = refreshToken.split('.');
  expect(JSON.stringify(await app.sql('select * from session'))).not.toContain(mac);
});

test('a ticket opens its one stream and nothing else, and ends with its session', async () => {
  const bob = await app.register();
  const ticketFor = async (path: string) =>
    (await app.rest<{ ticket: string }>('POST', '/auth/stream-ticket', { token: bob.token, body: { path } })).body
      .ticket;
  const open = async (url: string) => {
    const response = await fetch(app.url + url, { headers: { 'apollo-require-preflight': 'yes' } });
    await response.body?.cancel();
    return response.status;
  };
  const ticket = await ticketFor('/api/v1/events');
  expect(await open(`/api/v1/events?ticket=${ticket}`)).toBe(200);
  expect(await open(`/api/v1/auth/me?ticket=${ticket}`)).toBe(401);
  expect(await statusOf(app, ticket)).toBe(401);
  expect(await open(`/graphql?query={me{id}}&ticket=${await ticketFor('/graphql')}`)).toBe(401);
  expect(await open(`/api/v1/auth/me?ticket=${await ticketFor('/api/v1/auth/me')}`)).toBe(400);
  await app.rest('POST', '/auth/logout', { token: bob.token });
  expect(await open(`/api/v1/events?ticket=${ticket}`)).toBe(401);
});
