import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Person, TestApp } from '../support/create-app.ts';
import { rawBytes, rawRequest } from '../support/raw-http.ts';

let app: TestApp;
let ann: Person;
beforeAll(async () => {
  app = await TestApp.start();
  ann = await app.register();
});
afterAll(() => app.stop());

/** One operation as each door takes it: an invitation. */
const WAYS = {
  rest: { path: '/api/v1/members/invitations', wrap: (args: object) => args },
  graphql: { path: '/graphql', wrap },
  stream: { path: '/graphql/stream', wrap },
};
type Door = keyof typeof WAYS;
const DOORS = Object.keys(WAYS) as Door[];

function wrap(variables: object): object {
  const query = 'mutation($email: String!, $role: Role!) { createInvitation(email: $email, role: $role) { id } }';
  return { query, variables };
}

interface Problem {
  status: number;
  code: string;
}

async function post(door: Door, body: string, headers: Record<string, string> = {}) {
  const sent = { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json', ...headers };
  const { status, text } = await rawRequest(app.url, 'POST', WAYS[door].path, { headers: sent, body }).answer;
  return { status, code: codeIn(text), text };
}

function codeIn(text: string): string | undefined {
  if (!text.startsWith('{')) return undefined;
  const json = JSON.parse(text) as Problem & { errors?: { extensions: Problem }[] };
  return json.errors?.[0]?.extensions.code ?? json.code;
}

const good = (door: Door) => JSON.stringify(WAYS[door].wrap({ email: `ok-${door}@example.org`, role: 'VIEWER' }));

describe.each(DOORS)('at the door %s', door => {
  const tooMuch = (bytes: number) => good(door).replace('{', `{${' '.repeat(bytes)}`);

  test('1 MB is taken, a byte more is 413', async () => {
    const fits = tooMuch(1024 * 1024 - Buffer.byteLength(good(door)));
    expect((await post(door, fits)).status).toBeLessThan(300);
    expect(await post(door, tooMuch(1024 * 1024))).toMatchObject({ status: 413, code: 'PAYLOAD_TOO_LARGE' });
  });

  test('a body that grows while it is sent is 413 too', async () => {
    const chunk = `${(64 * 1024).toString(16)}\r\n${' '.repeat(64 * 1024)}\r\n`;
    const head = `POST ${WAYS[door].path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ann.token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n`;
    expect(await rawBytes(app.url, `${head}${chunk.repeat(17)}0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 413 /);
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    '',
  ])('a body of the type %j is 415', async type => {
    const answer = await post(door, good(door), { 'content-type': type });
    expect(answer).toMatchObject({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
  });

  test.each(['application/json; charset=latin1', 'application/json; charset=nonsense'])('so is %s', async type => {
    expect(await post(door, good(door), { 'content-type': type })).toMatchObject({ status: 415 });
  });

  test('a compression we do not know is 415, and what is no gzip is 400', async () => {
    expect(await post(door, good(door), { 'content-encoding': 'zstd-but-not-really' })).toMatchObject({ status: 415 });
    expect(await post(door, good(door), { 'content-encoding': 'gzip' })).toMatchObject({ status: 400 });
  });

  test.each([
    '{',
    '{"email": }',
    'email=x',
    '{"a":1}}',
    "{'email': 1}",
    '\u0000',
    '{"email":"\u0001"}',
    '<xml/>',
    'NaN',
    '[',
  ])('what is no JSON is 400: %j', async body => {
    expect(await post(door, body)).toMatchObject({ status: 400, code: 'BAD_INPUT' });
  });

  test.each(['[]', '[{"email":"x"}]', '"text"', '5', 'true', 'null', '[[]]', '""'])(
    'JSON that is no object is 400: %s',
    async body => {
      expect(await post(door, body)).toMatchObject({
        status: 400,
        code: door === 'rest' ? 'BAD_INPUT' : 'QUERY_INVALID',
      });
    },
  );

  test('a deeply nested body is refused like any other', async () => {
    const deep = `{"email":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    expect((await post(door, deep)).status).toBe(400);
  });

  test('no body at all is 400', async () => {
    const answer = await post(door, '');
    expect(answer.status).toBe(400);
  });
});

describe('REST', () => {
  const invite = (body: unknown, headers = {}) =>
    app.rest('POST', '/members/invitations', { token: ann.token, body, headers });

  test.each(['input', 'Email', 'email ', '__proto__', 'constructor', 'toString', 'workspaceId', ''])(
    'an unknown field is refused by name: %j',
    async field => {
      const body = JSON.stringify({ email: 'x@example.org', role: 'VIEWER' }).replace(
        '{',
        `{${JSON.stringify(field)}:1,`,
      );
      const answer = await invite(body, { 'content-type': 'application/json' });
      expect(answer).toMatchObject({
        status: 400,
        body: { code: 'BAD_INPUT', fields: [{ field, message: 'is not a known field' }] },
      });
    },
  );

  test('a name is repeated as far as 64 printable characters', async () => {
    const answer = await invite({ [`ü\n${'n'.repeat(100)}`]: 1 });
    expect(answer).toMatchObject({ status: 400, body: { fields: [{ field: `??${'n'.repeat(62)}` }] } });
  });

  test('the query string is no second body', async () => {
    const body = { email: 'query@example.org', role: 'VIEWER' };
    const answer = await app.rest('POST', '/members/invitations?role=OWNER', { token: ann.token, body });
    expect(answer).toMatchObject({ status: 400, body: { fields: [{ field: 'role' }] } });
  });

  test.each([
    'limit=1&limit=2',
    'limit=',
    'limit=abc',
    'limit=0x10',
    'limit=1e1',
    'limit=+5',
    'limit=%20',
    'limit[]=5',
  ])('a query that is ambiguous or no number is 400: ?%s', async query => {
    expect(await app.rest('GET', `/runs?${query}`, { token: ann.token })).toMatchObject({
      status: 400,
      body: { code: 'BAD_INPUT' },
    });
  });

  test('an unknown parameter is refused by name', async () => {
    expect(await app.rest('GET', '/runs?page=2', { token: ann.token })).toMatchObject({
      status: 400,
      body: { fields: [{ field: 'page' }] },
    });
  });

  test('reads and deletions take no body', async () => {
    for (const method of ['GET', 'DELETE']) {
      const path = method === 'GET' ? '/api/v1/auth/me' : '/api/v1/auth/tokens/01890000-0000-7000-8000-000000000000';
      const headers = { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' };
      const { status } = await rawRequest(app.url, method, path, { headers, body: '{}' }).answer;
      expect(status).toBe(400);
    }
  });

  test('a change without a body changes nothing and is fine', async () => {
    const answer = await app.rest('POST', '/auth/logout', { token: (await app.register()).token });
    expect(answer.status).toBe(200);
  });
});
