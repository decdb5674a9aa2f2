import { setTimeout as pause } from 'node:timers/promises';

const LOOK_EVERY_MS = 10;

/** Looks until what nobody announces is so, such as a lock that is waited for or a process that is gone. */
export async function eventually<Value>(
  look: () => Promise<Value | undefined | false> | Value | undefined | false,
  withinMs = 30_000,
): Promise<Value> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    if (performance.now() > deadline) throw new Error(`it was not so within ${withinMs} ms`);
    await pause(LOOK_EVERY_MS);
  }
}
