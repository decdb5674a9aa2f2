import type { Listener } from '../database/listener.ts';
import type { Row, Rows } from '../database/rows.ts';
import { type EventKind, StoredEvent } from '../entities/event.ts';
import { EVENT_CHANNEL } from './unit-of-work.ts';

export type EventRow = Row<StoredEvent> & { seq: number };

export interface EventFilter {
  workspaceId: string;
  kinds?: readonly EventKind[] | null | undefined;
  projectId?: string | null | undefined;
}

const passes = (event: EventRow, { workspaceId, kinds, projectId }: EventFilter): boolean =>
  event.workspaceId === workspaceId &&
  (!kinds || kinds.includes(event.kind)) &&
  (!projectId || event.projectId === projectId);

const BATCH = 1000;
const KEPT = 2000;
const RETRY_MS = 500;

/**
 * Follows the event log once per process, however many read it: after each bell it takes the new rows and
 * keeps the last of them at hand, so that readers who are up to date cost no query of their own.
 */
export class EventFeed {
  readonly #watchers = new Map<string, Set<() => void>>();
  #recent: EventRow[] = [];
  #head: number | undefined;
  #isPulling = false;
  #hasNews = false;

  constructor(
    private readonly rows: Rows,
    private readonly listener: Listener,
    private readonly warn: (message: string, error: unknown) => void,
  ) {}

  async start(): Promise<void> {
    await this.listener.listen(EVENT_CHANNEL, () => this.#pull());
    this.listener.onReconnect(() => this.#pull());
  }

  get watcherCount(): number {
    return [...this.#watchers.values()].reduce((sum, { size }) => sum + size, 0);
  }

  watch(workspaceId: string, ring: () => void): () => void {
    const watchers = this.#watchers.get(workspaceId) ?? new Set();
    this.#watchers.set(workspaceId, watchers.add(ring));
    // Somebody who was alone may have slept through news: look once for the newcomer.
    this.#pull();
    return () => {
      watchers.delete(ring);
      if (watchers.size === 0) this.#watchers.delete(workspaceId);
      if (this.#watchers.size === 0) this.#forget();
    };
  }

  async head(): Promise<number> {
    const [row] = await this.rows.query<{ seq: number | null }>('select max(seq) as seq from event', []);
    return row?.seq ?? 0;
  }

  async read(filter: EventFilter, position: number, limit: number): Promise<EventRow[]> {
    // Whatever comes behind the head will ring.
    if (this.#head !== undefined && position >= this.#head) return [];
    const oldest = this.#recent[0];
    if (oldest !== undefined && position >= oldest.seq - 1) {
      return this.#recent.filter(event => event.seq > position && passes(event, filter)).slice(0, limit);
    }
    const { workspaceId, kinds, projectId } = filter;
    return this.rows.query<EventRow>(
      `${this.rows.select(StoredEvent)} where workspace_id = $1 and seq > $2
       and ($3::text[] is null or kind = any($3)) and ($4::uuid is null or project_id = $4) order by seq limit $5`,
      [workspaceId, position, kinds ?? null, projectId ?? null, limit],
    );
  }

  #forget(): void {
    this.#recent = [];
    this.#head = undefined;
  }

  #pull(): void {
    this.#hasNews = true;
    if (this.#isPulling || this.#watchers.size === 0) return;
    this.#isPulling = true;
    void this.#pullAll().finally(() => {
      this.#isPulling = false;
    });
  }

  async #pullAll(): Promise<void> {
    while (this.#hasNews && this.#watchers.size > 0) {
      this.#hasNews = false;
      try {
        if (this.#head === undefined) await this.#begin();
        else await this.#pullBatch(this.#head);
      } catch (error) {
        this.warn('The event log could not be read; trying again', error);
        this.#hasNews = true;
        await new Promise(resolve => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  /** What was committed before the head was known is nobody's news: let everyone read for themselves. */
  async #begin(): Promise<void> {
    this.#head = await this.head();
    this.#hasNews = true;
    for (const watchers of this.#watchers.values()) for (const ring of watchers) ring();
  }

  async #pullBatch(head: number): Promise<void> {
    const text = `${this.rows.select(StoredEvent)} where seq > $1 order by seq limit $2`;
    const fresh = await this.rows.query<EventRow>(text, [head, BATCH]);
    this.#recent = [...this.#recent, ...fresh].slice(-KEPT);
    this.#head = fresh.at(-1)?.seq ?? head;
    if (fresh.length === BATCH) this.#hasNews = true;
    for (const workspaceId of new Set(fresh.map(event => event.workspaceId))) {
      for (const ring of this.#watchers.get(workspaceId) ?? []) ring();
    }
  }
}
