import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { routeEntries } from '../../src/rest/routes.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { rawBytes, rawRequest } from '../support/raw-http.ts';
import { tellRuns } from '../support/runs.ts';

let app: TestApp;
let ann: Person;
beforeAll(async () => {
  app = await TestApp.start();
  ann = await app.register();
});
afterAll(() => app.stop());

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const paths = [...new Set(routeEntries.map(([, { path }]) => path))];
const filled = (path: string) => path.replace(/:\w+/g, '01890000-0000-7000-8000-000000000000');
const pattern = (path: string) => new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`);

describe.each(paths)('%s', path => {
  const allowed = METHODS.filter(method =>
    routeEntries.some(([, route]) => route.method === method && pattern(route.path).test(filled(path))),
  );

  test('answers 405 to other methods, and says which there are', async () => {
    for (const method of [...METHODS, 'OPTIONS'].filter(each => !allowed.includes(each))) {
      const answer = await app.rest<{ code: string }>(method, filled(path), { token: ann.token });
      expect([method, answer.status, answer.body.code]).toEqual([method, 405, 'METHOD_NOT_ALLOWED']);
      expect(answer.headers.get('allow')?.split(', ').sort()).toEqual([...allowed].sort());
    }
  });

  test('is the same with a slash at its end', async () => {
    const method = allowed[0] as string;
    const statuses = [];
    for (const end of ['', '/'])
      statuses.push((await app.rest(method, filled(path) + end, {}).catch(() => ({ status: 0 }))).status);
    expect(statuses[0]).toBe(statuses[1]);
  });
});

describe('HEAD', () => {
  test.each(['/auth/me', '/runs', '/audit', '/events'])('is GET without a body: %s', async path => {
    const headers = { authorization: `Bearer ${ann.token}` };
    const { status, text, headers: head } = await rawRequest(app.url, 'HEAD', `/api/v1${path}`, { headers }).answer;
    expect([status, text]).toEqual([200, '']);
    expect(head['content-type']).toMatch(path === '/events' ? /^text\/event-stream/ : /^application\/json/);
    expect(app.app.openStreams()).toBe(0);
  });

  test('is refused like GET', async () => {
    expect((await rawRequest(app.url, 'HEAD', '/api/v1/auth/me').answer).status).toBe(401);
    expect((await rawRequest(app.url, 'HEAD', '/api/v1/nowhere').answer).status).toBe(404);
  });
});

describe('what is nowhere is answered in the form of the door', () => {
  test.each([
    '/',
    '/api',
    '/api/v1',
    '/api/v1/',
    '/api/v1/nowhere',
    '/api/v2/auth/me',
    '/favicon.ico',
    '/graphqlx',
    '/api/v1/webhook',
    '//x',
  ])('%s by problem+json', async path => {
    for (const method of ['GET', 'POST']) {
      const response = await fetch(app.url + path, { method });
      expect(response.status).toBe(404);
      expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
      expect(await response.json()).toMatchObject({ status: 404, code: 'NOT_FOUND', instance: path });
    }
  });

  test.each(['/graphql/nowhere', '/graphql/stream/nowhere'])('%s by errors of GraphQL', async path => {
    const response = await fetch(app.url + path, { method: 'POST' });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'NOT_FOUND', status: 404 } }] });
  });

  test.each([
    ['PUT', '/graphql', 'GET, POST'],
    ['DELETE', '/graphql', 'GET, POST'],
    ['GET', '/graphql/stream', 'POST'],
    ['PUT', '/graphql/stream', 'POST'],
  ])('%s %s is 405', async (method, path, allow) => {
    const response = await fetch(app.url + path, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'METHOD_NOT_ALLOWED' } }] });
  });
});

describe('requests that are hardly requests', () => {
  const bearer = () => `Authorization: Bearer ${ann.token}\r\nConnection: close\r\n`;
  const form = /"type":"urn:slipway:error:[\w-]+","title":"[^"]+","status":4\d\d,.*"code":"[A-Z_]+"/;

  test.each([
    ['no HTTP', 400, () => 'HELLO\r\n\r\n'],
    ['headers of 20 KB', 413, () => `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['a bad length', 400, () => 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n'],
    ['two lengths', 400, () => 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx'],
    ['a broken target', 404, () => `GET http://[x/api/v1/auth/me HTTP/1.1\r\nHost: x\r\n${bearer()}\r\n`],
    ['a target of no host', 404, () => `GET http://:99999/api/v1/auth/me HTTP/1.1\r\nHost: x\r\n${bearer()}\r\n`],
    ['a target badly encoded', 400, () => `GET /api/v1/runs/%zz HTTP/1.1\r\nHost: x\r\n${bearer()}\r\n`],
    ['a target that is no UTF-8', 400, () => `GET /api/v1/runs/%ff HTTP/1.1\r\nHost: x\r\n${bearer()}\r\n`],
  ] as [string, number, () => string][])('%s is %i in our form', async (_, status, bytes) => {
    const answer = await rawBytes(app.url, bytes());
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toMatch(form);
  });

  test('HEAD gets no body even then', async () => {
    const answer = await rawBytes(app.url, `HEAD /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 413 [\s\S]*\r\n\r\n$/);
  });

  test('the whole URL as a target is fine, as RFC 9112 has it', async () => {
    const answer = await rawBytes(app.url, `GET http://x/api/v1/auth/me HTTP/1.1\r\nHost: x\r\n${bearer()}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('ETag and If-Match', () => {
  const patch = (tag: string, token: string) =>
    app.rest<{ version: number }>('PATCH', '/auth/me', { token, body: { name: 'x' }, headers: { 'if-match': tag } });

  test('a single resource has its version as its ETag, and a change needs the one it knows', async () => {
    const { token } = await app.register();
    const me = await app.rest('GET', '/auth/me', { token });
    expect(me.headers.get('etag')).toBe('"1"');
    const changed = await patch('"1"', token);
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"2"']);
    expect(await patch('"1"', token)).toMatchObject({ status: 412, body: { code: 'VERSION_MISMATCH' } });
    expect(await patch('*', token)).toMatchObject({ status: 200 });
  });

  test.each(['"999"', '"abc"', 'W/"1"', '""'])('a tag that is not the resource’s is 412: %s', async tag => {
    expect(await patch(tag, (await app.register()).token)).toMatchObject({ status: 412 });
  });

  test.each(['1', 'abc', '"1', '1"'])('what is no tag is 400: %s', async tag => {
    expect(await patch(tag, ann.token)).toMatchObject({ status: 400, body: { fields: [{ field: 'If-Match' }] } });
  });

  test('a deletion honours it too', async () => {
    const body = { name: 'x', scope: 'read' };
    const { id } = (await app.rest<{ id: string }>('POST', '/auth/tokens', { token: ann.token, body })).body;
    const remove = (tag: string) =>
      app.rest('DELETE', `/auth/tokens/${id}`, { token: ann.token, headers: { 'if-match': tag } });
    expect(await remove('"2"')).toMatchObject({ status: 412 });
    expect(await remove('"1"')).toMatchObject({ status: 200, body: { id } });
  });

  test('there is no 304: a read is answered whole', async () => {
    const [id] = await tellRuns(app, ann.workspaceId, 1);
    const answer = await app.rest('GET', `/runs/${id}`, { token: ann.token, headers: { 'if-none-match': '"1"' } });
    expect([answer.status, answer.headers.get('etag')]).toEqual([200, '"1"']);
  });
});

test('answers are for no cache, no frame and no sniffing', async () => {
  for (const path of ['/api/v1/auth/me', '/graphql/stream', '/nowhere']) {
    const { headers } = await fetch(app.url + path);
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    });
    expect(headers.get('x-powered-by')).toBeNull();
  }
});
