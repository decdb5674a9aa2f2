import type { EntityManager } from '@mikro-orm/postgresql';
import type { Listener } from '../database/listener.ts';

const CHANNEL = 'slipway_rows';

/** Rings for the rows of one thing, such as the steps of an analysis, on every instance, when the change has committed. */
export class RowBell {
  readonly #watchers = new Map<string, Set<() => void>>();

  constructor(private readonly listener: Listener) {}

  async start(): Promise<void> {
    await this.listener.listen(CHANNEL, key => this.#ring(key));
    this.listener.onReconnect(() => {
      for (const key of this.#watchers.keys()) this.#ring(key);
    });
  }

  watch(key: string, ring: () => void): () => void {
    const watchers = this.#watchers.get(key) ?? new Set();
    this.#watchers.set(key, watchers.add(ring));
    return () => {
      watchers.delete(ring);
      if (watchers.size === 0) this.#watchers.delete(key);
    };
  }

  #ring(key: string): void {
    for (const ring of this.#watchers.get(key) ?? []) ring();
  }
}

/** The same as a part of a statement that makes the change itself. */
export const RING_ROWS = `pg_notify('${CHANNEL}', ?)`;

/** In the transaction of the change: it rings if, and when, the change is there to be read. */
export async function ringRows(em: EntityManager, key: string): Promise<void> {
  await em.execute(`select ${RING_ROWS}`, [key]);
}
