import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RouteName } from '../../src/rest/routes.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { tellRuns } from '../support/runs.ts';
import { DOORS, type Outcome, ThreeDoors } from '../support/three-doors.ts';

const UNKNOWN = '01890000-0000-7000-8000-000000000000';
const MALFORMED = 'not-an-id';

interface World {
  ann: Person;
  bob: Person;
  /** Of Ann. */
  run: string;
  /** Of Bob, in another workspace. */
  foreignRun: string;
}

let app: TestApp;
let doors: ThreeDoors;
let world: World;
beforeAll(async () => {
  app = await TestApp.start();
  doors = await ThreeDoors.of(app);
  const [ann, bob] = [await app.register(), await app.register()];
  const [[run], [foreignRun]] = [await tellRuns(app, ann.workspaceId, 1), await tellRuns(app, bob.workspaceId, 1)];
  world = { ann, bob, run: run as string, foreignRun: foreignRun as string };
});
afterAll(() => app.stop());

interface Case {
  it: string;
  call: RouteName;
  args?: (world: World) => Record<string, unknown>;
  gives: { [Part in keyof Outcome]?: unknown };
}

const badInput = (field: string) => ({ status: 400, code: 'BAD_INPUT', fields: [{ field }] });
const notFound = (noun: string) => ({ status: 404, code: 'NOT_FOUND', detail: `${noun} not found` });

/** Section 1 of the contract, row by row; each case is asked at every door and has to come out the same. */
const CASES: Case[] = [
  ...[MALFORMED, '', '1', `${UNKNOWN}x`, UNKNOWN.replace('-', ''), `{${UNKNOWN}}`, '../../etc/passwd', '%00'].map(
    id => ({
      it: `a malformed id is 400: ${JSON.stringify(id)}`,
      call: 'Mutation.cancelRun' as const,
      args: () => ({ id }),
      gives: badInput('id'),
    }),
  ),
  { it: 'an unknown id is 404', call: 'Query.run', args: () => ({ id: UNKNOWN }), gives: notFound('Run') },
  {
    it: "another workspace's id is the same 404",
    call: 'Query.run',
    args: ({ foreignRun }) => ({ id: foreignRun }),
    gives: notFound('Run'),
  },
  {
    it: "another workspace's id is the same 404 for a change, whatever version is named",
    call: 'Mutation.cancelRun',
    args: ({ foreignRun }) => ({ id: foreignRun, ifVersion: 99 }),
    gives: notFound('Run'),
  },
  {
    it: 'an id may be written in capitals',
    call: 'Query.run',
    args: ({ run }) => ({ id: run.toUpperCase() }),
    gives: { status: 200 },
  },
  {
    it: 'times are ISO 8601, UTC, with milliseconds',
    call: 'Query.me',
    gives: { value: { createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) } },
  },
  { it: 'a list has at least one item', call: 'Query.audit', args: () => ({ limit: 0 }), gives: badInput('limit') },
  { it: 'a list has at most 100 items', call: 'Query.audit', args: () => ({ limit: 101 }), gives: badInput('limit') },
  { it: 'a negative limit is refused', call: 'Query.runs', args: () => ({ limit: -1 }), gives: badInput('limit') },
  {
    it: 'a limit that is no Int is refused',
    call: 'Query.runs',
    args: () => ({ limit: 2 ** 31 }),
    gives: badInput('limit'),
  },
  { it: 'a broken limit is refused', call: 'Query.runs', args: () => ({ limit: 1.5 }), gives: badInput('limit') },
  { it: 'a limit of 1 is fine', call: 'Query.runs', args: () => ({ limit: 1 }), gives: { status: 200 } },
  { it: 'a limit of 100 is fine', call: 'Query.runs', args: () => ({ limit: 100 }), gives: { status: 200 } },
  { it: 'after must be an id', call: 'Query.runs', args: () => ({ after: MALFORMED }), gives: badInput('after') },
  {
    it: 'after may name what never was: the oldest of ids has nothing behind it',
    call: 'Query.runs',
    args: () => ({ after: '00000000-0000-0000-0000-000000000000' }),
    gives: { status: 200, value: [] },
  },
  {
    it: 'a filter that is no choice is refused by name',
    call: 'Query.runs',
    args: () => ({ status: 'BROKEN' }),
    gives: badInput('status'),
  },
  {
    it: 'a filter narrows a list',
    call: 'Query.runs',
    args: () => ({ status: 'SUCCEEDED' }),
    gives: { status: 200, value: [] },
  },
  {
    it: 'a filter by a resource that is none is refused',
    call: 'Query.audit',
    args: () => ({ resource: 'x' }),
    gives: badInput('resource'),
  },
  {
    it: 'a missing field is named',
    call: 'Mutation.createInvitation',
    args: () => ({ email: 'x@example.org' }),
    gives: { status: 400, text: expect.stringContaining('role') },
  },
  {
    it: 'null for what must be there is refused by name',
    call: 'Mutation.createInvitation',
    args: () => ({ email: null, role: 'VIEWER' }),
    gives: badInput('email'),
  },
  {
    it: 'a text where a boolean belongs is refused by name',
    call: 'Mutation.updateMe',
    args: () => ({ twoFactorEnabled: 'true', currentPassword: 'x' }),
    gives: badInput('twoFactorEnabled'),
  },
  {
    it: 'a number where a text belongs is refused by name',
    call: 'Mutation.updateMe',
    args: () => ({ name: 5 }),
    gives: badInput('name'),
  },
  {
    it: 'a list where a text belongs is refused by name',
    call: 'Mutation.updateMe',
    args: () => ({ name: ['x'] }),
    gives: badInput('name'),
  },
  {
    it: 'an object where a text belongs is refused by name',
    call: 'Mutation.updateMe',
    args: () => ({ name: { toString: 'x' } }),
    gives: badInput('name'),
  },
  {
    it: 'a change of an outdated version is 412',
    call: 'Mutation.updateMe',
    args: () => ({ ifVersion: 77 }),
    gives: { status: 412, code: 'VERSION_MISMATCH' },
  },
  {
    it: 'a cursor of a stream must be an id',
    call: 'Subscription.events',
    args: () => ({ after: MALFORMED }),
    gives: badInput('after'),
  },
  {
    it: 'a cursor older than what is kept is 410 before the stream opens',
    call: 'Subscription.events',
    args: () => ({ after: '00000000-0000-7000-8000-000000000000' }),
    gives: { status: 410, code: 'CURSOR_TOO_OLD' },
  },
];

