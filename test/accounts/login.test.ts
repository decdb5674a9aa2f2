import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PASSWORD, type Person, TestApp } from '../support/create-app.ts';
import { DOORS, type Door, ThreeDoors } from '../support/three-doors.ts';

let app: TestApp;
let doors: ThreeDoors;
let ann: Person;
beforeAll(async () => {
  app = await TestApp.start();
  doors = await ThreeDoors.of(app);
  ann = await app.register('ann@example.org');
});
afterAll(() => app.stop());

const login = (door: Door, email: string, password: string) => doors.call(door, 'Mutation.login', { email, password });
const verify = (door: Door, args: Record<string, unknown>) => doors.call(door, 'Mutation.verifyOtp', args);

/** What differs between two answers by chance. */
const sameness = (text: string) =>
  text
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>')
    .replace(/"date","[^"]*"/, '')
    .replace(/"keep-alive","[^"]*"/, '');

describe.each(DOORS)('at the door %s', door => {
  test('signing in gives a pair of tokens and the profile', async () => {
    const answer = await login(door, 'Ann@Example.org', PASSWORD);
    expect(answer).toMatchObject({
      status: 200,
      value: { tokenType: 'Bearer', expiresIn: 900, user: { id: ann.id, email: 'ann@example.org' } },
    });
    const { accessToken, refreshToken, user } = answer.value as Record<string, string> & {
      user: { lastLoginAt: string };
    };
    expect(refreshToken).toMatch(/^slr_/);
    expect(Date.parse(user.lastLoginAt)).toBeGreaterThan(Date.now() - 60_000);
    expect(await doors.call(door, 'Query.me', {}, { token: accessToken })).toMatchObject({ value: { id: ann.id } });
  });

  test('an unknown address and a wrong password are the same answer to the letter', async () => {
    const wrong = await login(door, 'ann@example.org', 'not the password');
    const unknown = await login(door, 'zoe@example.org', 'not the password');
    expect(wrong).toMatchObject({ status: 401, code: 'INVALID_CREDENTIALS' });
    expect(sameness(unknown.text)).toBe(sameness(wrong.text));
  });

  test('the right password of an unproved address sends a fresh code, the wrong one says nothing', async () => {
    const email = `unproved-${door}@example.org`;
    await doors.call(door, 'Mutation.register', { email, password: PASSWORD });
    const first = await app.mailbox.codeFor(email);
    expect(await login(door, email, 'not the password')).toMatchObject({ status: 401, code: 'INVALID_CREDENTIALS' });
    const answer = await login(door, email, PASSWORD);
    expect(answer).toMatchObject({ status: 403, code: 'EMAIL_NOT_VERIFIED', challenge: expect.any(String) });
    const code = await app.mailbox.codeFor(email);
    const { challenge } = answer;
    if (first !== code)
      expect(await verify(door, { email, code: first, challenge })).toMatchObject({ code: 'OTP_INVALID' });
    expect(await verify(door, { email, code, challenge })).toMatchObject({ status: 200 });
  });

  test('two-step sign-in asks for a mailed code, and only then lets in', async () => {
    const bob = await app.register(`two-step-${door}@example.org`);
    const change = { twoFactorEnabled: true, currentPassword: bob.password };
    expect(await doors.call(door, 'Mutation.updateMe', change, { token: bob.token })).toMatchObject({
      value: { twoFactorEnabled: true },
    });
    expect(await login(door, bob.email, 'not the password')).toMatchObject({ code: 'INVALID_CREDENTIALS' });
    const asked = await login(door, bob.email, bob.password);
    expect(asked).toMatchObject({ status: 401, code: 'OTP_REQUIRED', challenge: expect.any(String) });
    expect(asked.text).not.toMatch(/accessToken|slr_|eyJ/);
    const code = await app.mailbox.codeFor(bob.email);
    const proof = { email: bob.email, code, challenge: asked.challenge };
    expect(await verify(door, { ...proof, email: ann.email })).toMatchObject({ code: 'OTP_INVALID' });
    expect(await verify(door, proof)).toMatchObject({ status: 200, value: { user: { id: bob.id } } });
    expect(await verify(door, proof)).toMatchObject({ code: 'OTP_INVALID' });
  });
});

test('an unknown address takes as long as a wrong password', async () => {
  const time = async (email: string) => {
    const start = performance.now();
    await login('rest', email, 'not the password');
    return performance.now() - start;
  };
  const known: number[] = [];
  const unknown: number[] = [];
  for (let round = 0; round < 15; round += 1) {
    known.push(await time('ann@example.org'));
    unknown.push(await time(`nobody-${round}@example.org`));
  }
  const median = (times: number[]) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)] as number;
  const ratio = median(unknown) / median(known);
  expect(ratio).toBeGreaterThan(0.6);
  expect(ratio).toBeLessThan(1.7);
});

test('a password is compared in one normal form, however its accents were typed', async () => {
  await app.register('nfc@example.org', { password: 'café au lait, s’il vous plaît'.normalize('NFC') });
  expect(await login('rest', 'nfc@example.org', 'café au lait, s’il vous plaît'.normalize('NFD'))).toMatchObject({
    status: 200,
  });
});

test('passwords lie in the database as argon2id hashes, each with its own salt', async () => {
  const rows = await app.sql<{ password_hash: string }>('select password_hash from users');
  for (const { password_hash } of rows) expect(password_hash).toMatch(/^argon2id\$[\w-]{22}\$[\w-]{43}$/);
  expect(new Set(rows.map(({ password_hash }) => password_hash)).size).toBe(rows.length);
});
