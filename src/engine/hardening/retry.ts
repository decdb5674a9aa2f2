import { setTimeout as pause } from 'node:timers/promises';

const PAUSE_MS = 500;

/** Tries until it works or the time is over; then the last failure counts. */
export async function untilItWorks<Result>(
  work: () => Promise<Result>,
  withinMs: number,
  signal?: AbortSignal,
  afterFailure: () => void = () => undefined,
): Promise<Result> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      afterFailure();
      if (performance.now() > deadline) throw error;
      await pause(PAUSE_MS, undefined, signal ? { signal } : {});
    }
  }
}
