import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Query, Resolver } from 'type-graphql';
import type { Permission } from '../../src/schema/authorize.ts';
import { AllowRead } from '../../src/schema/authorize.ts';
import { createSchema } from '../../src/schema/build-schema.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { neededArgs } from '../support/sample-args.ts';
import { idempotency, type RootField, rootFields, testSchema } from '../support/schema.ts';
import { DOORS, type Door, type Outcome, ThreeDoors } from '../support/three-doors.ts';

const ROLES = ['VIEWER', 'MEMBER', 'OWNER'] as const;
const SCOPES = ['read', 'deploy', 'write'] as const;

interface Caller {
  name: string;
  token: string | undefined;
  role: (typeof ROLES)[number] | undefined;
  scope: (typeof SCOPES)[number] | undefined;
}

const fields = rootFields(await testSchema());
let app: TestApp;
let doors: ThreeDoors;
let callers: Caller[];
let people: Person[];
beforeAll(async () => {
  app = await TestApp.start();
  doors = await ThreeDoors.of(app);
  const owner = await app.register();
  people = [await app.join(owner, 'VIEWER'), await app.join(owner, 'MEMBER'), owner];
  callers = [
    { name: 'nobody', token: undefined, role: undefined, scope: undefined },
    ...people.map(({ token }, n) => ({ name: ROLES[n] as string, token, role: ROLES[n], scope: undefined })),
    ...(await Promise.all(SCOPES.map(scope => tokenOf(owner, 'OWNER', scope)))),
    await tokenOf(people[0] as Person, 'VIEWER', 'write'),
  ];
});
afterAll(() => app.stop());

async function tokenOf(person: Person, role: Caller['role'], scope: Caller['scope']): Promise<Caller> {
  const body = { name: 'x', scope };
  const answer = await app.rest<{ token: string }>('POST', '/auth/tokens', { token: person.token, body });
  return { name: `a ${scope} token of ${role}`, token: answer.body.token, role, scope };
}

/** What the declaration means, said once more and apart from the product. */
function verdict(permission: Permission, { role, scope }: Caller): 'allowed' | 'UNAUTHENTICATED' | 'FORBIDDEN' {
  if (permission === 'open') return 'allowed';
  if (role === undefined) return 'UNAUTHENTICATED';
  if (permission.sessionOnly && scope !== undefined) return 'FORBIDDEN';
  if (ROLES.indexOf(role) < ROLES.indexOf(permission.role)) return 'FORBIDDEN';
  if (scope !== undefined && SCOPES.indexOf(scope) < SCOPES.indexOf(permission.scope)) return 'FORBIDDEN';
  return 'allowed';
}

const doorsOf = ({ name }: RootField): Door[] =>
  DOORS.filter(door => door !== 'graphql' || !name.startsWith('Subscription.'));
const permissionOf = ({ field }: RootField) => field.extensions.permission as Permission;

/** Signing out ends the session it is asked with, so it is asked with another one. */
async function tokenFor({ name }: RootField, caller: Caller): Promise<string | undefined> {
  if (name !== 'Mutation.logout' || caller.scope !== undefined || caller.role === undefined) return caller.token;
  const { email, password } = people[ROLES.indexOf(caller.role)] as Person;
  const answer = await app.rest<{ accessToken: string }>('POST', '/auth/login', { body: { email, password } });
  return answer.body.accessToken;
}

/** A refresh token that is none is 401 as well, whoever shows it. */
const meant = ({ name }: RootField, { code }: Outcome) =>
  (code === 'UNAUTHENTICATED' && name !== 'Mutation.refresh') || code === 'FORBIDDEN' ? code : 'allowed';

describe.each(fields.map(field => [field.name, field] as const))('%s', (_, root) => {
  test('is open to exactly those it declares, at every door', async () => {
    const found: string[] = [];
    const wanted: string[] = [];
    const statuses: string[] = [];
    // Those that are open hash passwords: two who differ most will do.
    const asked =
      permissionOf(root) === 'open' ? callers.filter(({ role }) => role === undefined || role === 'OWNER') : callers;
    for (const caller of asked.slice(0, permissionOf(root) === 'open' ? 2 : undefined)) {
      for (const door of doorsOf(root)) {
        const token = await tokenFor(root, caller);
        const outcome = await doors.call(door, root.name, neededArgs(root.field), { token });
        found.push(`${door}, ${caller.name}: ${meant(root, outcome)}`);
        wanted.push(`${door}, ${caller.name}: ${verdict(permissionOf(root), caller)}`);
        if (outcome.status >= 500 && outcome.status !== 502) statuses.push(`${door}, ${caller.name}: ${outcome.text}`);
        if (outcome.code === 'FORBIDDEN') expect(outcome.status).toBe(403);
      }
    }
    expect(found).toEqual(wanted);
    expect(statuses).toEqual([]);
  });
});

test('the denials of known callers are all in the audit trail, and nothing else of the denied is', async () => {
  const [viewer] = people as [Person, ...Person[]];
  const root = fields.find(({ name }) => name === 'Mutation.createInvitation') as RootField;
  const count = async () =>
    (
      await app.sql<{ n: number }>(
        `select count(*)::int as n from audit_entry where actor = $1 and outcome = 'DENIED'`,
        [viewer.id],
      )
    )[0]?.n ?? 0;
  const before = await count();
  for (const door of doorsOf(root)) await doors.call(door, root.name, neededArgs(root.field), { token: viewer.token });
  expect(await count()).toBe(before + 3);
});

describe('the declarations themselves', () => {
  const isMutation = ({ name }: RootField) => name.startsWith('Mutation.');

  test('reads are GET and changes are not', () => {
    // What is to be tried is described by a body, which a GET has not.
    const others = fields.filter(({ name }) => name !== 'Subscription.testConnection');
    const wrong = others.filter(root => (root.method === 'GET') === isMutation(root));
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  test('no token with the scope read, and no viewer, may change anything but their own sign-in', () => {
    const readable = fields.filter(isMutation).filter(root => {
      const permission = permissionOf(root);
      return (
        permission !== 'open' &&
        !permission.sessionOnly &&
        (permission.scope === 'read' || permission.role === 'VIEWER')
      );
    });
    expect(readable.map(({ name }) => name)).toEqual([]);
  });

  test('only the five fixed routes of /auth and the refresh are open', () => {
    const open = fields.filter(root => permissionOf(root) === 'open').map(({ path }) => path);
    expect(open.sort()).toEqual(
      ['register', 'login', 'verify-otp', 'forgot-password', 'reset-password', 'refresh']
        .map(name => `/auth/${name}`)
        .sort(),
    );
  });

  test('what lies under /auth is for persons, but for one’s own profile', () => {
    const forTokens = fields.filter(root => {
      const permission = permissionOf(root);
      return root.path.startsWith('/auth/') && permission !== 'open' && !permission.sessionOnly;
    });
    expect(forTokens.map(({ name }) => name)).toEqual(['Query.me']);
  });

  test('a resolver that declares no permission fails the build, and is named', async () => {
    @Resolver()
    class Forgetful {
      @AllowRead()
      @Query(() => String)
      remembered(): string {
        return 'x';
      }

      @Query(() => String)
      forgotten(): string {
        return 'x';
      }
    }
    await expect(createSchema([Forgetful], idempotency)).rejects.toThrow(/Without a permission.*: Query\.forgotten$/);
  });
});
