import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MINUTE } from '../../src/clock.ts';
import { PASSWORD, TestApp } from '../support/create-app.ts';
import { later } from '../support/moved-clock.ts';
import { DOORS, type Door, ThreeDoors } from '../support/three-doors.ts';

let app: TestApp;
let doors: ThreeDoors;
beforeAll(async () => {
  app = await TestApp.start();
  doors = await ThreeDoors.of(app);
});
afterAll(() => app.stop());

let serial = 0;

/** Somebody who registered and has the mail, but has not proved the address. */
async function claim() {
  const email = `claim-${++serial}@example.org`;
  const body = { email, password: PASSWORD };
  const { challenge } = (await app.rest<{ challenge: string }>('POST', '/auth/register', { body })).body;
  const code = await app.mailbox.codeFor(email);
  return { email, code, challenge, wrong: code === '000000' ? '000001' : '000000' };
}

const verify = (door: Door, args: Record<string, unknown>) => doors.call(door, 'Mutation.verifyOtp', args);
const guessesOf = async (email: string) => {
  const [row] = await app.sql<{ guesses: number; strangers: number }>(
    `select guesses, stranger_guesses as strangers from one_time_code
     where user_id = (select id from users where email = $1) order by id desc limit 1`,
    [email],
  );
  return row;
};

describe.each(DOORS)('at the door %s', door => {
  test('a code proves the address once', async () => {
    const { email, code, challenge } = await claim();
    expect(await verify(door, { email, code, challenge })).toMatchObject({
      status: 200,
      value: { tokenType: 'Bearer', expiresIn: 900, user: { email, emailVerified: true } },
    });
    expect(await verify(door, { email, code, challenge })).toMatchObject({ status: 400, code: 'OTP_INVALID' });
  });

  test('a code proves the address without the challenge too', async () => {
    const { email, code } = await claim();
    expect(await verify(door, { email, code })).toMatchObject({ status: 200 });
  });

  test('five wrong guesses use up the code: the right one comes too late', async () => {
    const { email, code, challenge, wrong } = await claim();
    for (let guess = 0; guess < 5; guess += 1)
      expect(await verify(door, { email, code: wrong, challenge })).toMatchObject({ code: 'OTP_INVALID' });
    expect(await verify(door, { email, code, challenge })).toMatchObject({ code: 'OTP_INVALID' });
  });

  test('a stranger without the challenge cannot use up the guesses of who has it', async () => {
    const { email, code, challenge, wrong } = await claim();
    for (let guess = 0; guess < 7; guess += 1) await verify(door, { email, code: wrong });
    expect(await verify(door, { email, code })).toMatchObject({ status: 400, code: 'OTP_INVALID' });
    expect(await guessesOf(email)).toEqual({ guesses: 0, strangers: 5 });
    expect(await verify(door, { email, code, challenge })).toMatchObject({ status: 200 });
  });

  test('a wrong challenge opens nothing and counts on nobody', async () => {
    const { email, code, challenge } = await claim();
    expect(await verify(door, { email, code, challenge: 'x'.repeat(43) })).toMatchObject({ code: 'OTP_INVALID' });
    expect(await guessesOf(email)).toEqual({ guesses: 0, strangers: 0 });
    expect(await verify(door, { email, code, challenge })).toMatchObject({ status: 200 });
  });

  test('unknown address, used code and wrong code are one answer', async () => {
    const { email, code, challenge, wrong } = await claim();
    const wrongAnswer = await verify(door, { email, code: wrong, challenge });
    const unknown = await verify(door, { email: 'nobody@example.org', code, challenge });
    await verify(door, { email, code, challenge });
    const used = await verify(door, { email, code, challenge });
    expect([unknown.detail, used.detail]).toEqual([wrongAnswer.detail, wrongAnswer.detail]);
    expect([unknown.status, used.status]).toEqual([400, 400]);
  });

  test.each(['12345', '1234567', 'abcdef', '１２３４５６', ' 12345'])('%j is no code', async code => {
    expect(await verify(door, { email: 'a@example.org', code })).toMatchObject({
      status: 400,
      code: 'BAD_INPUT',
      fields: [{ field: 'code' }],
    });
  });
});

test('a code is good for ten minutes', async () => {
  const [early, late] = [await claim(), await claim()];
  await later(10 * MINUTE - 5000, async () => {
    expect(await verify('rest', early)).toMatchObject({ status: 400 }); // `wrong` is no field.
    expect(await verify('rest', proofOf(early))).toMatchObject({ status: 200 });
  });
  await later(10 * MINUTE + 5000, async () => {
    expect(await verify('rest', proofOf(late))).toMatchObject({ status: 400, code: 'OTP_INVALID' });
  });
});

const proofOf = ({ email, code, challenge }: Awaited<ReturnType<typeof claim>>) => ({ email, code, challenge });

test.each([true, false])('of 100 guesses at once exactly 5 are looked at (with the challenge: %s)', async hasIt => {
  const { email, code, challenge, wrong } = await claim();
  const proof = hasIt ? { challenge } : {};
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) => verify(DOORS[n % 3] as Door, { email, code: wrong, ...proof })),
  );
  expect(answers.filter(answer => answer.code === 'OTP_INVALID')).toHaveLength(100);
  expect(await guessesOf(email)).toEqual(hasIt ? { guesses: 5, strangers: 0 } : { guesses: 0, strangers: 5 });
  expect(await verify('rest', { email, code, ...proof })).toMatchObject({ code: 'OTP_INVALID' });
});

test('of 100 people who show the right code at once one is let in', async () => {
  const { email, code, challenge } = await claim();
  const answers = await Promise.all(Array.from({ length: 100 }, () => verify('rest', { email, code, challenge })));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
});

test('a mailbox gets three codes in fifteen minutes, whatever they are for, and then is told when to try again', async () => {
  const { email } = await claim();
  const body = { email, password: PASSWORD };
  for (let mail = 0; mail < 2; mail += 1)
    expect(await app.rest('POST', '/auth/login', { body })).toMatchObject({ body: { code: 'EMAIL_NOT_VERIFIED' } });
  const refused = await app.rest('POST', '/auth/login', { body });
  expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(800);
  expect(refused.headers.get('ratelimit-policy')).toBe('"codes"; q=3; w=900');
  expect(await app.rest('POST', '/auth/register', { body })).toMatchObject({ status: 429 });
  await later(15 * MINUTE + 1000, async () => {
    expect(await app.rest('POST', '/auth/login', { body })).toMatchObject({ body: { code: 'EMAIL_NOT_VERIFIED' } });
  });
});

test('refused registrations of somebody else do not use up their codes', async () => {
  const bob = await app.register();
  const body = { email: bob.email, password: 'another password' };
  for (let n = 0; n < 5; n += 1)
    expect(await app.rest('POST', '/auth/register', { body })).toMatchObject({ status: 409 });
  const change = { twoFactorEnabled: true, currentPassword: bob.password };
  await app.rest('PATCH', '/auth/me', { token: bob.token, body: change });
  const login = await app.rest('POST', '/auth/login', { body: { email: bob.email, password: bob.password } });
  expect(login).toMatchObject({ status: 401, body: { code: 'OTP_REQUIRED' } });
});

test('neither codes nor challenges lie readable in the database', async () => {
  const { email, code, challenge } = await claim();
  const rows = await app.sql('select * from one_time_code where user_id = (select id from users where email = $1)', [
    email,
  ]);
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain(challenge);
  expect(JSON.stringify(Object.values(rows[0] as object).filter(value => typeof value === 'string'))).not.toContain(
    `"${code}"`,
  );
});
