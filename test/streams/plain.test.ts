import { get } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
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

interface Told {
  id: string;
  resourceId: string;
}

const listen = (query = '', headers: Record<string, string> = {}) =>
  SseClient.open(`${app.url}/api/v1/events${query}`, { token: ann.token, headers });

describe('GET /events', () => {
  test('is what an EventSource expects: plain messages with an id, and when to come back', async () => {
    const reader = await listen();
    expect(reader.status).toBe(200);
    expect(reader.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    await tellRuns(app, ann.workspaceId, 2);
    for (const { id, event, data } of await reader.take(2)) {
      expect(event).toBeUndefined();
      expect(id).toBe((JSON.parse(data) as Told).id);
    }
    expect(reader.retryMs).toBe(2000);
    await reader.cut();
  });

  test('starts now: what was before is not told', async () => {
    await tellRuns(app, ann.workspaceId, 3);
    const reader = await listen();
    const [news] = await tellRuns(app, ann.workspaceId, 1);
    expect(await reader.read<Told>(1)).toMatchObject([{ resourceId: news }]);
    await reader.cut();
  });

  test('Last-Event-ID is newer than the `after` of the address, as a browser that reconnects sends both', async () => {
    const first = await listen();
    await tellRuns(app, ann.workspaceId, 3);
    const [{ id: one = '' } = {}, { id: two = '' } = {}, { id: three = '' } = {}] = await first.take(3);
    await first.cut();
    const byAddress = await listen(`?after=${one}`);
    expect((await byAddress.take(2)).map(({ id }) => id)).toEqual([two, three]);
    const byBoth = await listen(`?after=${one}`, { 'last-event-id': two });
    expect((await byBoth.take(1)).map(({ id }) => id)).toEqual([three]);
    await Promise.all([byAddress.cut(), byBoth.cut()]);
  });

  test.each([
    ['no token', {}, 401, 'UNAUTHENTICATED'],
    ['a bad token', { authorization: 'Bearer nonsense' }, 401, 'UNAUTHENTICATED'],
  ])('refuses %s with a status before anything is streamed', async (_, headers, status, code) => {
    const reader = await SseClient.open(`${app.url}/api/v1/events`, { headers });
    expect(reader.headers['content-type']).toMatch('application/problem+json');
    expect(await reader.problem()).toMatchObject({ status, code });
    expect(reader.status).toBe(status);
  });

  test('other methods are not allowed, and asking for the head alone ends', async () => {
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const refused = await SseClient.open(`${app.url}/api/v1/events`, { token: ann.token, method });
      expect([refused.status, refused.headers.allow]).toEqual([405, 'GET']);
    }
    const head = await SseClient.open(`${app.url}/api/v1/events`, { token: ann.token, method: 'HEAD' });
    await head.ended;
    expect(head.headers['content-type']).toMatch('text/event-stream');
  });

  test('whoever leaves leaves nothing behind', async () => {
    const readers = await Promise.all(Array.from({ length: 20 }, () => listen()));
    expect(app.app.openStreams()).toBe(20);
    await Promise.all(readers.map(reader => reader.cut()));
    await expectNobody();
  });

  test('whoever leaves before the stream is open leaves nothing behind either', async () => {
    await app.sql('begin');
    await app.sql('lock table event in access exclusive mode');
    const headers = { authorization: `Bearer ${ann.token}` };
    const attempt = get(`${app.url}/api/v1/events`, { headers, agent: false }).on('error', () => undefined);
    await eventually(async () => (await app.sql(WAITING_FOR_EVENTS)).length > 0);
    const before = await connections();
    attempt.destroy();
    await eventually(async () => (await connections()) < before);
    await app.sql('commit');
    await eventually(async () => (await app.sql(WAITING_FOR_EVENTS)).length === 0);
    await tellRuns(app, ann.workspaceId, 1);
    await expectNobody();
  });
});

const connections = () => new Promise<number>(resolve => app.app.server.getConnections((_, count) => resolve(count)));

const WAITING_FOR_EVENTS = `select 1 from pg_locks where not granted and relation = 'event'::regclass`;

async function expectNobody(): Promise<void> {
  await eventually(() => app.app.openStreams() === 0);
  const metrics = await (await fetch(`${app.url}/metrics`)).text();
  for (const name of ['open_streams', 'stream_readers', 'event_watchers']) {
    expect(metrics).toMatch(new RegExp(`^slipway_${name} 0$`, 'm'));
  }
}
