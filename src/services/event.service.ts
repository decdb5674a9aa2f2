import type { Rows } from '../database/rows.ts';
import type { EventKind } from '../entities/event.ts';
import { NotFound } from '../errors.ts';
import type { EventFeed } from '../events/event-feed.ts';
import { EventSource } from '../events/event-source.ts';
import { StoredStream } from '../events/stored-stream.ts';
import type { Scope } from './scope.ts';

export interface EventWish {
  kinds?: EventKind[] | null;
  projectId?: string | null;
  after?: string | null;
}

export class EventService {
  constructor(
    private readonly feed: EventFeed,
    private readonly rows: Rows,
  ) {}

  open(scope: Scope, { kinds, projectId, after }: EventWish): Promise<StoredStream> {
    const { workspaceId, projectId: boundTo } = scope.viewer;
    if (boundTo !== null && projectId != null && projectId !== boundTo) throw new NotFound('Project');
    const filter = { workspaceId, kinds, projectId: boundTo ?? projectId };
    return StoredStream.open(new EventSource(this.feed, this.rows, filter), after);
  }
}
