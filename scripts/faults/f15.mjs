/**
 * F15 for the event log: a stream of a hundred thousand events, cut a thousand times anywhere, resumed by Last-Event-ID, by
 * `after=` and by the argument of the subscription in turn. Prints what was seen; exits with 1 when a promise was broken.
 *
 *   npm run faults:f15 [-- CUTS EVENTS]
 */
import { randomFrom, readThroughCuts } from '../../test/support/cutting.ts';
import { Installation } from '../../test/support/installation.ts';
import { SseClient } from '../../test/support/sse-client.ts';

const cuts = Number(process.argv[2] ?? 1000);
const events = Number(process.argv[3] ?? 100_000);
const seed = Date.now() % 1_000_000;
const SUBSCRIPTION = 'subscription ($after: ID) { events(after: $after) { id } }';
const LIVE = 0.1;

const { read, told, seconds } = await Installation.during({ isBuilt: true }, cutOften);
const kept = new Set(read);
const missing = told.filter(id => !kept.has(id)).length;
const repeated = read.length - kept.size;
const misplaced = told.filter((id, index) => read[index] !== id).length;
console.table([{ seed, cuts, events: told.length, seconds, missing, repeated, misplaced }]);
const isKept = missing === 0 && repeated === 0 && misplaced === 0 && told.length === events;
if (!isKept) console.error('FAILED: see the figures');
process.exitCode = isKept ? 0 : 1;

/** Most of them lie in the log already; the last tenth is told while it is read. */
async function cutOften(installation) {
  await installation.tell(1);
  const [start] = await installation.eventIds();
  const live = Math.floor(events * LIVE);
  for (let stored = 0; stored < events - live; stored += 10_000)
    await installation.tell(Math.min(10_000, events - live - stored));
  const startedAt = performance.now();
  const reading = readThroughCuts({
    open: (after, turn) => open(installation, after, turn % 3),
    idOf,
    start,
    total: events,
    cuts,
    random: randomFrom(seed),
  });
  for (let stored = 0; stored < live; stored += 100) await installation.tell(Math.min(100, live - stored));
  const read = await reading;
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  return { read, told: (await installation.eventIds()).slice(1), seconds };
}

function open({ service, token }, after, way) {
  const url = `${service.url}/api/v1/events`;
  if (way === 0) return SseClient.open(url, { token, headers: { 'last-event-id': after } });
  if (way === 1) return SseClient.open(`${url}?after=${after}`, { token });
  return SseClient.open(`${service.url}/graphql/stream`, {
    token,
    body: { query: SUBSCRIPTION, variables: { after } },
  });
}

function idOf(data) {
  const message = JSON.parse(data);
  return message.data?.events?.id ?? message.id;
}
