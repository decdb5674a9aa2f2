import { setTimeout as pause } from 'node:timers/promises';
import { RemoteFailure } from './host.ts';
import { SshFailure } from './ssh-failure.ts';

export interface Patience {
  /** How long the machine may be out of reach at a stretch. */
  patienceMs: number;
  /** Ends the waiting; the failure of the last try is thrown. */
  signal?: AbortSignal | undefined;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;

/** Again and again while the machine is out of reach, until our patience is over. Being reached starts it anew. */
export async function persist<Result>(
  attempt: (reached: () => void) => Promise<Result>,
  { patienceMs, signal }: Patience,
): Promise<Result> {
  let since: number | undefined;
  let tries = 0;
  let left = patienceMs;
  const reached = () => {
    since = undefined;
    tries = 0;
  };
  for (;;) {
    try {
      return await attempt(reached);
    } catch (error) {
      if (!isOutOfReach(error) || signal?.aborted) throw error;
      since ??= performance.now();
      left = since + patienceMs - performance.now();
      if (left <= 0) throw error;
    }
    // The last try comes when our patience ends, not after it.
    const wait = Math.min(left, LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries, 10));
    tries += 1;
    await pause(wait, undefined, signal ? { signal } : {});
  }
}

/** Neither the machine's key nor the credential gets better by trying again. */
const PASSING = ['REFUSED', 'TIMEOUT', 'UNREACHABLE', 'NO_ADDRESS'];

/** What a conversation over a connection fails with when that is cut under it. */
const CUT = ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED'];

export const isOutOfReach = (error: unknown): boolean =>
  (error instanceof RemoteFailure && error.reason === 'LOST') ||
  (error instanceof SshFailure && PASSING.includes(error.kind)) ||
  CUT.includes((error as NodeJS.ErrnoException | undefined)?.code ?? '');
