import { afterEach, describe, expect, test } from '@jest/globals';
import { MINUTE } from '../../src/clock.ts';
import { PASSWORD, type Person, TestApp } from '../support/create-app.ts';
import { later } from '../support/moved-clock.ts';
import { rawRequest } from '../support/raw-http.ts';
import { DOORS, type Door, ThreeDoors } from '../support/three-doors.ts';

const running: TestApp[] = [];
afterEach(async () => {
  for (const app of running.splice(0).reverse()) await app.stop();
});

async function start(settings: Record<string, string>): Promise<{ app: TestApp; doors: ThreeDoors }> {
  const app = await TestApp.start(settings);
  running.push(app);
  return { app, doors: await ThreeDoors.of(app) };
}

async function twinOf(app: TestApp, settings: Record<string, string>): Promise<TestApp> {
  const twin = await app.twin(settings);
  running.push(twin);
  return twin;
}

/** An account made where nothing is counted, on the database of the service that counts. */
async function personBeside(app: TestApp): Promise<Person> {
  const uncounted = await app.twin();
  const person = await uncounted.register();
  await uncounted.stop();
  return person;
}

describe('the general budget', () => {
  test('is one for an account: every door, every session and every API token', async () => {
    const { app, doors } = await start({ RATE_LIMIT: '9/1m' });
    const ann = await personBeside(app);
    const me = (door: Door, token: string) => doors.call(door, 'Query.me', {}, { token });
    const body = { name: 'x', scope: 'read' };
    const { token } = (await app.rest<{ token: string }>('POST', '/auth/tokens', { token: ann.token, body })).body;
    const login = await app.rest<{ accessToken: string }>('POST', '/auth/login', {
      body: { email: ann.email, password: ann.password },
    });
    const credentials = [ann.token, token, login.body.accessToken];
    for (let n = 0; n < 8; n += 1) {
      const answer = await me(DOORS[n % 3] as Door, credentials[n % 3] as string);
      expect([n, answer.status]).toEqual([n, 200]);
    }
    for (const door of DOORS)
      for (const credential of credentials)
        expect(await me(door, credential)).toMatchObject({ status: 429, http: 429, code: 'RATE_LIMITED' });
    expect(await doors.call('rest', 'Subscription.events', {}, { token })).toMatchObject({ http: 429 });
  });

  test('is told in every answer, and what is over it says when to come back', async () => {
    const { app, doors } = await start({ RATE_LIMIT: '2/1m' });
    const { token } = await personBeside(app);
    const first = await doors.call('rest', 'Query.me', {}, { token });
    expect(first.headers.get('ratelimit')).toMatch(/^"general"; r=1; t=\d+$/);
    expect(first.headers.get('ratelimit-policy')).toMatch(/^"general"; q=2; w=60/);
    await doors.call('rest', 'Query.me', {}, { token });
    for (const door of DOORS) {
      const { headers, http } = await doors.call(door, 'Query.me', {}, { token });
      expect(http).toBe(429);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
      expect(headers.get('ratelimit')).toMatch(/^"general"; r=0; t=\d+$/);
      expect(headers.get('ratelimit-policy')).toMatch(/^"general"; q=2; w=60/);
    }
    await later(MINUTE + 1000, async () => {
      expect(await doors.call('rest', 'Query.me', {}, { token })).toMatchObject({ status: 200 });
    });
  });

  test('holds across instances and restarts', async () => {
    const { app, doors } = await start({ RATE_LIMIT: '4/1m' });
    const { token } = await personBeside(app);
    const twin = await twinOf(app, { RATE_LIMIT: '4/1m' });
    const me = (instance: TestApp) => doors.at(instance).call('rest', 'Query.me', {}, { token });
    const statuses = [];
    for (let n = 0; n < 3; n += 1) for (const instance of [app, twin]) statuses.push((await me(instance)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429]);
    const restarted = await twinOf(app, { RATE_LIMIT: '4/1m' });
    expect((await me(restarted)).status).toBe(429);
  });

  test('of somebody unknown belongs to the address, and wrong tokens are counted on it', async () => {
    const { app, doors } = await start({ RATE_LIMIT: '3/1m' });
    const { token } = await personBeside(app);
    expect(await doors.call('rest', 'Query.me', {}, { token: 'wrong' })).toMatchObject({ status: 401 });
    expect(await doors.call('graphql', 'Query.me', {}, { token: 'wrong' })).toMatchObject({ status: 401 });
    expect(await doors.call('rest', 'Query.me', {})).toMatchObject({ status: 401 });
    for (const door of DOORS)
      expect(await doors.call(door, 'Query.me', {}, { token: 'wrong' })).toMatchObject({ http: 429 });
    expect(await doors.call('rest', 'Query.me', {}, { token })).toMatchObject({ status: 200 });
  });

  test('of a hundred requests at once lets exactly as many through as it has', async () => {
    const { app, doors } = await start({ RATE_LIMIT: '40/1m' });
    const { token } = await personBeside(app);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => doors.call(DOORS[n % 3] as Door, 'Query.me', {}, { token })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(40);
  });

  test('slows down before it refuses', async () => {
    const { app, doors } = await start({ RATE_LIMIT: '100/1m', SLOW_DOWN: '3/1m' });
    const { token } = await personBeside(app);
    const time = async () => {
      const from = performance.now();
      expect(await doors.call('rest', 'Query.me', {}, { token })).toMatchObject({ status: 200 });
      return performance.now() - from;
    };
    const times = [];
    for (let n = 0; n < 10; n += 1) times.push(await time());
    for (let n = 3; n < 10; n += 1) expect(times[n]).toBeGreaterThanOrEqual((n - 2) * 50 - 5);
  });
});

