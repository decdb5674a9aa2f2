import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type GraphQLArgument,
  type GraphQLInputType,
  getNamedType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { type Person, TestApp } from '../support/create-app.ts';
import { rowInEveryTable } from '../support/foreign-rows.ts';
import { tellRuns } from '../support/runs.ts';
import { neededArgs, UNKNOWN_ID } from '../support/sample-args.ts';
import { type RootField, rootFields, testSchema } from '../support/schema.ts';
import { DOORS, type Door, type Outcome, ThreeDoors } from '../support/three-doors.ts';

const fields = rootFields(await testSchema());
let app: TestApp;
let doors: ThreeDoors;
let ann: Person;
let foreign: Map<string, string>;
beforeAll(async () => {
  app = await TestApp.start();
  doors = await ThreeDoors.of(app);
  ann = await app.register();
  const bob = await app.register();
  await tellRuns(app, ann.workspaceId, 1);
  await tellRuns(app, bob.workspaceId, 1);
  await app.rest('POST', '/auth/tokens', { token: bob.token, body: { name: 'x', scope: 'read' } });
  foreign = await rowInEveryTable(app, bob.workspaceId);
});
afterAll(() => app.stop());

/** Where ids may stand in the arguments of a field, as paths: `id`, `environment.serverId`, `connectors.0.connectorId`. */
const idPaths = ({ field }: RootField): string[][] => field.args.flatMap(arg => pathsIn(arg.name, arg.type, []));

function pathsIn(name: string, type: GraphQLInputType, above: readonly string[]): string[][] {
  const named = getNamedType(type);
  const list = isListType(isNonNullType(type) ? type.ofType : type) ? ['0'] : [];
  const path = [...above, name, ...list];
  if (isInputObjectType(named))
    return Object.values(named.getFields()).flatMap(part => pathsIn(part.name, part.type, path));
  return named.name === 'ID' ? [path] : [];
}

function withId(
  args: Record<string, unknown>,
  [name = '', ...rest]: readonly string[],
  id: string,
): Record<string, unknown> {
  if (rest.length === 0) return { ...args, [name]: id };
  const inner = (args[name] ?? {}) as Record<string, unknown>;
  const [index] = rest;
  if (index === '0') return { ...args, [name]: rest.length === 1 ? [id] : [withId({}, rest.slice(1), id)] };
  return { ...args, [name]: withId(inner, rest, id) };
}

/** A cursor of a list is a place in an order, not something one gets to see. */
const isCursor = ({ name }: RootField, [first]: readonly string[]) => first === 'after' && name.startsWith('Query.');

const cases = fields.flatMap(root =>
  idPaths(root)
    .filter(path => !isCursor(root, path))
    .map(path => [`${root.name} ${path.join('.')}`, root, path] as const),
);

const doorsOf = ({ name }: RootField): Door[] =>
  DOORS.filter(door => door !== 'graphql' || !name.startsWith('Subscription.'));
const told = ({ status, http, code, detail, fields: faults, value }: Outcome) => ({
  status,
  http,
  code,
  detail,
  faults,
  value,
});

test('there are ids to try', () => {
  expect(cases.length).toBeGreaterThan(8);
  expect(foreign.size).toBeGreaterThan(8);
});

describe.each(cases)('%s', (_, root, path) => {
  test('of another workspace is answered as an unknown one, whatever it is an id of', async () => {
    const ask = async (door: Door, id: string) =>
      told(await doors.call(door, root.name, withId(neededArgs(root.field), path, id), { token: ann.token }));
    for (const door of doorsOf(root)) {
      for (const [table, id] of door === 'rest' ? foreign : akin(root, path))
        expect({ table, ...(await ask(door, id)) }).toEqual({ table, ...(await ask(door, unknownLike(id))) });
      if (path.length === 1 && path[0] === 'id')
        expect(await ask(door, UNKNOWN_ID)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    }
  });
});

/** All kinds of ids are tried at the first door; the others, which share its resolvers, get those of the kind that is asked for. */
function akin({ name }: RootField, path: readonly string[]): [string, string][] {
  const words = `${name} ${path.join(' ')}`.toLowerCase();
  const found = [...foreign].filter(([table]) =>
    words.includes(table.replaceAll('_', '').replace(/^users$/, 'member')),
  );
  return found.length > 0 ? found : [...foreign];
}

/** An id made at the same moment, which nothing has. */
const unknownLike = (id: string) => `${id.slice(0, 24)}${'0'.repeat(12)}`;

const isSingle = ({ field }: RootField) => field.args.some((arg: GraphQLArgument) => arg.name === 'id');

test('no list shows a row of another workspace', async () => {
  const ids = new Set(foreign.values());
  for (const root of fields.filter(each => each.name.startsWith('Query.') && !isSingle(each))) {
    for (const door of doorsOf(root)) {
      const { text } = await doors.call(door, root.name, neededArgs(root.field), { token: ann.token });
      const seen = [...ids].filter(id => text.includes(id));
      expect([root.name, door, seen]).toEqual([root.name, door, []]);
    }
  }
});