describe.each(DOORS)('at the door %s', door => {
  test.each(CASES.map(({ it, ...rest }) => [it, rest] as const))('%s', async (_, { call, args, gives }) => {
    // Subscriptions have two doors: the plain streams of REST, and /graphql/stream.
    if (call.startsWith('Subscription.') && door === 'graphql') return;
    const outcome = await doors.call(door, call, args?.(world) ?? {}, { token: world.ann.token });
    expect(outcome).toMatchObject(gives);
    expect(outcome.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('an unknown and a foreign id cannot be told apart by a single byte', async () => {
    if (door === 'stream') return; // Same operations as the door before, with a frame around.
    const ask = (id: string) => doors.call(door, 'Query.run', { id }, { token: world.ann.token });
    const scrub = ({ text }: Outcome) =>
      text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>').replace(/"date","[^"]*"/, '');
    expect(scrub(await ask(world.foreignRun))).toBe(scrub(await ask(UNKNOWN)));
  });

  test('without a token it is 401, whatever is asked and however wrongly', async () => {
    const outcome = await doors.call(door, 'Query.run', { id: MALFORMED });
    expect(outcome).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
  });
});

test('a subscription asked for at /graphql is shown the way to /graphql/stream', async () => {
  const answer = await doors.call('graphql', 'Subscription.events', {}, { token: world.ann.token });
  expect(answer).toMatchObject({
    http: 400,
    code: 'QUERY_INVALID',
    detail: expect.stringContaining('/graphql/stream'),
  });
});

describe.each(DOORS)('the versions at the door %s', door => {
  test('a run that was just cancelled has the version it had: a change of status does not move it', async () => {
    const [id] = await tellRuns(app, world.ann.workspaceId, 1);
    const token = world.ann.token;
    const before = (await doors.call(door, 'Query.run', { id }, { token })).value as { version: number };
    const after = (await doors.call(door, 'Mutation.cancelRun', { id, ifVersion: before.version }, { token })).value;
    expect(after).toMatchObject({ status: 'CANCELLED', version: before.version });
    expect(await doors.call(door, 'Mutation.cancelRun', { id }, { token })).toMatchObject({
      status: 409,
      code: 'RUN_FINISHED',
    });
  });
});
