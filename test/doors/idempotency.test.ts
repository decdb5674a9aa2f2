import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { clock, DAY } from '../../src/clock.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { rawRequest } from '../support/raw-http.ts';
import { DOORS, type Door, type Outcome, ThreeDoors } from '../support/three-doors.ts';

let app: TestApp;
let doors: ThreeDoors;
let ann: Person;
beforeAll(async () => {
  app = await TestApp.start();
  doors = await ThreeDoors.of(app);
  ann = await app.register();
});
afterAll(() => app.stop());

let serial = 0;
const fresh = () => ({ key: `key-${++serial}`, email: `guest-${serial}@example.org` });

const invite = (door: Door, email: string, key: string, more: { role?: string; token?: string } = {}) =>
  doors.call(
    door,
    'Mutation.createInvitation',
    { email, role: more.role ?? 'VIEWER' },
    { token: more.token ?? ann.token, headers: { 'idempotency-key': key } },
  );

const invitationsTo = (email: string) => app.sql('select id from invitation where email = $1', [email]);
const isReplay = ({ headers }: Outcome) => headers.get('idempotency-replayed') === 'true';

describe.each(DOORS)('at the door %s', door => {
  test('the first answer is given again, and nothing is done twice', async () => {
    const { key, email } = fresh();
    const first = await invite(door, email, key);
    const second = await invite(door, email, key);
    expect(first).toMatchObject({ status: door === 'rest' ? 201 : 200, value: { email } });
    expect(second).toMatchObject({ status: first.status, value: first.value });
    expect([isReplay(first), isReplay(second)]).toEqual([false, true]);
    expect(await invitationsTo(email)).toHaveLength(1);
    await app.mailbox.invitationFor(email);
    expect(app.mailbox.mailsTo(email)).toHaveLength(0);
  });

  test('the same key for another body is 422, and does nothing', async () => {
    const { key, email } = fresh();
    await invite(door, email, key);
    const other = await invite(door, `other-${email}`, key);
    expect(other).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
    expect(await invitationsTo(`other-${email}`)).toHaveLength(0);
  });

  test('a refusal is kept like any other answer', async () => {
    const { key } = fresh();
    const first = await invite(door, ann.email, key);
    const second = await invite(door, ann.email, key);
    expect([first, second]).toMatchObject([
      { status: 409, code: 'EMAIL_TAKEN', detail: first.detail },
      { status: 409, code: 'EMAIL_TAKEN', detail: first.detail },
    ]);
    expect([isReplay(first), isReplay(second)]).toEqual([false, true]);
  });

  test('F31: of fifty requests with one key at once exactly one takes effect, the others get its answer or 409', async () => {
    const { key, email } = fresh();
    const answers = await Promise.all(Array.from({ length: 50 }, () => invite(door, email, key)));
    const done = answers.filter(({ code }) => code === undefined);
    const ids = new Set(done.map(({ value }) => (value as { id: string }).id));
    expect(ids.size).toBe(1);
    expect(done.filter(answer => !isReplay(answer))).toHaveLength(1);
    const rest = answers.filter(({ code }) => code !== undefined);
    expect(rest.map(({ code }) => code)).toEqual(rest.map(() => 'IDEMPOTENCY_RUNNING'));
    expect(rest.map(({ status }) => status)).toEqual(rest.map(() => 409));
    expect(await invitationsTo(email)).toHaveLength(1);
    const entries = await app.sql('select 1 from audit_entry where resource = $1', [`Invitation:${[...ids][0]}`]);
    expect(entries).toHaveLength(1);
  });

  test.each(['', ' ', 'with space', 'ü', 'x'.repeat(256)])('a key that is no key is refused: %j', async key => {
    const { email } = fresh();
    const answer = await invite(door, email, key).catch(() => undefined);
    if (answer === undefined) return; // The client itself does not send such a header.
    expect(answer).toMatchObject({ status: 400, fields: [{ field: 'Idempotency-Key' }] });
    expect(await invitationsTo(email)).toHaveLength(0);
  });
});

test('a key is one across the doors', async () => {
  const { key, email } = fresh();
  const answers = [await invite('rest', email, key), await invite('graphql', email, key)];
  answers.push(await invite('stream', email, key));
  expect(answers.map(isReplay)).toEqual([false, true, true]);
  expect(new Set(answers.map(({ value }) => (value as { id: string }).id)).size).toBe(1);
});