describe('the sign-in budget', () => {
  const ways = (doors: ThreeDoors, email: string) => [
    (door: Door) => doors.call(door, 'Mutation.login', { email, password: 'not the password' }),
    (door: Door) => doors.call(door, 'Mutation.verifyOtp', { email, code: '000000' }),
    (door: Door) => doors.call(door, 'Mutation.forgotPassword', { email }),
    (door: Door) => doors.call(door, 'Mutation.register', { email, password: PASSWORD }),
  ];

  test('is 10 a minute for an address, whichever of the five it is spent on and at whichever door', async () => {
    const { doors } = await start({ RATE_LIMIT_AUTH: '10/1m' });
    for (let n = 0; n < 10; n += 1) {
      const [ask] = ways(doors, `person-${n}@example.org`).slice(n % 4) as [
        (door: Door) => ReturnType<ThreeDoors['call']>,
      ];
      expect((await ask(DOORS[n % 3] as Door)).code).not.toBe('RATE_LIMITED');
    }
    for (const door of DOORS) {
      for (const ask of ways(doors, 'fresh@example.org'))
        expect(await ask(door)).toMatchObject({ status: 429, http: 429, code: 'RATE_LIMITED' });
      const reset = { token: 'x'.repeat(43), password: PASSWORD };
      const refused = await doors.call(door, 'Mutation.resetPassword', reset);
      expect(refused).toMatchObject({ status: 429, http: 429 });
      expect(refused.headers.get('ratelimit-policy')).toBe('"sign-in"; q=10; w=60');
      expect(refused.headers.get('ratelimit')).toMatch(/^"sign-in"; r=0; t=\d+$/);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  test('is 5 a minute for an e-mail address, however it is spelled, and the right password does not help', async () => {
    const { app, doors } = await start({ RATE_LIMIT_EMAIL: '5/1m' });
    const ann = await personBeside(app);
    const spellings = [ann.email, ann.email.toUpperCase(), ann.email.replace('example', 'Example')];
    for (let n = 0; n < 5; n += 1) {
      const answer = await doors.call(DOORS[n % 3] as Door, 'Mutation.login', {
        email: spellings[n % 3],
        password: 'not the password',
      });
      expect(answer).toMatchObject({ code: 'INVALID_CREDENTIALS' });
    }
    const twin = await twinOf(app, { RATE_LIMIT_EMAIL: '5/1m' });
    for (const instance of [app, twin]) {
      for (const door of DOORS) {
        const answer = await doors
          .at(instance)
          .call(door, 'Mutation.login', { email: ann.email, password: ann.password });
        expect(answer).toMatchObject({ status: 429, http: 429 });
        expect(answer.headers.get('ratelimit-policy')).toBe('"sign-in-email"; q=5; w=60');
      }
    }
    await later(MINUTE + 1000, async () => {
      const answer = await doors.call('rest', 'Mutation.login', { email: ann.email, password: ann.password });
      expect(answer).toMatchObject({ status: 200 });
    });
  });

  test.each(['graphql', 'stream'] as const)(
    'is not got round by aliases, fragments or batches at the door %s',
    async door => {
      const { app, doors } = await start({ RATE_LIMIT_AUTH: '10/1m' });
      const login = 'login(email: "ann@example.org", password: "guess") { tokenType }';
      const many = (count: number) => Array.from({ length: count }, (_, n) => `a${n}: ${login}`).join(' ');
      const attacks = [
        { query: `mutation { ${many(1000)} }` },
        { query: `mutation { ${many(10)} }` },
        { query: `mutation { ${many(2)} }` },
        {
          query: `mutation { ...A ...A ...B } fragment A on Mutation { a: ${login} } fragment B on Mutation { b: ${login} }`,
        },
        { query: `mutation { ... { a: ${login} } ... on Mutation { b: ${login} } }` },
        { query: `mutation { a: ${login} forgotPassword(email: "ann@example.org") { accepted } }` },
        Array.from({ length: 100 }, () => ({ query: `mutation { ${login} }` })),
      ];
      for (const attack of attacks) expect(await doors.send(door, attack)).toMatchObject({ http: 400 });
      const counted = `select coalesce(sum(hits), 0)::int as hits from rate_counter where key like 'auth:%'`;
      expect(await app.sql(counted)).toEqual([{ hits: 0 }]);
    },
  );
});

describe('X-Forwarded-For', () => {
  const ask = async (app: TestApp, forwarded: string) => {
    const headers = { 'x-forwarded-for': forwarded, 'content-type': 'application/json' };
    const body = JSON.stringify({ email: 'nobody@example.org', password: 'x' });
    return (await rawRequest(app.url, 'POST', '/api/v1/auth/login', { headers, body }).answer).status;
  };

  test('changes nothing by default, however it is forged', async () => {
    const { app } = await start({ RATE_LIMIT_AUTH: '5/1m' });
    const forged = ['1.2.3.4', '127.0.0.1', '::1', '1.1.1.1, 2.2.2.2', 'unknown', '', '2001:db8::1', 'x'.repeat(300)];
    const statuses = [];
    for (let n = 0; n < 40; n += 1) statuses.push(await ask(app, forged[n % forged.length] as string));
    expect(statuses.filter(status => status === 401)).toHaveLength(5);
    expect(statuses.slice(5).every(status => status === 429)).toBe(true);
  });

  test('is believed from the proxies that TRUST_PROXY names, and from nobody before them', async () => {
    const { app } = await start({ RATE_LIMIT_AUTH: '2/1m', TRUST_PROXY: '127.0.0.0/8' });
    const spend = async (forwarded: string) => [
      await ask(app, forwarded),
      await ask(app, forwarded),
      await ask(app, forwarded),
    ];
    expect(await spend('203.0.113.1')).toEqual([401, 401, 429]);
    expect(await spend('203.0.113.2')).toEqual([401, 401, 429]);
    expect(await spend('198.51.100.9, 203.0.113.2')).toEqual([429, 429, 429]);
    expect(await spend('198.51.100.9, 203.0.113.2, 127.0.0.5')).toEqual([429, 429, 429]);
  });

  test('is not believed where the proxy is another', async () => {
    const { app } = await start({ RATE_LIMIT_AUTH: '2/1m', TRUST_PROXY: '10.0.0.0/8' });
    expect([await ask(app, '1.1.1.1'), await ask(app, '2.2.2.2'), await ask(app, '3.3.3.3')]).toEqual([401, 401, 429]);
  });

  test('counts IPv6 by its /56, and what is no address at all as the proxy', async () => {
    const { app } = await start({ RATE_LIMIT_AUTH: '2/1m', TRUST_PROXY: '127.0.0.1' });
    const answers = [];
    for (const address of ['2001:db8:0:1::1', '2001:db8:0:2::2', '2001:db8:0:ff::3', '2001:db8:0:100::1'])
      answers.push(await ask(app, address));
    expect(answers).toEqual([401, 401, 429, 401]);
    const odd = [];
    for (const address of ['nonsense', 'x'.repeat(300), '999.1.1.1']) odd.push(await ask(app, address));
    expect(odd).toEqual([401, 401, 429]);
  });
});
