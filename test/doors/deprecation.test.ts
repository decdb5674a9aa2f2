import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { buildSchema, parse } from 'graphql';
import { getMetadataStorage } from 'type-graphql';
import { deprecated, readDeprecation } from '../../src/schema/deprecation.ts';
import { deprecationIn } from '../../src/schema/rules/deprecated-parts.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { SseClient } from '../support/sse-client.ts';
import { ThreeDoors } from '../support/three-doors.ts';

const { deprecationReason } = deprecated('Look at the events.', '2026-12-01', '2027-06-01');
const OLD = { deprecation: '@1796083200', sunset: 'Tue, 01 Jun 2027 00:00:00 GMT' };
const NEW = { deprecation: null, sunset: null };

interface Marks {
  queries: { schemaName: string; deprecationReason?: string }[];
  subscriptions: { schemaName: string; deprecationReason?: string }[];
  fields: { target: { name: string }; schemaName: string; deprecationReason?: string }[];
}

/** As if their decorators said so. Nothing is deprecated yet, so a test has to do it. */
function deprecateSome(): void {
  const { queries, subscriptions, fields } = getMetadataStorage() as unknown as Marks;
  const marks = [
    queries.find(({ schemaName }) => schemaName === 'runs'),
    subscriptions.find(({ schemaName }) => schemaName === 'events'),
    fields.find(({ target, schemaName }) => target.name === 'AuditArgs' && schemaName === 'resource'),
    fields.find(({ target, schemaName }) => target.name === 'Invitation' && schemaName === 'expiresAt'),
  ];
  for (const mark of marks) Object.assign(mark ?? {}, { deprecationReason });
  expect(marks).not.toContain(undefined);
}

let app: TestApp;
let doors: ThreeDoors;
let ann: Person;
beforeAll(async () => {
  deprecateSome();
  app = await TestApp.start();
  doors = await ThreeDoors.of(app);
  ann = await app.register();
});
afterAll(() => app.stop());

const told = ({ headers }: { headers: Headers }) => ({
  deprecation: headers.get('deprecation'),
  sunset: headers.get('sunset'),
});

describe.each(['rest', 'graphql', 'stream'] as const)('at the door %s', door => {
  const call = (...[name, args]: [Parameters<ThreeDoors['call']>[1], Record<string, unknown>?]) =>
    doors.call(door, name, args, { token: ann.token });

  test('an operation that is deprecated says so, and when it will be gone', async () => {
    expect(told(await call('Query.runs'))).toEqual(OLD);
    expect(told(await call('Query.runs', { limit: 101 }))).toEqual(OLD);
    expect(told(await call('Query.projects'))).toEqual(NEW);
  });

  test('an argument that is deprecated says so where it is given', async () => {
    expect(told(await call('Query.audit', { resource: `User:${ann.id}` }))).toEqual(OLD);
    expect(told(await call('Query.audit', { limit: 1 }))).toEqual(NEW);
  });
});

test('a stream says so in its first answer', async () => {
  const reader = await SseClient.open(`${app.url}/api/v1/events`, { token: ann.token });
  expect(reader.headers).toMatchObject(OLD);
  await reader.cut();
});

test('a field of an answer says so to those of GraphQL who select it', async () => {
  const ask = (query: string) => doors.send('graphql', { query }, { token: ann.token });
  expect(told(await ask('{ invitations { id expiresAt } }'))).toEqual(OLD);
  expect(told(await ask('{ invitations { id } }'))).toEqual(NEW);
});

test('the document marks all of it', async () => {
  const document = await (await fetch(`${app.url}/api/docs/openapi.json`)).json();
  const { '/runs': runs, '/audit': audit, '/events': events } = document.paths;
  expect(runs.get).toMatchObject({ deprecated: true, description: expect.stringContaining(deprecationReason) });
  expect(runs.get.responses[200].headers).toHaveProperty('Deprecation');
  expect(runs.get.responses[200].headers).toHaveProperty('Sunset');
  expect(events.get.deprecated).toBe(true);
  expect(audit.get.deprecated).toBeUndefined();
  expect(audit.get.parameters.filter((parameter: { deprecated?: boolean }) => parameter.deprecated)).toMatchObject([
    { name: 'resource' },
  ]);
  expect(document.components.schemas.Invitation.properties.expiresAt.deprecated).toBe(true);
});

describe('what an operation of GraphQL uses', () => {
  const until = (day: string) => deprecated('Another way.', '2026-01-01', `2027-01-${day}`).deprecationReason;
  const schema = buildSchema(`
    enum Colour { RED @deprecated(reason: "${until('05')}") GREEN }
    input Shape { size: Int @deprecated(reason: "${until('04')}") colour: Colour inner: [Shape!] }
    type Query { a(old: Int @deprecated(reason: "${until('03')}"), shape: Shape, colour: Colour): Thing }
    type Thing { old: Int @deprecated(reason: "${until('02')}") new: Int }
  `);

  test.each<[query: string, variables: Record<string, unknown>, day: number | undefined]>([
    ['{ a { new } }', {}, undefined],
    ['{ a { old } }', {}, 2],
    ['{ a { ...F } } fragment F on Thing { old }', {}, 2],
    ['{ a(old: 1) { new } }', {}, 3],
    ['query($x: Int) { a(old: $x) { new } }', {}, undefined],
    ['query($x: Int) { a(old: $x) { new } }', { x: null }, 3],
    ['{ a(shape: { size: 1 }) { new } }', {}, 4],
    ['{ a(shape: { colour: GREEN }) { new } }', {}, undefined],
    ['{ a(colour: RED) { new } }', {}, 5],
    ['query($x: Colour) { a(colour: $x) { new } }', { x: 'RED' }, 5],
    ['query($x: Shape) { a(shape: $x) { new } }', { x: { inner: [{ colour: 'GREEN' }, { size: 1 }] } }, 4],
    ['query($x: Shape) { a(shape: $x) { new } }', { x: { inner: [{ inner: [] }] } }, undefined],
    ['query($x: Shape) { a(old: 1, shape: $x) { old } }', { x: { size: 1 } }, 2],
  ])('%s with %j', (query, variables, day) => {
    expect(deprecationIn(schema, parse(query), variables)?.until.getUTCDate()).toBe(day);
  });
});

test('words of which no dates can be read stop the one who writes them', () => {
  expect(() => readDeprecation(['Use another.'])).toThrow(/deprecated\(\)/);
  expect(() => readDeprecation([deprecated('x', '2027-01-01', '2026-01-01').deprecationReason])).toThrow(TypeError);
});
