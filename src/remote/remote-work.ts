import type { Command } from '../commands/command.ts';
import {
  cancelWork,
  followWork,
  type Prefix,
  privateFiles,
  removeWork,
  renewWork,
  startWork,
  statusOfWork,
  sweepWork,
  WORK_EXITS,
  type WorkOffset,
} from '../commands/work.commands.ts';
import { type Host, type Input, type OutputStream, RemoteFailure } from './host.ts';

/** Input that is not held in memory. It is opened again if the connection is lost while it is sent. */
export interface StreamedInput {
  bytes: number;
  open(): AsyncIterable<Uint8Array>;
}

/** What is asked for. The same id is the same work: asked for twice, it is done once. */
export interface WorkOrder {
  /** A UUID. */
  id: string;
  command: Command;
  /** Secrets go here or into files, never into words. */
  stdin?: string | Uint8Array | StreamedInput;
  /** Small files for it alone. They lie in the folder `$SLIPWAY_FILES` while it runs, and are gone when it has ended, however it did. */
  files?: Readonly<Record<string, string>>;
  /** The server ends it by then, whatever happens here. */
  timeoutMs: number;
  /** The server ends it when nobody has followed it for so long; null to keep it running alone. 40 s unless told otherwise. */
  leaseMs?: number | null;
  /** It is ended when it has said more than this, looked at every second. 64 MiB unless told otherwise. */
  maxOutputBytes?: number;
  /** One stream in the order it was written, all as `stdout`, instead of two. */
  isMerged?: boolean;
}

/** Why it ended: by itself, by its time, because nobody asked, because it said too much, because we cancelled it, or nobody knows. */
export type WorkReason = 'EXIT' | 'TIMEOUT' | 'ABANDONED' | 'TOO_MUCH_OUTPUT' | 'CANCELLED' | 'VANISHED';

export interface WorkEnd {
  /** Null if nobody knows: the server was restarted, or somebody killed what kept the work. */
  exitCode: number | null;
  reason: WorkReason;
}

export interface FollowOptions {
  /** Where to go on. It is moved along as pieces are taken, so that the next one who follows loses and repeats nothing. */
  offset: WorkOffset;
  /** As in `StreamOptions`: while its promise is open nothing more is read. */
  onOutput?: (chunk: Buffer, from: OutputStream) => void | Promise<void>;
  /** Ends the following, not the work. */
  signal?: AbortSignal;
  leaseMs?: number | null;
}

export const LEASE_MS = 40_000;
const OUTPUT_BYTES = 64 * 1024 * 1024;
/** A follower that was lost sight of stays on the server no longer than this. */
const SLICE_SECONDS = 20;
const SLICE_LIMIT_MS = 30_000;
const CANCEL_LIMIT_MS = 45_000;
const START_LIMIT_MS = 60_000;
/** A line that is slower than this is taken for none: 32 kB a second. */
const SLOWEST_BYTES_PER_MS = 32;
const LONGEST_START_MS = 24 * 3600_000;

/**
 * Work on a server that outlives the connection: started once, followed by anybody from any byte, cancelled for good. It fails
 * with `LOST` when the connection does, and is then asked again over the next one; see `runReattaching`.
 */
export class RemoteWork {
  /** `prefix` says who to be there, such as `['sudo', '-n']`; the same for everything that is asked about one piece of work. */
  constructor(
    private readonly host: Host,
    private readonly prefix: Prefix = [],
  ) {}

  async start(order: WorkOrder, signal?: AbortSignal): Promise<'STARTED' | 'KNOWN'> {
    const { id, command, files, stdin = '' } = order;
    // What takes long to send is not sent for nothing.
    if (isStreamed(stdin) && (await this.status(id)) !== null) return 'KNOWN';
    const inputBytes = isStreamed(stdin) ? stdin.bytes : Buffer.byteLength(stdin);
    const spec = {
      ...{ id, command, inputBytes, hasFiles: files !== undefined },
      limitSeconds: toSeconds(order.timeoutMs),
      leaseSeconds: order.leaseMs === null ? 0 : toSeconds(order.leaseMs ?? LEASE_MS),
      outputBytes: order.maxOutputBytes ?? OUTPUT_BYTES,
      isMerged: order.isMerged ?? false,
    };
    const timeoutMs = Math.min(START_LIMIT_MS + inputBytes / SLOWEST_BYTES_PER_MS, LONGEST_START_MS);
    const options = { stdin: inputOf(order), timeoutMs, ...(signal ? { signal } : {}) };
    const { stdout } = await this.host.run(startWork(spec, this.prefix), options);
    return stdout.toString().trim() === 'started' ? 'STARTED' : 'KNOWN';
  }