test('another account and another route may use the same key', async () => {
  const { key, email } = fresh();
  const bob = await app.register();
  const first = await invite('rest', email, key);
  const second = await invite('rest', email, key, { token: bob.token });
  const third = await doors.call(
    'graphql',
    'Mutation.deleteInvitation',
    { id: (first.value as { id: string }).id },
    { token: ann.token, headers: { 'idempotency-key': key } },
  );
  expect([first.status, second.status, third.status]).toEqual([201, 201, 200]);
  expect([first, second, third].map(isReplay)).toEqual([false, false, false]);
});

test('an answer is kept for a day and no longer', async () => {
  const { key, email } = fresh();
  await invite('rest', email, key);
  const real = clock.now;
  try {
    clock.now = () => new Date(Date.now() + DAY - 60_000);
    const { token } = await signIn();
    expect(isReplay(await invite('rest', email, key, { token }))).toBe(true);
    clock.now = () => new Date(Date.now() + DAY + 60_000);
    const later = await signIn();
    const anew = await invite('rest', email, key, { token: later.token, role: 'MEMBER' });
    expect(anew).toMatchObject({ status: 201, value: { role: 'MEMBER' } });
    expect(isReplay(anew)).toBe(false);
  } finally {
    clock.now = real;
  }
});

async function signIn(): Promise<{ token: string }> {
  const body = { email: ann.email, password: ann.password };
  const answer = await app.rest<{ accessToken: string }>('POST', '/auth/login', { body });
  return { token: answer.body.accessToken };
}

test('401, 429 and 5xx are not kept: the same request works once the reason is gone', async () => {
  const limited = await app.twin({ RATE_LIMIT: '1/1m' });
  const { key, email } = fresh();
  try {
    const there = doors.at(limited);
    const ask = (token: string) =>
      there.call(
        'rest',
        'Mutation.createInvitation',
        { email, role: 'VIEWER' },
        { token, headers: { 'idempotency-key': key } },
      );
    expect(await ask('no-token')).toMatchObject({ status: 401 });
    await there.call('rest', 'Query.me', {}, { token: ann.token });
    expect(await ask(ann.token)).toMatchObject({ status: 429 });
  } finally {
    await limited.stop();
  }
  await app.sql('alter table invitation rename to invitation_away');
  expect(await invite('rest', email, key)).toMatchObject({ status: 500, code: 'INTERNAL' });
  await app.sql('alter table invitation_away rename to invitation');
  const answer = await invite('rest', email, key);
  expect([answer.status, isReplay(answer)]).toEqual([201, false]);
});

test('what was committed before its answer was lost is answered from what was kept, also by another instance', async () => {
  const { key, email } = fresh();
  const body = JSON.stringify({ email, role: 'VIEWER' });
  const cut = rawRequest(app.url, 'POST', '/api/v1/members/invitations', {
    headers: { authorization: `Bearer ${ann.token}`, 'idempotency-key': key, 'content-type': 'application/json' },
    body,
  });
  cut.abandon();
  await app.mailbox.invitationFor(email);
  const twin = await app.twin();
  try {
    const answer = await doors
      .at(twin)
      .call(
        'rest',
        'Mutation.createInvitation',
        { email, role: 'VIEWER' },
        { token: ann.token, headers: { 'idempotency-key': key } },
      );
    expect([answer.status, isReplay(answer)]).toEqual([201, true]);
    expect(await invitationsTo(email)).toHaveLength(1);
  } finally {
    await twin.stop();
  }
});

test.each(['graphql', 'stream'] as const)('at the door %s a keyed request has one mutation field', async door => {
  const { key } = fresh();
  const query = `mutation { a: createInvitation(email: "a@example.org", role: VIEWER) { id }
    b: createInvitation(email: "b@example.org", role: VIEWER) { id } }`;
  const answer = await doors.send(door, { query }, { token: ann.token, headers: { 'idempotency-key': key } });
  expect(answer).toMatchObject({ http: 400, code: 'BAD_INPUT', fields: [{ field: 'Idempotency-Key' }] });
  expect(await invitationsTo('a@example.org')).toHaveLength(0);
});

test('what lies under /auth is never kept: a key there changes nothing', async () => {
  const { key } = fresh();
  const make = () =>
    doors.call(
      'rest',
      'Mutation.createApiToken',
      { name: 'ci', scope: 'read' },
      { token: ann.token, headers: { 'idempotency-key': key } },
    );
  const [first, second] = [await make(), await make()];
  expect((first.value as { token: string }).token).not.toBe((second.value as { token: string }).token);
  expect([isReplay(first), isReplay(second)]).toEqual([false, false]);
});

test('kept answers lie sealed in the database, and the key itself nowhere', async () => {
  const { key, email } = fresh();
  await invite('rest', email, key);
  const rows = JSON.stringify(await app.sql('select * from idempotent_answer'));
  expect(rows).not.toContain(email);
  expect(rows).not.toContain(key);
});
