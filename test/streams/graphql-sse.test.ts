import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Client, createClient, NetworkError } from 'graphql-sse';
import { type Person, TestApp } from '../support/create-app.ts';
import { eventually } from '../support/eventually.ts';
import { tellRuns } from '../support/runs.ts';
import { SseClient } from '../support/sse-client.ts';

let app: TestApp;
let ann: Person;
beforeAll(async () => {
  app = await TestApp.start();
  ann = await app.register();
});
afterAll(() => app.stop());

const connect = (token: string | undefined, retryAttempts = 0): Client =>
  createClient({
    url: `${app.url}/graphql/stream`,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    retryAttempts,
  });

interface Told {
  id: string;
  resourceId: string;
}

const SKIPPED_INSIDE = `
  subscription ($on: Boolean!) { ...Root }
  fragment Root on Subscription { ... on Subscription @include(if: $on) { events { id } } }`;

const EVENTS =
  'subscription ($after: ID, $kinds: [EventKind!]) { events(after: $after, kinds: $kinds) { id resourceId } }';

/** Opens it and waits until it is open, so that what happens next is heard. */
async function subscribe(query: string, variables: Record<string, unknown> = {}, token = ann.token) {
  const before = app.app.openStreams();
  const results = connect(token).iterate<{ events: Told }>({ query, variables });
  const first = results.next();
  // An error comes instead of an open stream.
  await Promise.race([eventually(() => app.app.openStreams() > before), first.catch(() => undefined)]);
  let isFirst = true;
  return {
    next: async () => {
      const result = await (isFirst ? first : results.next());
      isFirst = false;
      return (result.value as { data?: { events: Told }; errors?: object[] } | undefined) ?? {};
    },
    leave: async () => {
      await results.return?.();
      await eventually(() => app.app.openStreams() === before);
    },
  };
}

/** What the client of graphql-sse throws for an answer that is no stream. */
async function refusalOf(
  query: string,
  variables: Record<string, unknown> = {},
  token: string | null | undefined = ann.token,
) {
  const results = connect(token ?? undefined).iterate({ query, variables });
  const error = await results.next().then(
    result => Promise.reject(new Error(`it was answered: ${JSON.stringify(result)}`)),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof NetworkError)) throw error;
  const response = error.response as Response;
  const { errors } = (await response.json()) as { errors: { extensions: { code: string; status: number } }[] };
  return { status: response.status, code: errors[0]?.extensions.code };
}

describe("with graphql-sse's own client", () => {
  test('events arrive, and leaving leaves nothing behind', async () => {
    const events = await subscribe(EVENTS);
    const [one, two] = await tellRuns(app, ann.workspaceId, 2);
    expect(await events.next()).toMatchObject({ data: { events: { resourceId: one } } });
    expect(await events.next()).toMatchObject({ data: { events: { resourceId: two } } });
    await events.leave();
    expect(app.app.openStreams()).toBe(0);
  });

  test('`after` resumes with no gap and no repeat', async () => {
    const first = await subscribe(EVENTS);
    const told = await tellRuns(app, ann.workspaceId, 3);
    const { data } = await first.next();
    await first.leave();
    const again = await subscribe(EVENTS, { after: data?.events.id });
    expect(await again.next()).toMatchObject({ data: { events: { resourceId: told[1] } } });
    expect(await again.next()).toMatchObject({ data: { events: { resourceId: told[2] } } });
    await again.leave();
  });

  test('`resource` is what the event is about, as a type of its own', async () => {
    const query = 'subscription { events { resource { __typename ... on Run { id subject status } } data } }';
    const events = await subscribe(query);
    const [id] = await tellRuns(app, ann.workspaceId, 1, () => 'a subject');
    const resource = { __typename: 'Run', id, subject: 'a subject', status: 'QUEUED' };
    expect(await events.next()).toMatchObject({ data: { events: { resource, data: { id, subject: 'a subject' } } } });
    await events.leave();
  });

  test('queries and mutations are answered too, by one message', async () => {
    const client = connect(ann.token);
    for (const query of ['{ me { email } }', 'mutation { updateMe(name: "Ann") { name } }']) {
      const results = [];
      for await (const result of client.iterate({ query })) results.push(result);
      expect(results).toEqual([{ data: { [Object.keys(results[0]?.data ?? {})[0] ?? '']: expect.any(Object) } }]);
    }
    client.dispose();
  });

  test.each([
    ['no token', EVENTS, {}, null, 401, 'UNAUTHENTICATED'],
    ['a bad token', EVENTS, {}, 'nonsense', 401, 'UNAUTHENTICATED'],
    ['a cursor that is none', EVENTS, { after: '42' }, undefined, 400, 'BAD_INPUT'],
    ['a cursor of nobody', EVENTS, { after: 'ffffffff-ffff-7fff-bfff-ffffffffffff' }, undefined, 400, 'BAD_INPUT'],
    ['a kind that is none', EVENTS, { kinds: ['nonsense'] }, undefined, 400, 'BAD_INPUT'],
    ['what is no GraphQL', 'subscription {', {}, undefined, 400, 'QUERY_INVALID'],
    ['what the schema has not', 'subscription { nothing }', {}, undefined, 400, 'QUERY_INVALID'],
    ['two streams in one', 'subscription { a: events { id } b: events { id } }', {}, undefined, 400, 'QUERY_INVALID'],
    ['a stream skipped', 'subscription { events @skip(if: true) { id } }', {}, undefined, 400, 'QUERY_INVALID'],
    ['a stream skipped inside', SKIPPED_INSIDE, { on: false }, undefined, 400, 'QUERY_INVALID'],
    ['too many aliases', aliased(16), {}, undefined, 400, 'QUERY_TOO_COMPLEX'],
    ['too many root fields', `{ ${'me { id } '.repeat(11)} }`, {}, undefined, 400, 'QUERY_TOO_COMPLEX'],
    ['too many words', `{ me { ${'id '.repeat(2001)} } }`, {}, undefined, 400, 'QUERY_INVALID'],
  ])('%s is refused with a status before the stream opens', async (_, query, variables, token, status, code) => {
    expect(await refusalOf(query, variables, token)).toEqual({ status, code });
    expect(app.app.openStreams()).toBe(0);
  });
});

