import { afterEach, describe, expect, test } from '@jest/globals';
import { ConfigFault, readConfig } from '../../src/config.ts';
import { PASSWORD, TestApp } from '../support/create-app.ts';
import { DOORS, ThreeDoors } from '../support/three-doors.ts';

const WIDE = {
  RATE_LIMIT: '100000/1m',
  RATE_LIMIT_AUTH: '10000/1m',
  RATE_LIMIT_EMAIL: '1000/1m',
  SLOW_DOWN: '99999/1m',
};
const PRODUCTION = { NODE_ENV: 'production', ...WIDE };

const running: TestApp[] = [];
afterEach(async () => {
  for (const app of running.splice(0).reverse()) await app.stop();
});

async function start(settings: Record<string, string>): Promise<TestApp> {
  const app = await TestApp.start(settings);
  running.push(app);
  return app;
}

async function twinOf(app: TestApp, settings: Record<string, string>): Promise<TestApp> {
  const twin = await app.twin(settings);
  running.push(twin);
  return twin;
}

const setupCodes = ({ mailbox }: TestApp) => mailbox.printed.flatMap(text => /setup code: (\S+)/.exec(text)?.[1] ?? []);

describe.each([
  ['in production', PRODUCTION],
  ['by REGISTRATION=invite', { REGISTRATION: 'invite' }],
])('registration is by invitation %s', (_, settings) => {
  test('the very first account needs the setup code that the console shows; after it nobody gets in by it', async () => {
    const app = await start(settings);
    const doors = await ThreeDoors.of(app);
    const [setupCode = ''] = setupCodes(app);
    expect(setupCode).toMatch(/^[\w-]{12}$/);
    for (const door of DOORS) {
      const args = { email: 'a@example.org', password: PASSWORD };
      const closed = { status: 403, code: 'REGISTRATION_CLOSED' };
      expect(await doors.call(door, 'Mutation.register', args)).toMatchObject(closed);
      expect(await doors.call(door, 'Mutation.register', { ...args, setupCode: 'not-the-code' })).toMatchObject(closed);
      expect(await doors.call(door, 'Mutation.register', { ...args, setupCode: null })).toMatchObject(closed);
    }
    const admin = await app.register('admin@example.org', { setupCode });
    expect(await app.rest('GET', '/auth/me', { token: admin.token })).toMatchObject({ body: { instanceAdmin: true } });
    const body = { email: 'second@example.org', password: PASSWORD, setupCode };
    expect(await app.rest('POST', '/auth/register', { body })).toMatchObject({
      status: 403,
      body: { code: 'REGISTRATION_CLOSED' },
    });
    const member = await app.join(admin, 'MEMBER');
    expect(member.workspaceId).toBe(admin.workspaceId);
    expect(setupCodes(await twinOf(app, settings))).toEqual([setupCode]);
  });
});

test('a closed registration does not tell whether an address is known', async () => {
  const app = await start({ REGISTRATION: 'open' });
  await app.register('known@example.org');
  const closed = await twinOf(app, { REGISTRATION: 'invite' });
  const register = (email: string) =>
    closed.rest<{ detail: string }>('POST', '/auth/register', { body: { email, password: PASSWORD } });
  const [known, unknown] = [await register('known@example.org'), await register('unknown@example.org')];
  expect([known.status, known.body.detail]).toEqual([unknown.status, unknown.body.detail]);
});

describe('BOOTSTRAP_EMAIL and BOOTSTRAP_PASSWORD', () => {
  const BOOTSTRAP = { BOOTSTRAP_EMAIL: 'Root@example.org', BOOTSTRAP_PASSWORD: PASSWORD };
  const login = (app: TestApp, password = PASSWORD) =>
    app.rest('POST', '/auth/login', { body: { email: 'root@example.org', password } });

  test('make a verified first account that needs no code', async () => {
    const app = await start({ ...PRODUCTION, ...BOOTSTRAP });
    expect(setupCodes(app)).toEqual([]);
    expect(await login(app)).toMatchObject({
      status: 200,
      body: { user: { role: 'OWNER', instanceAdmin: true, emailVerified: true } },
    });
  });

  test('make it once: a later start with another password changes nothing', async () => {
    const app = await start(BOOTSTRAP);
    const twin = await twinOf(app, { ...BOOTSTRAP, BOOTSTRAP_PASSWORD: 'another good password' });
    expect((await login(twin, 'another good password')).status).toBe(401);
    expect((await login(twin)).status).toBe(200);
  });

  test('make it once for instances that start together', async () => {
    const app = await start({});
    const twins = await Promise.all([1, 2, 3].map(() => app.twin(BOOTSTRAP)));
    running.push(...twins);
    expect(await app.sql('select 1 from users')).toHaveLength(1);
    expect((await login(app)).status).toBe(200);
  });

  test('take over an address that somebody claimed but never proved', async () => {
    const app = await start({});
    await app.rest('POST', '/auth/register', { body: { email: 'root@example.org', password: 'the claimants own' } });
    const twin = await twinOf(app, BOOTSTRAP);
    expect((await login(twin)).status).toBe(200);
    expect((await login(twin, 'the claimants own')).status).toBe(401);
  });

  test('stop the start if the password is too weak or the address none, and say so without repeating them', async () => {
    await expect(TestApp.start({ ...BOOTSTRAP, BOOTSTRAP_PASSWORD: 'weakling' })).rejects.toThrow(
      /BOOTSTRAP_PASSWORD: must have 12 to 256 characters/,
    );
    const fault = () => readConfig({ BOOTSTRAP_EMAIL: 'no-address', BOOTSTRAP_PASSWORD: PASSWORD });
    expect(fault).toThrow(ConfigFault);
    expect(fault).toThrow(/BOOTSTRAP_EMAIL: must be an e-mail address/);
    expect(fault).not.toThrow(/no-address/);
    expect(() => readConfig({ BOOTSTRAP_EMAIL: 'a@example.org' })).toThrow(/BOOTSTRAP_PASSWORD: must be given/);
  });
});

test('production refuses to run without limits, or with made-up keys beside a database of its own', () => {
  const off = { RATE_LIMIT: 'off', RATE_LIMIT_AUTH: 'off', RATE_LIMIT_EMAIL: 'off', SLOW_DOWN: 'off' };
  const read = () => readConfig({ NODE_ENV: 'production', DATABASE_URL: 'postgresql://x@y/z', ...off });
  for (const name of [...Object.keys(off), 'MASTER_KEY', 'JWT_SECRET']) expect(read).toThrow(new RegExp(`- ${name}: `));
});

test('in production there is no introspection and no page at /graphql or /api/docs', async () => {
  const app = await start(PRODUCTION);
  const doors = await ThreeDoors.of(app);
  for (const door of ['graphql', 'stream'] as const) {
    const answer = await doors.send(door, { query: '{ __schema { types { name } } }' });
    expect(answer).toMatchObject({ http: 400, code: 'QUERY_INVALID' });
    expect((await doors.send(door, { query: '{ mee { id } }' })).text).not.toMatch(/Did you mean/);
  }
  for (const path of ['/graphql', '/api/docs', '/api/docs/openapi.json']) {
    const response = await fetch(app.url + path, { headers: { accept: 'text/html' } });
    expect([path, response.ok, response.headers.get('content-type')]).toEqual([
      path,
      false,
      expect.stringContaining('json'),
    ]);
  }
});
