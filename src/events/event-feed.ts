import type { Listener } from '../database/listener.ts';
import type { Row, Rows } from '../database/rows.ts';
import { type EventKind, StoredEvent } from '../entities/event.ts';
import { CursorTooOld } from './stored-stream.ts';
import { EVENT_CHANNEL } from './unit-of-work.ts';

export type EventRow = Row<StoredEvent> & { seq: number; bytes?: number };

export interface EventFilter {
  workspaceId: string;
  kinds?: readonly EventKind[] | null | undefined;
  projectId?: string | null | undefined;
}

const passes = (event: EventRow, { workspaceId, kinds, projectId }: EventFilter): boolean =>
  event.workspaceId === workspaceId &&
  (!kinds || kinds.includes(event.kind)) &&
  (!projectId || event.projectId === projectId);

const BATCH = 100;
const KEPT = 2000;
const KEPT_BYTES = 1024 * 1024;
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

  /** Up to where a read that starts now looks; unknown while nobody listens. */
  get known(): number | undefined {
    return this.#head;
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
    return this.#readStored(filter, position, limit);
  }

  async #readStored(filter: EventFilter, position: number, limit: number): Promise<EventRow[]> {
    const { workspaceId, kinds, projectId } = filter;
    const rows = await this.rows.query<EventRow>(
      `${this.rows.select(StoredEvent)} where workspace_id = $1 and seq > $2
       and ($3::text[] is null or kind = any($3)) and ($4::uuid is null or project_id = $4) order by seq limit $5`,
      [workspaceId, position, kinds ?? null, projectId ?? null, limit],
    );
    await this.#refusePruned(position);
    return rows;
  }

  /** Pruning takes a beginning of the log: where something older is still kept, nothing is missing behind it. */
  async #refusePruned(position: number): Promise<void> {
    if (position === 0) return;
    const text = 'select seq from event order by seq limit 1';
    const [oldest] = await this.rows.query<{ seq: number }>(text, []);
    if (oldest !== undefined && oldest.seq > position + 1) throw new CursorTooOld();
  }

  #forget(): void {
    this.#recent = [];
    this.#head = undefined;
  }

  #pull(): void {
    this.#hasNews = true;
    if (!this.#isPulling) void this.#pullAll();
  }

  /** The flag falls in the same breath as the loop ends: a bell rung between the two would be heard by nobody. */
  async #pullAll(): Promise<void> {
    this.#isPulling = true;
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
    this.#isPulling = false;
  }

  /** What was committed before the head was known is nobody's news: let everyone read for themselves. */
  async #begin(): Promise<void> {
    this.#head = await this.head();
    this.#hasNews = true;
    for (const watchers of this.#watchers.values()) for (const ring of watchers) ring();
  }

  async #pullBatch(head: number): Promise<void> {
    const rows = `${this.rows.select(StoredEvent)} where seq > $1 order by seq limit $2`;
    const text = `select *, octet_length(data::text) as bytes from (${rows}) as fresh order by seq`;
    const fresh = await this.rows.query<EventRow>(text, [head, BATCH]);
    this.#remember(fresh);
    this.#head = fresh.at(-1)?.seq ?? head;
    if (fresh.length === BATCH) this.#hasNews = true;
    for (const workspaceId of new Set(fresh.map(event => event.workspaceId))) {
      for (const ring of this.#watchers.get(workspaceId) ?? []) ring();
    }
  }

  /** Rows of any size may come: few large ones weigh as much as many small ones. */
  #remember(fresh: EventRow[]): void {
    const rows = [...this.#recent, ...fresh].slice(-KEPT);
    let first = rows.length;
    for (let sum = 0; first > 0 && sum <= KEPT_BYTES; first -= 1) sum += rows[first - 1]?.bytes ?? 0;
    this.#recent = rows.slice(first);
  }
}
