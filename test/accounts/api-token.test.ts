import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DAY } from '../../src/clock.ts';
import { type RouteName, routeEntries } from '../../src/rest/routes.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { later } from '../support/moved-clock.ts';
import { DOORS, type Door, ThreeDoors } from '../support/three-doors.ts';

let app: TestApp;
let doors: ThreeDoors;
let ann: Person;
beforeAll(async () => {
  app = await TestApp.start();
  doors = await ThreeDoors.of(app);
  ann = await app.register();
});
afterAll(() => app.stop());

interface Made {
  id: string;
  token: string;
  prefix: string;
  expiresAt: string | null;
}

const make = (door: Door, args: Record<string, unknown>, token = ann.token) =>
  doors.call(door, 'Mutation.createApiToken', { name: 'ci', scope: 'read', ...args }, { token });
const madeBy = async (door: Door, args: Record<string, unknown>) => (await make(door, args)).value as Made;

describe.each(DOORS)('at the door %s', door => {
  test('a token is shown once and then known by its first characters', async () => {
    const made = await madeBy(door, { name: 'deploys' });
    expect(made.token).toMatch(/^slp_[\w-]{43}$/);
    expect(made.prefix).toBe(made.token.slice(0, 8));
    const list = await doors.call(door, 'Query.apiTokens', {}, { token: ann.token });
    expect(list.value).toEqual(expect.arrayContaining([expect.objectContaining({ id: made.id, name: 'deploys' })]));
    expect(list.text).not.toContain(made.token);
    expect(JSON.stringify(await app.sql('select * from api_token'))).not.toContain(made.token.slice(8));
  });

  test('it stands for its account, and says when it was last used', async () => {
    const { id, token } = await madeBy(door, {});
    expect(await doors.call(door, 'Query.me', {}, { token })).toMatchObject({ value: { id: ann.id } });
    const used = async () =>
      (await app.sql<{ at: Date | null }>('select last_used_at as at from api_token where id = $1', [id]))[0];
    while ((await used())?.at === null);
    expect(await used()).toEqual({ at: expect.any(Date) });
  });

  test('it ends at once when it is deleted, and at its expiry', async () => {
    const { id, token } = await madeBy(door, {});
    await doors.call(door, 'Query.me', {}, { token });
    expect(await doors.call(door, 'Mutation.deleteApiToken', { id }, { token: ann.token })).toMatchObject({
      value: { id },
    });
    expect(await doors.call(door, 'Query.me', {}, { token })).toMatchObject({ status: 401, http: 401 });
    const expiresAt = new Date(Date.now() + DAY).toISOString();
    const short = await madeBy(door, { expiresAt });
    expect(short.expiresAt).toBe(expiresAt);
    expect(await doors.call(door, 'Query.me', {}, { token: short.token })).toMatchObject({ status: 200 });
    await later(DAY + 1000, async () => {
      expect(await doors.call(door, 'Query.me', {}, { token: short.token })).toMatchObject({ status: 401 });
    });
  });

  test.each([
    'yesterday',
    '2001-01-01T00:00:00Z',
    '2099-02-30T00:00:00Z',
    '2099-01-01T00:00:00',
    '+012345-01-01T00:00:00Z',
    '',
  ])('%j is no expiry', async expiresAt => {
    expect(await make(door, { expiresAt })).toMatchObject({ status: 400, fields: [{ field: 'expiresAt' }] });
  });

  test('an expiry may be said in any zone, as a date, or not at all', async () => {
    expect((await madeBy(door, { expiresAt: '2099-01-01T01:00:00+01:00' })).expiresAt).toBe('2099-01-01T00:00:00.000Z');
    expect((await madeBy(door, { expiresAt: '2099-01-01' })).expiresAt).toBe('2099-01-01T00:00:00.000Z');
    expect((await madeBy(door, { expiresAt: null })).expiresAt).toBeNull();
  });

  test('read ⊂ deploy ⊂ write: each may do what the ones before it may', async () => {
    const tokens = await Promise.all(
      ['read', 'deploy', 'write'].map(async scope => (await madeBy(door, { scope })).token),
    );
    const invite = (token: string) =>
      doors.call(door, 'Mutation.createInvitation', { email: 'x@example.org', role: 'VIEWER' }, { token });
    const statuses = await Promise.all(tokens.map(async token => (await invite(token)).status));
    expect(statuses).toEqual([403, 403, door === 'rest' ? 201 : 200]);
    const reads = await Promise.all(
      tokens.map(async token => (await doors.call(door, 'Query.audit', {}, { token })).status),
    );
    expect(reads).toEqual([200, 200, 200]);
  });

  test('a token never may more than the role of its account', async () => {
    const viewer = await app.join(ann, 'VIEWER');
    const { token } = (await make(door, { scope: 'write' }, viewer.token)).value as Made;
    const answer = await doors.call(
      door,
      'Mutation.createInvitation',
      { email: 'x@example.org', role: 'VIEWER' },
      { token },
    );
    expect(answer).toMatchObject({ status: 403, code: 'FORBIDDEN' });
  });

  test("another's token is not found", async () => {
    const { id } = await madeBy(door, {});
    const member = await app.join(ann, 'OWNER');
    const answer = await doors.call(door, 'Mutation.deleteApiToken', { id }, { token: member.token });
    expect(answer).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });
});

const underAuth = routeEntries.filter(([, { path }]) => path.startsWith('/auth/'));
const open = new Set(['register', 'login', 'verifyOtp', 'forgotPassword', 'resetPassword', 'refresh']);

test.each(underAuth.map(([name, { method, path }]) => [method, path, name] as const))(
  'under /auth a token may only read /auth/me: %s %s',
  async (_, path, name: RouteName) => {
    const field = name.split('.')[1] as string;
    if (open.has(field)) return;
    const { token } = await madeBy('rest', { scope: 'write' });
    const id = '01890000-0000-7000-8000-000000000000';
    const args = path.includes(':id') ? { id } : samples[field];
    for (const door of DOORS) {
      const answer = await doors.call(door, name, args, { token });
      expect([door, answer.status]).toEqual([door, name === 'Query.me' ? 200 : 403]);
    }
  },
);

const samples: Record<string, Record<string, unknown>> = {
  createApiToken: { name: 'x', scope: 'read' },
  createStreamTicket: { path: '/api/v1/events' },
  updateMe: { name: 'x' },
};
