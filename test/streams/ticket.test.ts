import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { type Person, TestApp } from '../support/create-app.ts';
import { tellRuns } from '../support/runs.ts';
import { SseClient } from '../support/sse-client.ts';

const PATH = '/api/v1/events';
const logged: string[] = [];

let app: TestApp;
let twin: TestApp;
let ann: Person;
beforeAll(async () => {
  const sink = new Writable({
    write: (chunk, _, done) => {
      logged.push(String(chunk));
      done();
    },
  });
  app = await TestApp.start({}, pino({ level: 'trace' }, sink));
  twin = await app.twin();
  ann = await app.register();
});
afterAll(async () => {
  await twin.stop();
  await app.stop();
});

async function ticketFor(path: string, token = ann.token): Promise<string> {
  const answer = await app.rest<{ ticket: string }>('POST', '/auth/stream-ticket', { token, body: { path } });
  expect(answer.status).toBe(201);
  return answer.body.ticket;
}

const open = (at: TestApp, ticket: string, path = PATH, headers = {}) =>
  SseClient.open(`${at.url}${path}?ticket=${ticket}`, { headers });

test('opens its stream without a header, again and again, and resumes', async () => {
  const ticket = await ticketFor(PATH);
  const first = await open(app, ticket);
  const [one] = await tellRuns(app, ann.workspaceId, 1);
  expect(await first.read(1)).toMatchObject([{ resourceId: one }]);
  await first.cut();
  const [two] = await tellRuns(app, ann.workspaceId, 1);
  const second = await open(twin, ticket, PATH, { 'last-event-id': first.lastId ?? '' });
  expect(await second.read(1)).toMatchObject([{ resourceId: two }]);
  await second.cut();
});

test('opens one stream at a time: the one before ends, on another instance too', async () => {
  const ticket = await ticketFor(PATH);
  const first = await open(app, ticket);
  const second = await open(twin, ticket);
  await first.ended;
  const third = await open(twin, ticket);
  await second.ended;
  const [news] = await tellRuns(app, ann.workspaceId, 1);
  expect(await third.read(1)).toMatchObject([{ resourceId: news }]);
  await third.cut();
});

test('used at two instances in the same moment, one of the two streams stays', async () => {
  const ticket = await ticketFor(PATH);
  for (let round = 0; round < 5; round += 1) {
    const readers = await Promise.all([open(app, ticket), open(twin, ticket), open(app, ticket), open(twin, ticket)]);
    const [news] = await tellRuns(app, ann.workspaceId, 1);
    const heard = readers.map(reader => reader.next());
    const ends = await Promise.race([
      Promise.all(readers.map(({ ended }) => ended.then(() => 'ended'))),
      Promise.any(heard.map(async message => (await message) ?? Promise.reject(new Error('ended')))),
    ]);
    expect(ends).toMatchObject({ data: expect.stringContaining(news ?? '') });
    await Promise.all(readers.map(reader => reader.cut()));
  }
});

test('is good for its own path alone, and for nothing but a stream', async () => {
  const ticket = await ticketFor(PATH);
  const other = await ticketFor('/api/v1/audit');
  const attempts: [method: string, path: string, ticket: string][] = [
    ['GET', '/api/v1/audit', ticket],
    ['GET', '/api/v1/auth/me', ticket],
    ['GET', PATH, other],
    ['GET', `${PATH}/`, ticket],
    ['POST', '/api/v1/auth/logout', ticket],
    ['GET', PATH, 'nonsense'],
    ['GET', PATH, ann.token],
    ['GET', PATH, `${ticket}&ticket=${ticket}`],
  ];
  for (const [method, path, shown] of attempts) {
    const refused = await SseClient.open(`${app.url}${path}?ticket=${shown}`, { method });
    expect([400, 401]).toContain(refused.status);
  }
  const read = await SseClient.open(`${app.url}/api/v1/audit?ticket=${other}`);
  expect([400, 401]).toContain(read.status);
  expect((await app.rest('GET', '/auth/me', { token: ann.token })).status).toBe(200);
});

test('is made for streams of REST alone: at the GraphQL door a ticket in the address opens nothing', async () => {
  for (const path of ['/graphql', '/graphql/stream']) {
    const answer = await app.rest('POST', '/auth/stream-ticket', { token: ann.token, body: { path } });
    expect(answer.status).toBe(400);
  }
});

test('is no bearer token, and an API token gets none', async () => {
  const ticket = await ticketFor(PATH);
  expect((await app.rest('GET', '/auth/me', { token: ticket })).status).toBe(401);
  const { body } = await app.rest<{ token: string }>('POST', '/auth/tokens', {
    token: ann.token,
    body: { name: 'script', scope: 'write' },
  });
  const refused = await app.rest('POST', '/auth/stream-ticket', { token: body.token, body: { path: PATH } });
  expect(refused.status).toBe(403);
});

test('ends with its session', async () => {
  const { email, password } = ann;
  const login = await app.rest<{ accessToken: string }>('POST', '/auth/login', { body: { email, password } });
  const ticket = await ticketFor(PATH, login.body.accessToken);
  const reader = await open(twin, ticket);
  await app.rest('POST', '/auth/logout', { token: login.body.accessToken });
  await reader.ended;
  expect((await open(twin, ticket)).status).toBe(401);
});

test('is never in the log', async () => {
  const ticket = await ticketFor(PATH);
  const reader = await open(app, ticket);
  await reader.cut();
  await open(app, `${ticket}x`);
  await open(app, ticket, '/api/v1/audit');
  await open(app, ticket, '/nowhere');
  const lines = logged.join('');
  expect(lines).toContain('"path":"/api/v1/events"');
  expect(lines).not.toContain(ticket);
});
