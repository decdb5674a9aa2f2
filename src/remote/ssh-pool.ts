import { SshHost, type SshTarget } from './ssh-host.ts';

const IDLE_MS = 60_000;

interface Held {
  host: Promise<SshHost>;
  users: number;
  timer: NodeJS.Timeout | undefined;
}

/** One connection per machine, opened when it is needed and kept for a while. */
export class SshPool {
  readonly #held = new Map<string, Held>();

  /** `key` names the machine and its credential: another credential is another connection. */
  async use<Result>(
    key: string,
    target: () => Promise<SshTarget>,
    work: (host: SshHost) => Promise<Result>,
  ): Promise<Result> {
    const held = this.#held.get(key) ?? this.#open(key, target);
    clearTimeout(held.timer);
    held.users += 1;
    try {
      return await work(await held.host);
    } finally {
      held.users -= 1;
      // Another connection may have taken its place meanwhile, with users of its own.
      if (held.users === 0) held.timer = setTimeout(() => this.#close(key, held), IDLE_MS).unref();
    }
  }

  drop(key: string): void {
    const held = this.#held.get(key);
    if (held !== undefined) this.#close(key, held);
  }

  /** The machines and credentials that connections are open for. */
  get keys(): string[] {
    return [...this.#held.keys()];
  }

  #close(key: string, held: Held): void {
    if (this.#held.get(key) === held) this.#held.delete(key);
    void held.host.then(
      host => host.close(),
      () => undefined,
    );
  }

  closeAll(): void {
    for (const key of [...this.#held.keys()]) this.drop(key);
  }

  #open(key: string, target: () => Promise<SshTarget>): Held {
    const host = target().then(found => SshHost.connect(found));
    const held: Held = { host, users: 0, timer: undefined };
    this.#held.set(key, held);
    const forget = () => {
      if (this.#held.get(key) === held) this.#held.delete(key);
    };
    host.then(open => open.onClose(forget), forget);
    return held;
  }
}
