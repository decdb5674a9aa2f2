import { setTimeout as pause } from 'node:timers/promises';

const PAUSE_MS = 500;

interface Patience {
  withinMs: number;
  signal?: AbortSignal;
  /** After such a failure there is no point in another try. */
  isFinal?: (error: unknown) => boolean;
  afterFailure?: () => void;
}

/** Tries until it works or the time is over; then the last failure counts. */
export async function untilItWorks<Result>(
  work: () => Promise<Result>,
  { withinMs, signal, isFinal, afterFailure }: Patience,
): Promise<Result> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      afterFailure?.();
      if (isFinal?.(error) || performance.now() > deadline) throw error;
      await pause(PAUSE_MS, undefined, signal ? { signal } : {});
    }
  }
}
