import type { Prefix, WorkOffset } from '../commands/work.commands.ts';
import { type FailureReason, type Host, type OutputStream, RemoteFailure } from './host.ts';
import { isOutOfReach, persist } from './persist.ts';
import { RemoteWork, type WorkEnd, type WorkOrder, type WorkReason } from './remote-work.ts';
import { SshFailure } from './ssh-failure.ts';

/** Opens a connection, or shares one, for as long as the work with it lasts: `work => pool.use(key, target, work)`. */
export type UseHost = <Result>(work: (host: Host) => Promise<Result>) => Promise<Result>;

export interface ReattachOptions {
  /** Where to go on, for whoever takes up the work of another. It is moved along as pieces are taken. */
  offset?: WorkOffset;
  onOutput?: (chunk: Buffer, from: OutputStream) => void | Promise<void>;
  /** Cancels the work on the server. */
  signal?: AbortSignal;
  /** Ends the following and fails with its reason; the work goes on, for whoever takes it up. */
  leave?: AbortSignal;
  /** How long the server may be out of reach at a stretch. A minute unless told otherwise. */
  patienceMs?: number;
  prefix?: Prefix;
}

const PATIENCE_MS = 60_000;
const TAIL_BYTES = 8 * 1024;

const FAILURES: Readonly<Record<WorkReason, FailureReason>> = {
  EXIT: 'EXIT',
  TIMEOUT: 'TIMEOUT',
  TOO_MUCH_OUTPUT: 'TOO_MUCH_OUTPUT',
  CANCELLED: 'ABORTED',
  ABANDONED: 'LOST',
  VANISHED: 'LOST',
};

/**
 * Does a piece of work from its start to its end, over as many connections as it takes: no byte of its output is lost or repeated,
 * and it is done once. What does not end with 0 fails with a `RemoteFailure`, with the tail of the output. Asked for again with the
 * same id, also by another process, it goes on where the offset says, and gives the same end; so its folder stays until the
 * caller, who knows when the outcome is written down, removes it (`RemoteWork.remove`), or the sweep does.
 */
export async function runReattaching(
  useHost: UseHost,
  order: WorkOrder,
  options: ReattachOptions = {},
): Promise<WorkEnd> {
  return new Reattaching(useHost, order, options).finish();
}

class Reattaching {
  readonly #offset: WorkOffset;
  /** The server has ended it by then, even if it was never reached again. */
  readonly #deadline: number;
  #tail = '';

  constructor(
    private readonly useHost: UseHost,
    private readonly order: WorkOrder,
    private readonly options: ReattachOptions,
  ) {
    this.#offset = options.offset ?? { stdout: 0, stderr: 0 };
    this.#deadline = performance.now() + order.timeoutMs + (options.patienceMs ?? PATIENCE_MS);
  }

  async finish(): Promise<WorkEnd> {
    const { id, leaseMs } = this.order;
    const { signal, leave } = this.options;
    const stop = AbortSignal.any([signal, leave].filter(each => each !== undefined));
    try {
      await this.#persist(work => work.start(this.order, stop), stop);
      const end = await this.#persist(
        work =>
          work.follow(id, {
            offset: this.#offset,
            onOutput: (chunk, from) => this.#take(chunk, from),
            signal: stop,
            ...(leaseMs === undefined ? {} : { leaseMs }),
          }),
        stop,
      );
      if (end.exitCode !== 0 || end.reason !== 'EXIT') throw this.#failure(FAILURES[end.reason], end.exitCode);
      return end;
    } catch (error) {
      if (leave?.aborted && !signal?.aborted) throw leave.reason;
      if (!signal?.aborted && !isOfListener(error)) throw error;
      // Nobody wants it any more, or nobody can hear it.
      await this.#persist(work => work.cancel(id));
      throw signal?.aborted ? this.#failure('ABORTED', null) : error;
    }
  }

  #take(chunk: Buffer, from: OutputStream): void | Promise<void> {
    this.#tail = (this.#tail + chunk.toString()).slice(-TAIL_BYTES);
    return this.options.onOutput?.(chunk, from);
  }

  async #persist<Result>(ask: (work: RemoteWork) => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const { patienceMs = PATIENCE_MS, prefix } = this.options;
    const left = Math.max(0, this.#deadline - performance.now());
    try {
      return await persist(
        reached =>
          this.useHost(host => {
            reached();
            return ask(new RemoteWork(host, prefix));
          }),
        { patienceMs: Math.min(patienceMs, left), signal },
      );
    } catch (error) {
      throw isOutOfReach(error) && !signal?.aborted ? this.#failure('LOST', null, error) : error;
    }
  }

  #failure(reason: FailureReason, exitCode: number | null, cause?: unknown): RemoteFailure {
    return new RemoteFailure(this.order.command.program, exitCode, this.#tail, reason, cause);
  }
}

const isOfListener = (error: unknown): boolean => !(error instanceof RemoteFailure || error instanceof SshFailure);
