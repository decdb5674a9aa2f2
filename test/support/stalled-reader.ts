import { performance } from 'node:perf_hooks';
import { eventually } from './eventually.ts';
import type { Installation } from './installation.ts';
import { SseClient } from './sse-client.ts';

const EVENT_BYTES = 32 * 1024;
/** Less than the backlog a reader may have: one who reads is never closed, however slow the machine. */
const BATCH = 20;

export interface StallFigures {
  events: number;
  producedMegabytes: number;
  rssGrownMegabytes: number;
  closedAfterMs: number;
  missedByOthers: number;
  missedOnResume: number;
}

/** F14: somebody opens a stream and does not read it, while so much is produced and somebody else reads all of it. */
export async function stallReader(installation: Installation, megabytes: number): Promise<StallFigures> {
  const { service, token } = installation;
  const url = `${service.url}/api/v1/events`;
  await warmUp(installation, url, Math.min(megabytes, 150));
  const known = new Set(await installation.eventIds());
  const stalled = await SseClient.open(url, { token });
  stalled.pause();
  const other = await SseClient.open(url, { token });
  const events = Math.ceil((megabytes * 1024 * 1024) / EVENT_BYTES / BATCH) * BATCH;
  const rss = watchRss(installation);
  const startedAt = performance.now();
  const closed = eventually(async () => (await service.metric('slipway_open_streams')) < 2, 120_000).then(
    () => performance.now() - startedAt,
  );
  const heardIds: string[] = [];
  while (heardIds.length < events) {
    await installation.tell(BATCH, EVENT_BYTES);
    heardIds.push(...(await countIds(other, BATCH)));
  }
  const closedAfterMs = await closed;
  const grown = await rss.stop();
  const told = (await installation.eventIds()).filter(id => !known.has(id));
  await other.cut();
  stalled.resume();
  await stalled.ended;
  const read = new Set(stalled.drain().map(({ id }) => id));
  const again = await SseClient.open(url, { token, headers: { 'last-event-id': stalled.lastId ?? told[0] ?? '' } });
  const rest = await countIds(again, events - (stalled.lastId === undefined ? 1 : read.size));
  await again.cut();
  return {
    events,
    producedMegabytes: Math.round((events * EVENT_BYTES) / 1024 / 1024),
    rssGrownMegabytes: Math.round(grown / 1024 / 1024),
    closedAfterMs: Math.round(closedAfterMs),
    missedByOthers: told.filter((id, index) => heardIds[index] !== id).length,
    missedOnResume: told.slice(1).filter(id => !read.has(id) && !rest.includes(id)).length,
  };
}

/**
 * The heap of Node grows with what passes through it, whoever reads, until its collector finds its pace. That is no growth of
 * a stalled reader's: as much is sent to one who reads first.
 */
async function warmUp(installation: Installation, url: string, megabytes: number): Promise<void> {
  const reader = await SseClient.open(url, { token: installation.token });
  for (let sent = 0; sent < megabytes * 1024 * 1024; sent += BATCH * EVENT_BYTES) {
    await installation.tell(BATCH, EVENT_BYTES);
    await reader.take(BATCH);
  }
  await reader.cut();
}

async function countIds(reader: SseClient, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const [message] = await reader.take(1);
    ids.push(message?.id ?? '');
  }
  return ids;
}

function watchRss({ service }: Installation): { stop(): Promise<number> } {
  const name = 'process_resident_memory_bytes';
  let isWatching = true;
  const watching = (async () => {
    const before = await service.metric(name);
    let most = before;
    while (isWatching) {
      most = Math.max(most, await service.metric(name));
      await new Promise(resolve => setTimeout(resolve, 200));
    }
    return most - before;
  })();
  return {
    stop: () => {
      isWatching = false;
      return watching;
    },
  };
}