function aliased(count: number): string {
  return `subscription { events { ${Array.from({ length: count }, (_, index) => `a${index}: id`).join(' ')} } }`;
}

describe('readers who ask alike share the work, those who do not are told apart', () => {
  const read = async (body: object) => SseClient.open(`${app.url}/graphql/stream`, { token: ann.token, body });

  test('by a variable below the root, wherever it stands', async () => {
    const documents = [
      'subscription ($on: Boolean!) { events { id kind @include(if: $on) } }',
      'subscription ($on: Boolean!) { ... on Subscription { events { id kind @include(if: $on) } } }',
      'subscription ($on: Boolean!) { ...All } fragment All on Subscription { events { id kind @include(if: $on) } }',
    ];
    for (const query of documents) {
      const readers = await Promise.all([true, false].map(on => read({ query, variables: { on } })));
      await tellRuns(app, ann.workspaceId, 1);
      const heard = await Promise.all(readers.map(reader => reader.read<{ data: { events: object } }>(1)));
      const fields = heard.map(([message]) => Object.keys(message?.data.events ?? {}));
      expect(fields).toEqual([['id', 'kind'], ['id']]);
      await Promise.all(readers.map(reader => reader.cut()));
    }
  });

  test('by the operation, where a document has several', async () => {
    const query = `
      subscription A($on: Boolean!) { events { id kind @include(if: $on) } }
      subscription B($off: Boolean!) { events { id action @skip(if: $off) } }`;
    const bodies = [
      { query, operationName: 'A', variables: { on: true } },
      { query, operationName: 'B', variables: { off: true } },
      { query, operationName: 'B', variables: { off: false } },
    ];
    const readers = await Promise.all(bodies.map(read));
    await tellRuns(app, ann.workspaceId, 1);
    const heard = await Promise.all(readers.map(reader => reader.read<{ data: { events: object } }>(1)));
    const fields = heard.map(([message]) => Object.keys(message?.data.events ?? {}));
    expect(fields).toEqual([['id', 'kind'], ['id'], ['id', 'action']]);
    await Promise.all(readers.map(reader => reader.cut()));
  });
});

test('the door is opened by POST alone, and single connection mode is not offered', async () => {
  for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
    const answer = await SseClient.open(`${app.url}/graphql/stream`, { token: ann.token, method });
    expect([method, answer.status, answer.headers.allow]).toEqual([method, 405, 'POST']);
  }
  const headers = { 'x-graphql-event-stream-token': 'reserved' };
  const body = { query: '{ me { id } }' };
  const answer = await SseClient.open(`${app.url}/graphql/stream`, { token: ann.token, headers, body });
  expect((await answer.take(2)).map(({ event }) => event)).toEqual(['next', 'complete']);
});
