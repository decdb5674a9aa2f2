import type { Rows } from '../database/rows.ts';
import { Invalid } from '../errors.ts';
import type { EventFeed, EventFilter, EventRow } from './event-feed.ts';
import { CursorTooOld, type StreamItem, type StreamSource } from './stored-stream.ts';

/** The event log of one workspace as a stream. It starts now unless told where to resume. */
export class EventSource implements StreamSource {
  readonly key: string;

  constructor(
    private readonly feed: EventFeed,
    private readonly rows: Rows,
    private readonly filter: EventFilter,
  ) {
    this.key = JSON.stringify(['events', filter.workspaceId, filter.kinds ?? null, filter.projectId ?? null]);
  }

  async locate(cursor: string | undefined): Promise<number> {
    if (cursor === undefined) return this.feed.head();
    const text = 'select seq from event where id = $1 and workspace_id = $2';
    const [known] = await this.rows.query<{ seq: number }>(text, [cursor, this.filter.workspaceId]);
    return known?.seq ?? this.#refuse(cursor);
  }

  async read(position: number, limit: number): Promise<StreamItem[]> {
    return (await this.feed.read(this.filter, position, limit)).map(toItem);
  }

  settled(): number | undefined {
    return this.feed.known;
  }

  watch(ring: () => void): () => void {
    return this.feed.watch(this.filter.workspaceId, ring);
  }

  /**
   * An id says when it was made: one older than the oldest row we keep was pruned, any other never existed here. Pruning
   * leaves the last of what it could take, so an empty log is one that was never pruned.
   */
  async #refuse(cursor: string): Promise<never> {
    const [oldest] = await this.rows.query<{ at: string }>('select at from event order by seq limit 1', []);
    const madeAt = Number.parseInt(cursor.replaceAll('-', '').slice(0, 12), 16);
    if (oldest !== undefined && madeAt <= Date.parse(oldest.at)) throw new CursorTooOld();
    throw new Invalid({ field: 'after', message: 'is not the id of an event' });
  }
}

const toItem = (event: EventRow): StreamItem => ({
  position: event.seq,
  cursor: event.id,
  isLast: false,
  value: event,
});
