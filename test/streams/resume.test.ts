import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Person, TestApp } from '../support/create-app.ts';
import { randomFrom, readThroughCuts } from '../support/cutting.ts';
import { tellRuns } from '../support/runs.ts';
import { SseClient } from '../support/sse-client.ts';

const EVENTS = 600;
const CUTS = 40;

let app: TestApp;
let twin: TestApp;
let ann: Person;
beforeAll(async () => {
  app = await TestApp.start();
  twin = await app.twin();
  ann = await app.register();
});
afterAll(async () => {
  await twin.stop();
  await app.stop();
});

interface Told {
  id: string;
}

const SUBSCRIPTION = 'subscription ($after: ID) { events(after: $after) { id } }';

const ways: Record<string, (url: string, after: string) => Promise<SseClient>> = {
  'Last-Event-ID': (url, after) =>
    SseClient.open(`${url}/api/v1/events`, { token: ann.token, headers: { 'last-event-id': after } }),
  'after=': (url, after) => SseClient.open(`${url}/api/v1/events?after=${after}`, { token: ann.token }),
  'the argument of the subscription': (url, after) =>
    SseClient.open(`${url}/graphql/stream`, {
      token: ann.token,
      body: { query: SUBSCRIPTION, variables: { after } },
    }),
};

const idOf = (data: string): string => {
  const message = JSON.parse(data) as Told & { data?: { events?: Told } };
  return message.data?.events?.id ?? message.id;
};

test.each(Object.keys(ways))(
  `a line cut anywhere ${CUTS} times, between two instances, loses nothing and repeats nothing: by %s`,
  async way => {
    const seed = Date.now() % 1_000_000;
    const random = randomFrom(seed);
    await tellRuns(app, ann.workspaceId, 1);
    const [first] = await app.sql<{ id: string; seq: string }>('select id, seq from event order by seq desc limit 1');
    const open = ways[way] as (url: string, after: string) => Promise<SseClient>;
    const reading = readThroughCuts({
      open: after => open(random() < 0.5 ? app.url : twin.url, after),
      idOf,
      start: first?.id ?? '',
      total: EVENTS,
      cuts: CUTS,
      random,
    });
    for (let told = 0; told < EVENTS; told += 20) await tellRuns(random() < 0.5 ? app : twin, ann.workspaceId, 20);
    const rows = await app.sql<{ id: string }>('select id from event where seq > $1 order by seq', [first?.seq]);
    expect({ seed, ids: await reading }).toEqual({ seed, ids: rows.map(({ id }) => id) });
  },
  60_000,
);
