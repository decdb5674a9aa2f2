import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { areEnumsTheirNames } from '../../src/schema/compiled.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { testSchema } from '../support/schema.ts';
import { testConfig } from '../support/settings.ts';

const OPERATIONS = {
  list: 'query List($limit: Int, $after: ID) { audit(limit: $limit, after: $after) { id at actor outcome actorUser { email } } }',
  one: 'query One($id: ID!) { auditEntry(id: $id) { id action } }',
  rename: 'mutation Rename($name: String) { updateMe(name: $name) { name version } }',
  invite:
    'mutation Invite($email: String!, $role: Role!) { createInvitation(email: $email, role: $role) { id email role } }',
  costly: 'query Costly($limit: Int) { audit(limit: $limit) { id actorUser { id email name role } } }',
};
type Name = keyof typeof OPERATIONS;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const folder = mkdtempSync(join(tmpdir(), 'slipway-manifest-'));
const file = join(folder, 'operations.json');

function writeManifest(bodies: readonly string[]): void {
  const operations = bodies.map(body => ({ id: sha256(body), name: 'any', type: 'query', body }));
  writeFileSync(file, JSON.stringify({ format: 'apollo-persisted-query-manifest', version: 1, operations }));
}

let app: TestApp;
let ann: Person;
beforeAll(async () => {
  writeManifest(Object.values(OPERATIONS));
  app = await TestApp.start({ PERSISTED_OPERATIONS: file });
  ann = await app.register();
});
afterAll(async () => {
  await app.stop();
  rmSync(folder, { recursive: true });
});

async function post(body: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${ann.token}`, ...headers },
    body: JSON.stringify(body),
  });
  const type = response.headers.get('content-type');
  return { status: response.status, type, headers: response.headers, body: JSON.parse(await response.text()) };
}

const byHash = (name: Name, variables?: object, more: object = {}) => ({
  variables,
  extensions: { persistedQuery: { version: 1, sha256Hash: sha256(OPERATIONS[name]) } },
  ...more,
});
/** A blank more is another text: this one is not registered, and Apollo answers it. */
const byText = (name: Name, variables?: object, more: object = {}) => ({
  query: `${OPERATIONS[name]} `,
  variables,
  ...more,
});

const unlike = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body, (key, value) => (key === 'requestId' ? undefined : value)));

describe('an operation by its hash is answered as by its text', () => {
  test.each<[string, Name, object | undefined, object]>([
    ['a list', 'list', { limit: 5 }, {}],
    ['without variables', 'list', undefined, {}],
    ['nulls', 'list', { after: null }, {}],
    ['by its name', 'list', { limit: 1 }, { operationName: 'List' }],
    ['an id that nobody has', 'one', { id: randomUUID() }, {}],
    ['a malformed id', 'one', { id: 'x' }, {}],
    ['a variable left out', 'one', {}, {}],
    ['a variable of a wrong type', 'list', { limit: 'many' }, {}],
    ['a number out of bounds', 'list', { limit: 101 }, {}],
    ['a name that is not its own', 'list', {}, { operationName: 'Other' }],
    ['variables that are none', 'list', [1], {}],
  ])('%s', async (_, name, variables, more) => {
    const [hashed, told] = [await post(byHash(name, variables, more)), await post(byText(name, variables, more))];
    expect(unlike(hashed.body)).toEqual(unlike(told.body));
    expect([hashed.status, hashed.type]).toEqual([told.status, told.type]);
  });

  test('a bad token', async () => {
    const headers = { authorization: 'Bearer nobody' };
    const [hashed, told] = [await post(byHash('list'), headers), await post(byText('list'), headers)];
    expect(hashed.status).toBe(401);
    expect([hashed.status, unlike(hashed.body)]).toEqual([told.status, unlike(told.body)]);
  });

  test.each(['*/*', 'application/json', 'application/graphql-response+json, application/json;q=0.9'])(
    'to whoever accepts %s',
    async accept => {
      const [hashed, told] = [await post(byHash('list'), { accept }), await post(byText('list'), { accept })];
      expect(hashed.type).toBe(told.type);
    },
  );
});

test('a mutation takes effect, once under one key', async () => {
  expect((await post(byHash('rename', { name: 'Ann' }))).body).toMatchObject({ data: { updateMe: { name: 'Ann' } } });
  const headers = { 'idempotency-key': 'the-same' };
  const wish = byHash('invite', { email: 'bob@example.org', role: 'MEMBER' });
  const [first, second] = [await post(wish, headers), await post(wish, headers)];
  expect(second.body).toEqual(first.body);
  expect(second.headers.get('idempotency-replayed')).toBe('true');
});

test('what is asked for again and again is answered as it was the first time', async () => {
  const wishes = [
    { query: '{ me { id email } audit(limit: 1) { id ...entry } } fragment entry on AuditEntry { action }' },
    { query: 'query Two($limit: Int = 2) { audit(limit: $limit) { id } }', operationName: 'Two' },
    { query: 'query Lost($id: ID!) { auditEntry(id: $id) { id } }', variables: { id: randomUUID() } },
    { query: 'query Bad($limit: Int) { audit(limit: $limit) { id } }', variables: { limit: 1000 } },
    { query: 'query Half($id: ID!) { me { id } one: auditEntry(id: $id) { id } }', variables: { id: randomUUID() } },
    { query: 'query Kind { __typename me { __typename role } }' },
  ];
  for (const wish of wishes) {
    const first = await post(wish);
    for (let times = 0; times < 40; times += 1) {
      const again = await post(wish);
      expect([again.status, again.type, unlike(again.body)]).toEqual([first.status, first.type, unlike(first.body)]);
    }
  }
});

test('a hash that is not registered is not found, and clients send the text then', async () => {
  const extensions = { persistedQuery: { version: 1, sha256Hash: sha256('{ me { id } }') } };
  const missing = await post({ extensions });
  expect(missing.body.errors[0].extensions.code).toBe('PERSISTED_QUERY_NOT_FOUND');
  expect((await post({ query: '{ me { id } }', extensions })).body).toEqual({ data: { me: { id: ann.id } } });
  expect((await post({ extensions })).body).toEqual({ data: { me: { id: ann.id } } });
});

test('a manifest with anything else than queries and mutations of the schema stops the start', async () => {
  writeManifest(['{ nothing }', 'subscription { events { id } }', '{ me { id } } query Second { me { id } }']);
  const settings = { PERSISTED_OPERATIONS: file, DATABASE_URL: app.databaseUrl };
  expect(testConfig(settings).persistedOperationsFile).toBe(file);
  await expect(TestApp.start(settings)).rejects.toThrow(/has 3 fault\(s\)/);
});

test('every enum value is its own name, so that compiled operations need not convert it', async () => {
  expect(areEnumsTheirNames(await testSchema())).toBe(true);
});