  /** Says what the work says, until it has ended, and how. Following is asking: it keeps the lease. */
  async follow(id: string, { offset, onOutput, signal, leaseMs = LEASE_MS }: FollowOptions): Promise<WorkEnd> {
    const renewing = leaseMs === null ? undefined : setInterval(() => this.#renewQuietly(id), leaseMs / 3);
    const take = (chunk: Buffer, from: OutputStream) => {
      offset[from] += chunk.length;
      return onOutput?.(chunk, from);
    };
    try {
      await this.renew(id);
      while (await this.#hasMore(id, offset, take, signal));
      return await this.#ended(id);
    } finally {
      clearInterval(renewing);
    }
  }

  async renew(id: string): Promise<void> {
    await this.host.run(renewWork(id, this.prefix));
  }

  /** How it ended, `'RUNNING'`, or null if the server knows of no such work. */
  async status(id: string): Promise<WorkEnd | 'RUNNING' | null> {
    try {
      const { stdout } = await this.host.run(statusOfWork(id, this.prefix));
      const [state, code, reason] = stdout.toString().trim().split(' ');
      if (state === 'RUNNING') return 'RUNNING';
      if (state === 'VANISHED') return { exitCode: null, reason: 'VANISHED' };
      return { exitCode: Number(code), reason: reason as WorkReason };
    } catch (error) {
      if (hasExit(error, WORK_EXITS.unknown)) return null;
      throw error;
    }
  }

  /** Asks it to end, ends it after 5 s, and returns when nothing of it runs. What was not started yet never will be. */
  async cancel(id: string): Promise<void> {
    await this.host.run(cancelWork(id, this.prefix), { timeoutMs: CANCEL_LIMIT_MS });
  }

  /** Forgets work that has ended. Fails if it runs. */
  async remove(id: string): Promise<void> {
    await this.host.run(removeWork(id, this.prefix));
  }

  /** Removes what ended and was left lying for so long; says how many. */
  async sweep(olderThanMs: number): Promise<number> {
    const { stdout } = await this.host.run(sweepWork(Math.ceil(olderThanMs / 60_000), this.prefix));
    return Number(stdout.toString());
  }

  async #hasMore(
    id: string,
    offset: WorkOffset,
    onOutput: NonNullable<FollowOptions['onOutput']>,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const command = followWork(id, offset, SLICE_SECONDS, this.prefix);
    try {
      await this.host.stream(command, { onOutput, timeoutMs: SLICE_LIMIT_MS, ...(signal ? { signal } : {}) });
      return false;
    } catch (error) {
      // Its time is over when a listener is slow, too: all that was taken counts.
      if (hasExit(error, WORK_EXITS.more) || (error instanceof RemoteFailure && error.reason === 'TIMEOUT'))
        return true;
      throw error;
    }
  }

  async #ended(id: string): Promise<WorkEnd> {
    const status = await this.status(id);
    if (status === null || status === 'RUNNING') throw new Error(`Work ${id} has ended, but the server says ${status}`);
    return status;
  }

  /** If it cannot be said now, the follower will notice why. */
  #renewQuietly(id: string): void {
    this.renew(id).catch(() => undefined);
  }
}

const isStreamed = (input: NonNullable<WorkOrder['stdin']>): input is StreamedInput =>
  typeof input === 'object' && 'open' in input;

function inputOf({ files, stdin = '' }: WorkOrder): Input {
  const first = files === undefined ? '' : privateFiles(files);
  return isStreamed(stdin) ? joined(first, stdin) : Buffer.concat([Buffer.from(first), Buffer.from(stdin)]);
}

async function* joined(first: string, { open }: StreamedInput): AsyncGenerator<Uint8Array> {
  yield Buffer.from(first);
  yield* open();
}

const toSeconds = (milliseconds: number): number => Math.max(1, Math.ceil(milliseconds / 1000));

const hasExit = (error: unknown, code: number): boolean =>
  error instanceof RemoteFailure && error.reason === 'EXIT' && error.exitCode === code;
