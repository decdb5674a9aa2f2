import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { clock, DAY } from '../../src/clock.ts';
import { PASSWORD, TestApp } from '../support/create-app.ts';
import { DOORS, ThreeDoors } from '../support/three-doors.ts';

let app: TestApp;
let doors: ThreeDoors;
beforeAll(async () => {
  app = await TestApp.start();
  doors = await ThreeDoors.of(app);
});
afterAll(() => app.stop());

interface Registered {
  user: { id: string; email: string; emailVerified: boolean; workspaceId: string };
  challenge: string;
  otp: { sentTo: string; expiresAt: string };
}

test('a person registers, proves the address and reads the profile; the first one looks after the instance', async () => {
  const ann = await app.register('ann@example.org');
  const me = await app.rest('GET', '/auth/me', { token: ann.token });
  expect(me).toMatchObject({ status: 200, body: { email: 'ann@example.org', role: 'OWNER', instanceAdmin: true } });
  expect(me.body).toMatchObject({ emailVerified: true, twoFactorEnabled: false, workspaceId: ann.workspaceId });
});

test('only the first verified account is the instance admin, and each has a workspace of its own', async () => {
  const [bob, eve] = [await app.register(), await app.register()];
  for (const { token } of [bob, eve])
    expect(await app.rest('GET', '/auth/me', { token })).toMatchObject({ body: { instanceAdmin: false } });
  expect(bob.workspaceId).not.toBe(eve.workspaceId);
});

describe.each(DOORS)('at the door %s', door => {
  const register = (args: Record<string, unknown>) => doors.call(door, 'Mutation.register', args);

  test('registering answers the account, a challenge and where the code went', async () => {
    const answer = await register({ email: `new-${door}@example.org`, password: PASSWORD, name: 'New' });
    expect(answer.status).toBe(door === 'rest' ? 201 : 200);
    const { user, challenge, otp } = answer.value as Registered;
    expect(user).toMatchObject({ email: `new-${door}@example.org`, name: 'New', emailVerified: false, role: 'OWNER' });
    expect(challenge).toMatch(/^[\w-]{43}$/);
    expect(otp).toEqual({ sentTo: 'n***@example.org', expiresAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) });
  });

  test('a verified address is taken, however it is spelled', async () => {
    const { email } = await app.register(`taken-${door}@example.org`);
    const answer = await register({ email: email.toUpperCase(), password: PASSWORD });
    expect(answer).toMatchObject({ status: 409, code: 'EMAIL_TAKEN' });
  });

  test('an unverified account gives way to the next claimant: its password, code and challenge are worth nothing', async () => {
    const email = `claimed-${door}@example.org`;
    const first = (await register({ email, password: 'the first claimant' })).value as Registered;
    const firstCode = await app.mailbox.codeFor(email);
    const second = (await register({ email, password: PASSWORD })).value as Registered;
    const code = await app.mailbox.codeFor(email);
    expect(second.user.id).not.toBe(first.user.id);
    expect(second.user.workspaceId).not.toBe(first.user.workspaceId);
    const verify = (args: object) => doors.call(door, 'Mutation.verifyOtp', { email, ...args });
    expect(await verify({ code: firstCode, challenge: first.challenge })).toMatchObject({ code: 'OTP_INVALID' });
    expect(await verify({ code, challenge: first.challenge })).toMatchObject({ code: 'OTP_INVALID' });
    expect(await verify({ code, challenge: second.challenge })).toMatchObject({ status: 200 });
    const login = await doors.call(door, 'Mutation.login', { email, password: 'the first claimant' });
    expect(login).toMatchObject({ status: 401, code: 'INVALID_CREDENTIALS' });
  });

  test.each([
    ['password', 'too short', { password: 'short' }],
    ['password', 'longer than 256 characters', { password: 'ab1!'.repeat(65) }],
    ['password', 'a common one', { password: 'qwertyuiop123' }],
    ['password', 'one character over and over', { password: 'aaaaaaaaaaaaaaaa' }],
    ['email', 'no address', { email: 'nobody' }],
    ['email', 'too long', { email: `${'a'.repeat(250)}@example.org` }],
    ['name', 'empty', { name: '' }],
    ['name', 'with a character no database keeps', { name: 'a\u0000b' }],
  ])('%s that is %s is refused by its name', async (field, _, fault) => {
    const answer = await register({ email: `fault-${door}@example.org`, password: PASSWORD, ...fault });
    expect(answer).toMatchObject({ status: 400, code: 'BAD_INPUT', fields: [{ field }] });
  });
});

test('twenty people who register at the same moment all get an account', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      app.rest('POST', '/auth/register', { body: { email: `crowd-${n}@example.org`, password: PASSWORD } }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
});

test('one address registered many times at once is one account, whose last challenge counts', async () => {
  const email = 'race@example.org';
  const body = { email, password: PASSWORD };
  const answers = await Promise.all([1, 2, 3].map(() => app.rest<Registered>('POST', '/auth/register', { body })));
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
  expect(await app.sql('select id from users where email = $1', [email])).toHaveLength(1);
});

test('a registration cannot take away an account that is being verified', async () => {
  for (let round = 0; round < 5; round += 1) {
    const email = `verify-race-${round}@example.org`;
    const body = { email, password: PASSWORD };
    const { challenge } = (await app.rest<Registered>('POST', '/auth/register', { body })).body;
    const code = await app.mailbox.codeFor(email);
    const [verified, claimed] = await Promise.all([
      app.rest('POST', '/auth/verify-otp', { body: { email, code, challenge } }),
      app.rest('POST', '/auth/register', { body: { email, password: 'somebody elses password' } }),
    ]);
    const login = await app.rest('POST', '/auth/login', { body });
    if (verified.status === 200) expect([claimed.status, login.status]).toEqual([409, 200]);
    else expect([verified.status, claimed.status]).toEqual([400, 201]);
  }
});

test('what is left of a registration nobody finished is cleared away after a week', async () => {
  const body = { email: 'left@example.org', password: PASSWORD };
  const { user } = (await app.rest<Registered>('POST', '/auth/register', { body })).body;
  const real = clock.now;
  clock.now = () => new Date(Date.now() + 8 * DAY);
  await app.app.queue.boss.send('rows.prune', {});
  const gone = async () => (await app.sql('select 1 from workspace where id = $1', [user.workspaceId])).length === 0;
  while (!(await gone()));
  clock.now = real;
  expect(await app.sql('select 1 from users where id = $1', [user.id])).toHaveLength(0);
  expect(await app.rest('GET', '/auth/me', {})).toMatchObject({ status: 401 });
});
