import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { clock } from '../../src/clock.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { eventually } from '../support/eventually.ts';
import { SseClient } from '../support/sse-client.ts';

const DAY = 24 * 60 * 60 * 1000;
const REAL = { now: clock.now };

let app: TestApp;
let ann: Person;
beforeAll(async () => {
  // Intervals alone are the test's to turn; everything else goes by itself.
  jest.useFakeTimers({ doNotFake: everythingBut('setInterval', 'clearInterval') });
  app = await TestApp.start();
  ann = await app.register();
});
afterAll(async () => {
  clock.now = REAL.now;
  await app.stop();
  jest.useRealTimers();
});

type Timer = 'setInterval' | 'clearInterval' | 'setTimeout' | 'clearTimeout' | 'setImmediate' | 'clearImmediate';
type Faked = Timer | 'Date' | 'nextTick' | 'queueMicrotask' | 'performance' | 'hrtime';

function everythingBut(...faked: Timer[]): Faked[] {
  const all: Faked[] = ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate'];
  return [...all, 'Date', 'nextTick', 'queueMicrotask', 'performance', 'hrtime'].filter(
    name => !(faked as string[]).includes(name),
  ) as Faked[];
}

const later = (milliseconds: number) => {
  clock.now = () => new Date(REAL.now().getTime() + milliseconds);
};

const listen = (token = ann.token) => SseClient.open(`${app.url}/api/v1/events`, { token });

test('a stream with nothing to say says so every 15 seconds, at both doors', async () => {
  const body = { query: 'subscription { events { id } }' };
  const readers = await Promise.all([
    listen(),
    SseClient.open(`${app.url}/graphql/stream`, { token: ann.token, body }),
  ]);
  jest.advanceTimersByTime(14_999);
  for (let beat = 1; beat <= 3; beat += 1) {
    jest.advanceTimersByTime(beat === 1 ? 1 : 15_000);
    for (const reader of readers) await eventually(() => reader.comments.length === beat);
  }
  for (const reader of readers) {
    expect(reader.comments).toEqual([':', ':', ':']);
    expect(reader.drain()).toEqual([]);
    await reader.cut();
  }
});

test('a stream outlives its access token and ends with its session', async () => {
  const reader = await listen();
  later(20 * DAY);
  const { body } = await app.rest<{ accessToken: string }>('POST', '/auth/refresh', {
    body: { refreshToken: ann.refreshToken },
  });
  expect(body.accessToken).toBeDefined();
  later(31 * DAY);
  const heard = reader.comments.length;
  jest.advanceTimersByTime(15_000);
  await eventually(() => reader.comments.length > heard);
  later(51 * DAY);
  jest.advanceTimersByTime(15_000);
  await reader.ended;
  later(0);
});

test('a stream ends when its API token expires', async () => {
  const eve = await app.register();
  const expiresAt = new Date(Date.now() + DAY).toISOString();
  const { body } = await app.rest<{ token: string }>('POST', '/auth/tokens', {
    token: eve.token,
    body: { name: 'for a day', scope: 'read', expiresAt },
  });
  const reader = await listen(body.token);
  later(DAY + 1);
  jest.advanceTimersByTime(15_000);
  await reader.ended;
  later(0);
});
