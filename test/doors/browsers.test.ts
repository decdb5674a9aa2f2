import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/create-app.ts';

const ORIGIN = 'https://console.example.org';

let app: TestApp;
let closed: TestApp;
beforeAll(async () => {
  app = await TestApp.start({
    CORS_ORIGINS: `${ORIGIN}, https://other.example.org`,
    PUBLIC_URL: 'https://slipway.test',
  });
  closed = await app.twin();
});
afterAll(async () => {
  await closed.stop();
  await app.stop();
});

const preflight = (instance: TestApp, path: string, origin: string) =>
  fetch(instance.url + path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'authorization,if-match',
    },
  });

describe.each(['/api/v1/auth/me', '/graphql', '/graphql/stream', '/api/v1/events'])('%s', path => {
  test('may be called from the pages that the configuration names', async () => {
    const { status, headers } = await preflight(app, path, ORIGIN);
    expect([status, headers.get('access-control-allow-origin')]).toEqual([204, ORIGIN]);
    expect(headers.get('access-control-allow-methods')).toBe('GET,POST,PUT,PATCH,DELETE');
    const allowed = headers.get('access-control-allow-headers')?.toLowerCase().split(',');
    expect(allowed).toEqual(expect.arrayContaining(['authorization', 'content-type', 'if-match', 'idempotency-key']));
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  });

  test('and from no other', async () => {
    for (const origin of ['https://evil.example', 'null', `${ORIGIN}.evil.example`, ORIGIN.replace('https', 'http')])
      expect((await preflight(app, path, origin)).headers.get('access-control-allow-origin')).toBeNull();
    expect((await preflight(closed, path, ORIGIN)).headers.get('access-control-allow-origin')).toBeNull();
  });
});

test('pages may read what answers say in their headers, refusals too', async () => {
  const { headers } = await fetch(`${app.url}/api/v1/auth/me`, { headers: { origin: ORIGIN } });
  const exposed = headers.get('access-control-expose-headers')?.split(',');
  const named = ['Link', 'ETag', 'Location', 'Retry-After', 'X-Request-Id', 'RateLimit', 'RateLimit-Policy'];
  expect(exposed).toEqual(expect.arrayContaining(named));
  expect(headers.get('vary')).toMatch(/Origin/);
});

test('where the public URL is https, browsers are told to stay with it', async () => {
  expect((await fetch(`${app.url}/healthz`)).headers.get('strict-transport-security')).toMatch(/^max-age=31536000/);
  expect((await fetch(`${closed.url}/healthz`)).headers.get('strict-transport-security')).toBeNull();
});

test('a form on a strange page cannot make a request of GraphQL', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
    for (const path of ['/graphql', '/graphql/stream']) {
      const response = await fetch(app.url + path, {
        method: 'POST',
        headers: { 'content-type': type },
        body: '{"query":"{me{id}}"}',
      });
      expect(response.status).toBe(415);
    }
  expect((await fetch(`${app.url}/graphql?query={me{id}}`)).status).toBe(400);
});
