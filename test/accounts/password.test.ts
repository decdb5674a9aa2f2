import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { HOUR } from '../../src/clock.ts';
import { PASSWORD, type Person, TestApp } from '../support/create-app.ts';
import { later } from '../support/moved-clock.ts';
import { rawRequest } from '../support/raw-http.ts';
import { DOORS, type Door, ThreeDoors } from '../support/three-doors.ts';

let app: TestApp;
let doors: ThreeDoors;
beforeAll(async () => {
  app = await TestApp.start();
  doors = await ThreeDoors.of(app);
});
afterAll(() => app.stop());

const NEW_PASSWORD = 'a whole new password';
const forgot = (door: Door, email: string) => doors.call(door, 'Mutation.forgotPassword', { email });
const reset = (door: Door, token: string, password = NEW_PASSWORD) =>
  doors.call(door, 'Mutation.resetPassword', { token, password });
const me = (token: string) => app.rest('GET', '/auth/me', { token });

async function linkFor({ email }: Person): Promise<string> {
  await forgot('rest', email);
  return app.mailbox.resetTokenFor(email);
}

describe.each(DOORS)('at the door %s', door => {
  test('a forgotten password is answered alike for everybody', async () => {
    const bob = await app.register();
    const [known, unknown] = [await forgot(door, bob.email), await forgot(door, `nobody-${door}@example.org`)];
    expect(known).toMatchObject({ status: door === 'rest' ? 202 : 200, value: { accepted: true } });
    expect([unknown.http, unknown.value]).toEqual([known.http, known.value]);
    await app.mailbox.resetTokenFor(bob.email);
    expect(app.mailbox.mailsTo(`nobody-${door}@example.org`)).toEqual([]);
  });

  test('the link sets a new password once, and ends every session and API token at once, on every instance', async () => {
    const bob = await app.register();
    const made = await doors.call(
      'rest',
      'Mutation.createApiToken',
      { name: 'ci', scope: 'write' },
      { token: bob.token },
    );
    const apiToken = (made.value as { token: string }).token;
    const twin = await app.twin();
    try {
      const everywhere = [app, twin].flatMap(instance => [bob.token, apiToken].map(token => ({ instance, token })));
      const statuses = () =>
        Promise.all(
          everywhere.map(async ({ instance, token }) => (await instance.rest('GET', '/auth/me', { token })).status),
        );
      expect(await statuses()).toEqual([200, 200, 200, 200]);
      const token = await linkFor(bob);
      expect(await reset(door, token)).toMatchObject({ status: 200, value: { passwordChanged: true } });
      expect(await statuses()).toEqual([401, 401, 401, 401]);
      expect(await reset(door, token)).toMatchObject({ status: 400, code: 'RESET_TOKEN_INVALID' });
    } finally {
      await twin.stop();
    }
    const refreshed = await doors.call(door, 'Mutation.refresh', { refreshToken: bob.refreshToken });
    expect(refreshed).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
    const login = (password: string) => doors.call(door, 'Mutation.login', { email: bob.email, password });
    expect(await login(PASSWORD)).toMatchObject({ code: 'INVALID_CREDENTIALS' });
    expect(await login(NEW_PASSWORD)).toMatchObject({ status: 200 });
  });

  test('a reset does not skip two-step sign-in, and a code asked for before it is worth nothing', async () => {
    const bob = await app.register();
    const change = { twoFactorEnabled: true, currentPassword: bob.password };
    await app.rest('PATCH', '/auth/me', { token: bob.token, body: change });
    const asked = await doors.call(door, 'Mutation.login', { email: bob.email, password: bob.password });
    const code = await app.mailbox.codeFor(bob.email);
    const answer = await reset(door, await linkFor(bob));
    expect(answer.value).toEqual({ passwordChanged: true });
    const proof = { email: bob.email, code, challenge: asked.challenge };
    expect(await doors.call(door, 'Mutation.verifyOtp', proof)).toMatchObject({ code: 'OTP_INVALID' });
    const login = await doors.call(door, 'Mutation.login', { email: bob.email, password: NEW_PASSWORD });
    expect(login).toMatchObject({ status: 401, code: 'OTP_REQUIRED' });
  });

  test('a weak new password is refused and leaves the link usable', async () => {
    const token = await linkFor(await app.register());
    expect(await reset(door, token, 'short')).toMatchObject({ code: 'BAD_INPUT', fields: [{ field: 'password' }] });
    expect(await reset(door, token)).toMatchObject({ status: 200 });
  });

  test('a made-up link is refused', async () => {
    expect(await reset(door, 'x'.repeat(43))).toMatchObject({ status: 400, code: 'RESET_TOKEN_INVALID' });
  });
});

