import { SshHost } from './ssh-host.ts';
import type { SshTarget } from './ssh-target.ts';

const IDLE_MS = 60_000;

interface Held {
  key: string;
  host: Promise<SshHost>;
  opening: AbortController;
  isOpen: boolean;
  users: number;
  timer: NodeJS.Timeout | undefined;
}

/** One connection per machine, opened when it is needed, shared by all who use it, and kept for a while. */
export class SshPool {
  readonly #held = new Map<string, Held>();
  /** Commands whose connection was lost, by machine: they are ended when it is reached again. */
  readonly #unfinished = new Map<string, readonly string[]>();
  #isClosed = false;

  constructor(private readonly idleMs = IDLE_MS) {}

  /**
   * `key` names the machine and its credential: another credential is another connection. A failure to connect is everybody's
   * who waited for it, and nobody's after that. The signal ends the waiting; what the work does with it is its own affair.
   */
  async use<Result>(
    key: string,
    target: () => Promise<SshTarget>,
    work: (host: SshHost) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    if (this.#isClosed) throw new Error('The connections to servers are closed');
    signal?.throwIfAborted();
    const held = this.#held.get(key) ?? this.#open(key, target);
    clearTimeout(held.timer);
    held.users += 1;
    try {
      return await work(await orAborted(held.host, signal));
    } finally {
      held.users -= 1;
      if (held.users === 0) this.#rest(held);
    }
  }

  /** Closes the connection, whoever uses it: what runs over it is lost. */
  drop(key: string): void {
    const held = this.#held.get(key);
    if (held !== undefined) this.#close(held);
  }

  /** The machines and credentials that connections are open for. */
  get keys(): string[] {
    return [...this.#held.keys()];
  }

  closeAll(): void {
    this.#isClosed = true;
    for (const held of [...this.#held.values()]) this.#close(held);
  }

  #open(key: string, target: () => Promise<SshTarget>): Held {
    const opening = new AbortController();
    const host = target().then(found => SshHost.connect(found, opening.signal));
    const held: Held = { key, host, opening, isOpen: false, users: 0, timer: undefined };
    this.#held.set(key, held);
    host.then(
      open => this.#watch(held, open),
      () => this.#forget(held),
    );
    return held;
  }

  #watch(held: Held, host: SshHost): void {
    held.isOpen = true;
    const before = this.#unfinished.get(held.key);
    this.#unfinished.delete(held.key);
    // If it is lost again they wait for the next one; whatever else fails, the machine ends them when their time is over.
    if (before) host.endCalls(before).catch(() => undefined);
    host.closed
      .then(() => {
        this.#forget(held);
        if (host.unfinished.length > 0) this.#unfinished.set(held.key, host.unfinished);
      })
      .catch(() => undefined);
  }

  /** Nobody is left: one that is still being opened is given up, an open one is kept for the next. */
  #rest(held: Held): void {
    if (this.#held.get(held.key) !== held) return;
    if (held.isOpen) held.timer = setTimeout(() => this.#close(held), this.idleMs).unref();
    else this.#close(held);
  }

  #close(held: Held): void {
    clearTimeout(held.timer);
    this.#forget(held);
    held.opening.abort(new Error('The connection is not needed any more'));
    held.host.then(
      host => host.close(),
      () => undefined,
    );
  }

  #forget(held: Held): void {
    if (this.#held.get(held.key) === held) this.#held.delete(held.key);
  }
}

function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
