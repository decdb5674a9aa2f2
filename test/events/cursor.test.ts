import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { EventFeed } from '../../src/events/event-feed.ts';
import { HousekeepingService } from '../../src/services/housekeeping.service.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { tellRuns } from '../support/runs.ts';
import { SseClient } from '../support/sse-client.ts';

const DAY = 24 * 60 * 60 * 1000;

let app: TestApp;
let ann: Person;
beforeAll(async () => {
  app = await TestApp.start({ KEEP_EVENTS: '2d' });
  ann = await app.register();
});
afterAll(() => app.stop());

interface Told {
  id: string;
  resourceId: string;
}

interface Refusal {
  code: string;
  status: number;
}

const resume = (after: string) => SseClient.open(`${app.url}/api/v1/events?after=${after}`, { token: ann.token });

const prune = (keepEventsMs = 2 * DAY) =>
  new HousekeepingService(app.app.database.orm.em, {
    keepEventsMs,
    keepLogsMs: 90 * DAY,
    keepAuditMs: 365 * DAY,
  }).prune(new AbortController().signal);

/** As if these had been told at that moment: their ids carry the time as well. */
async function date(at: number, seqs: number[]): Promise<string[]> {
  const ids: string[] = [];
  for (const seq of seqs) {
    const time = at.toString(16).padStart(12, '0');
    const id = `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
    await app.sql('update event set id = $2, at = $3 where seq = $1', [seq, id, new Date(at)]);
    ids.push(id);
  }
  return ids;
}

const age = (days: number, seqs: number[]) => date(Date.now() - days * DAY, seqs);

const seqs = async () => (await app.sql<{ seq: string }>('select seq from event order by seq')).map(({ seq }) => +seq);

test('an id that never was an event is a bad cursor, by either way of giving it', async () => {
  await tellRuns(app, ann.workspaceId, 1);
  const byQuery = await resume(randomUUIDv7());
  expect(await byQuery.problem()).toMatchObject({ status: 400, code: 'BAD_INPUT', fields: [{ field: 'after' }] });
  const byHeader = await SseClient.open(`${app.url}/api/v1/events`, {
    token: ann.token,
    headers: { 'last-event-id': randomUUIDv7() },
  });
  expect(byHeader.status).toBe(400);
});

test('so it is while there are no events at all', async () => {
  const empty = await TestApp.start();
  const eve = await empty.register();
  const reader = await SseClient.open(`${empty.url}/api/v1/events?after=${randomUUIDv7()}`, { token: eve.token });
  expect(reader.status).toBe(400);
  await empty.stop();
});

test("a cursor of another workspace's event is no cursor here", async () => {
  const bob = await app.register();
  await tellRuns(app, bob.workspaceId, 1);
  const [row] = await app.sql<{ id: string }>('select id from event where workspace_id = $1', [bob.workspaceId]);
  expect((await resume(row?.id ?? '')).status).toBe(400);
});

test('events are pruned after KEEP_EVENTS, and whoever comes back later is told before the stream opens', async () => {
  await app.sql('delete from event');
  await tellRuns(app, ann.workspaceId, 5);
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0] = await seqs();
  const gone = await age(3, [first, second]);
  const [last = ''] = await age(3, [third]);
  const [kept = ''] = await age(1, [fourth]);
  await prune();
  expect(await seqs()).toEqual([third, fourth, fifth]);
  for (const cursor of gone) {
    const reader = await resume(cursor);
    expect(reader.status).toBe(410);
    expect(reader.headers['content-type']).toMatch('application/problem+json');
    expect(await reader.problem<Refusal>()).toMatchObject({ code: 'CURSOR_TOO_OLD', status: 410 });
  }
  for (const [cursor, count] of [
    [last, 2],
    [kept, 1],
  ] as const) {
    const reader = await resume(cursor);
    expect(await reader.read<Told>(count)).toHaveLength(count);
    await reader.cut();
  }
});

test('the last event told is a good cursor however long ago that was', async () => {
  await app.sql('delete from event');
  await tellRuns(app, ann.workspaceId, 2);
  const [gone = '', last = ''] = await age(3, await seqs());
  await prune();
  expect((await resume(gone)).status).toBe(410);
  const reader = await resume(last);
  const [news] = await tellRuns(app, ann.workspaceId, 1);
  expect(await reader.read<Told>(1)).toMatchObject([{ resourceId: news }]);
  await reader.cut();
});

test('pruning takes a whole beginning: behind a cursor that is still good, nothing is missing', async () => {
  await app.sql('delete from event');
  await tellRuns(app, ann.workspaceId, 4);
  const [first = 0, second = 0, third = 0] = await seqs();
  const limit = Date.now() - 2 * DAY;
  // An instance whose clock goes behind: its event looks older than the one before.
  const [early = ''] = await date(limit + 20_000, [first]);
  const [slow = ''] = await date(limit - 10_000, [second]);
  const [cursor = ''] = await date(limit + 20_000, [third]);
  await prune();
  expect([400, 410]).toContain((await resume(early)).status);
  for (const [from, count] of [
    [slow, 2],
    [cursor, 1],
  ] as const) {
    const reader = await resume(from);
    expect(await reader.read<Told>(count)).toHaveLength(count);
    await reader.cut();
  }
});

test('a reader whose rows are pruned while it catches up is closed, not served with a hole', async () => {
  await app.sql('delete from event');
  await tellRuns(app, ann.workspaceId, 3);
  const [first = 0, second = 0] = await seqs();
  const filter = { workspaceId: ann.workspaceId };
  const feed = new EventFeed(app.app.database.rows, app.app.database.listener, () => undefined);
  expect(await feed.read(filter, first, 1)).toMatchObject([{ seq: second }]);
  await age(3, await seqs());
  await prune();
  await expect(feed.read(filter, first, 1)).rejects.toMatchObject({ code: 'CURSOR_TOO_OLD' });
});