test('a link works for an hour', async () => {
  const [early, late] = [await linkFor(await app.register()), await linkFor(await app.register())];
  await later(HOUR - 5000, async () => expect(await reset('rest', early)).toMatchObject({ status: 200 }));
  await later(HOUR + 5000, async () =>
    expect(await reset('rest', late)).toMatchObject({ code: 'RESET_TOKEN_INVALID' }),
  );
});

test('using one link spends the others', async () => {
  const bob = await app.register();
  const [first, second] = [await linkFor(bob), await linkFor(bob)];
  expect(await reset('rest', second)).toMatchObject({ status: 200 });
  expect(await reset('rest', first)).toMatchObject({ code: 'RESET_TOKEN_INVALID' });
});

test('of twenty who use one link at once, one succeeds', async () => {
  const token = await linkFor(await app.register());
  const answers = await Promise.all(Array.from({ length: 20 }, () => reset('rest', token)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
});

test('the link leads to the public URL, whatever the Host header says', async () => {
  const bob = await app.register();
  const { answer } = rawRequest(app.url, 'POST', '/api/v1/auth/forgot-password', {
    headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'content-type': 'application/json' },
    body: JSON.stringify({ email: bob.email }),
  });
  expect((await answer).status).toBe(202);
  const [mail] = await app.mailbox.waitFor(bob.email, /reset-password#token=/);
  expect(mail).toContain('http://slipway.test/reset-password#token=');
  expect(mail).not.toContain('evil');
});

test('a mail goes to proved addresses only', async () => {
  const body = { email: 'unproved@example.org', password: PASSWORD };
  await app.rest('POST', '/auth/register', { body });
  await app.mailbox.codeFor('unproved@example.org');
  const bob = await app.register();
  await forgot('rest', 'unproved@example.org');
  await linkFor(bob); // Sent later, by the same queue.
  expect(app.mailbox.mailsTo('unproved@example.org')).toEqual([]);
});

test('a sign-in or a token on its way when the password is reset does not outlive the reset', async () => {
  for (let round = 0; round < 4; round += 1) {
    const bob = await app.register();
    const token = await linkFor(bob);
    const signIns = Array.from({ length: 6 }, () =>
      app.rest<{ accessToken?: string }>('POST', '/auth/login', { body: { email: bob.email, password: bob.password } }),
    );
    const tokens = Array.from({ length: 6 }, () =>
      app.rest<{ token?: string }>('POST', '/auth/tokens', { token: bob.token, body: { name: 'x', scope: 'read' } }),
    );
    expect(await reset('rest', token)).toMatchObject({ status: 200 });
    const given = [
      ...(await Promise.all(signIns)).map(({ body }) => body.accessToken),
      ...(await Promise.all(tokens)).map(({ body }) => body.token),
    ].filter(credential => credential !== undefined);
    const alive = await Promise.all(given.map(async credential => (await me(credential)).status));
    expect(alive).toEqual(alive.map(() => 401));
  }
});

test('thirty requests that look something up inside their change do not starve each other of connections', async () => {
  const bob = await app.register();
  const body = { name: 'x', scope: 'read', projectId: '01890000-0000-7000-8000-000000000000' };
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => app.rest('POST', '/auth/tokens', { token: bob.token, body })),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
});
