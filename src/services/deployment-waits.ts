import { SECOND } from '../clock.ts';
import type { Rows } from '../database/rows.ts';
import { storyBell } from '../events/deployment-story.ts';
import type { RowBell } from '../events/row-bell.ts';
import type { RequestFacts } from './scope.ts';

interface Watched {
  waiting: Set<() => void>;
  unwatch: () => void;
  isLooking: boolean;
  hasNews: boolean;
}

/** Requests that wait for deployments to end. They sleep until a state changes; however many wait for one, it is looked at once. */
export class DeploymentWaits {
  readonly #watched = new Map<string, Watched>();
  #isClosing = false;

  constructor(
    private readonly rows: Rows,
    private readonly bell: RowBell,
    private readonly warn: (message: string, error: unknown) => void,
  ) {}

  get count(): number {
    return [...this.#watched.values()].reduce((sum, { waiting }) => sum + waiting.size, 0);
  }

  /** Until it is finished, the seconds are over, nobody waits any more, or the service stops. */
  async finished(id: string, seconds: number, { onLeave }: Pick<RequestFacts, 'onLeave'>): Promise<void> {
    if (this.#isClosing || seconds === 0) return;
    const watched = this.#watched.get(id) ?? this.#watch(id);
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, seconds * SECOND);
    const stay = onLeave(resolve);
    watched.waiting.add(resolve);
    // It may have ended before anybody listened.
    this.#ring(id, watched);
    await promise;
    clearTimeout(timer);
    stay();
    watched.waiting.delete(resolve);
    if (watched.waiting.size === 0) this.#unwatch(id, watched);
  }

  /** Whoever waits is answered with how things stand. */
  closeAll(): void {
    this.#isClosing = true;
    for (const watched of this.#watched.values()) wake(watched);
  }

  #watch(id: string): Watched {
    const watched: Watched = { waiting: new Set(), unwatch: () => undefined, isLooking: false, hasNews: false };
    watched.unwatch = this.bell.watch(storyBell(id), () => this.#ring(id, watched));
    this.#watched.set(id, watched);
    return watched;
  }

  #unwatch(id: string, watched: Watched): void {
    if (this.#watched.get(id) !== watched) return;
    watched.unwatch();
    this.#watched.delete(id);
  }

  #ring(id: string, watched: Watched): void {
    watched.hasNews = true;
    if (!watched.isLooking) void this.#look(id, watched);
  }

  async #look(id: string, watched: Watched): Promise<void> {
    watched.isLooking = true;
    while (watched.hasNews) {
      watched.hasNews = false;
      if (await this.#isOver(id)) wake(watched);
    }
    watched.isLooking = false;
  }

  /** Where the database cannot be asked, those who wait are answered, or refused, by their own question to it. */
  async #isOver(id: string): Promise<boolean> {
    try {
      const text = 'select 1 as found from deployment where id = $1 and not is_finished';
      return (await this.rows.query(text, [id])).length === 0;
    } catch (error) {
      this.warn('A deployment that is waited for could not be looked at', error);
      return true;
    }
  }
}

function wake({ waiting }: Watched): void {
  for (const resolve of waiting) resolve();
}
