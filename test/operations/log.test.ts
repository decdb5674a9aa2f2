import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CapturedLog } from '../support/captured-log.ts';
import { type Person, TestApp } from '../support/create-app.ts';

const captured = new CapturedLog();
let app: TestApp;
let ann: Person;
beforeAll(async () => {
  app = await TestApp.start({}, captured.log);
  ann = await app.register();
});
afterAll(() => app.stop());

interface Line {
  level: number;
  msg: string;
  requestId?: string;
  [name: string]: unknown;
}

const linesOf = (requestId: string): Line[] =>
  captured.lines.map(line => JSON.parse(line) as Line).filter(line => line.requestId === requestId);

const as = (requestId: string) => ({ authorization: `Bearer ${ann.token}`, 'x-request-id': requestId });

test.each([
  ['rest', 'GET', '/api/v1/auth/me?x=hidden', undefined, 400],
  ['graphql', 'POST', '/graphql', { query: 'query($x: ID!) { run(id: $x) { id } }', variables: { x: 'hidden' } }, 200],
  ['stream', 'POST', '/graphql/stream', { query: '{ hidden }' }, 400],
  ['nowhere', 'GET', '/hidden/../elsewhere', undefined, 404],
])('a request leaves one line, with its id and without what it said: %s', async (door, method, path, body, status) => {
  const id = `one-line-${door}`;
  const headers = { ...as(id), 'content-type': 'application/json' };
  const response = await fetch(`${app.url}${path}`, { method, headers, body: body && JSON.stringify(body) });
  expect([response.status, response.headers.get('x-request-id')]).toEqual([status, id]);
  await response.text();
  await captured.line(new RegExp(`"requestId":"${id}".*"msg":"request"`));
  expect(linesOf(id)).toEqual([
    {
      level: 30,
      time: expect.any(Number),
      requestId: id,
      method,
      path: new URL(path, app.url).pathname,
      status,
      ms: expect.any(Number),
      user: ann.id,
      msg: 'request',
    },
  ]);
  expect(captured.lines.filter(line => line.includes('hidden'))).toEqual([]);
});

test('what went wrong on our side is a line more, under the same id', async () => {
  await app.sql('alter table run rename to run_away');
  const answer = await fetch(`${app.url}/api/v1/runs`, { headers: as('broken') });
  await app.sql('alter table run_away rename to run');
  expect(answer.status).toBe(500);
  await captured.line(/"requestId":"broken".*"msg":"request"/);
  expect(linesOf('broken')).toMatchObject([
    { level: 50, msg: 'Unexpected error', err: { message: expect.stringContaining('run') } },
    { level: 30, msg: 'request', status: 500 },
  ]);
});

const SECRET = 'correct horse battery';

test.each([
  ['at the top', { password: SECRET, token: SECRET, authorization: SECRET, cookie: SECRET }],
  ['in headers', { headers: { authorization: SECRET, cookie: SECRET } }],
  ['in a request', { request: { headers: { authorization: SECRET }, body: { password: SECRET } } }],
  ['in variables', { variables: { password: SECRET, refreshToken: SECRET, input: { privateKey: SECRET } } }],
  ['in an error', { err: Object.assign(new Error('failed'), { password: SECRET, config: { token: SECRET } }) }],
])('what is named like a secret is not written, whoever logs it: %s', async (where, context) => {
  captured.log.error(context, `a secret ${where}`);
  const line = await captured.line(new RegExp(`a secret ${where}`));
  expect(line).not.toContain(SECRET);
  expect(line).toContain('[secret]');
});
