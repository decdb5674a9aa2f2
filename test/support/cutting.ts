import type { SseClient } from './sse-client.ts';

/** The same sequence for the same seed, so that a failure can be seen again. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface Cutting {
  /** Opens a stream behind a cursor, by whichever door and instance is the turn's. */
  open(after: string, turn: number): Promise<SseClient>;
  idOf(data: string): string;
  start: string;
  total: number;
  cuts: number;
  random: () => number;
}

/** Reads `total` messages through a line that is cut `cuts` times, anywhere. Answers the ids in the order they came. */
export async function readThroughCuts({ open, idOf, start, total, cuts, random }: Cutting): Promise<string[]> {
  const ids: string[] = [];
  for (let turn = 0; ids.length < total; turn += 1) {
    const reader = await open(ids.at(-1) ?? start, turn);
    if (reader.status !== 200) throw new Error(`turn ${turn} was answered ${reader.status}`);
    const isLast = turn >= cuts;
    const rest = (total - ids.length) / Math.max(1, cuts - turn);
    const wanted = isLast ? total - ids.length : Math.floor(random() * 2 * rest);
    for (const { data } of await reader.take(Math.min(wanted, total - ids.length))) ids.push(idOf(data));
    await reader.cut();
    // What had arrived when the line was cut has been read: a client goes on behind it.
    ids.push(...reader.drain().map(({ data }) => idOf(data)));
  }
  return ids;
}
