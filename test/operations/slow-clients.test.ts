import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestApp } from '../support/create-app.ts';
import { SseClient } from '../support/sse-client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await TestApp.start();
});
afterAll(() => app.stop());

test('a request has 20 s for its head and 60 s in all, and an idle connection 10 s', () => {
  const { headersTimeout, requestTimeout, keepAliveTimeout } = app.app.server;
  expect({ headersTimeout, requestTimeout, keepAliveTimeout }).toEqual({
    headersTimeout: 20_000,
    requestTimeout: 60_000,
    keepAliveTimeout: 10_000,
  });
});

/** Says this much and then nothing more; all that comes back until the other side hangs up. */
function trickle(text: string): Promise<string> {
  const { hostname, port } = new URL(app.url);
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(Number(port), hostname, () => socket.write(text));
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
    socket.once('close', () => resolve(answer)).once('error', reject);
  });
}

test('whoever sends half a request is told so and cut off; others, and those who listen, are not', async () => {
  const { token } = await app.register();
  const reader = await SseClient.open(`${app.url}/api/v1/events`, { token });
  Object.assign(app.app.server, { headersTimeout: 500, requestTimeout: 1000 });
  const halves = [
    'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Half: ',
    'POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"email": ',
  ];
  for (const answer of await Promise.all(halves.map(trickle))) {
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(answer).toContain('application/problem+json');
  }
  expect((await app.rest('GET', '/auth/me', { token })).status).toBe(200);
  expect(app.app.openStreams()).toBe(1);
  await reader.cut();
});
