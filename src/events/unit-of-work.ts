import type { EntityManager } from '@mikro-orm/postgresql';
import { clock } from '../clock.ts';
import { LOCK } from '../database/lock.ts';
import { AuditEntry, AuditOutcome } from '../entities/audit-entry.ts';
import { describe, nameOf } from '../entities/describe.ts';
import { type EventAction, type EventKind, StoredEvent } from '../entities/event.ts';
import { newId } from '../id.ts';

export const EVENT_CHANNEL = 'slipway_event';

const HASTEN = `set_config('idle_in_transaction_session_timeout', '5s', true)`;

/** Who a change comes from, for the audit trail and the event log. */
export interface Origin {
  workspaceId: string | null;
  actor: string | null;
  tokenId: string | null;
  ip: string | null;
  requestId: string | null;
  action: string;
}

/** Of work that no request is waiting for; `actor` is who once asked for it, if anybody did. */
export const workOrigin = (action: string, workspaceId: string | null = null, actor: string | null = null): Origin => ({
  workspaceId,
  actor,
  tokenId: null,
  ip: null,
  requestId: null,
  action,
});

export interface Resource {
  id: string;
  workspaceId: string;
}

type Note = Pick<AuditEntry, 'workspaceId' | 'actor' | 'resource'>;

/** One change and all that is told of it: rows, audit entries, jobs and events commit together or not at all. */
export class UnitOfWork {
  readonly #notes: Note[] = [];
  readonly #events: StoredEvent[] = [];
  #isRepeat = false;
  #revokes = false;

  constructor(
    readonly em: EntityManager,
    readonly origin: Origin,
  ) {}

  /** For SQL that is shared with the read layer: parameters as $1, $2, … on the connection of this transaction. */
  async query<Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]> {
    const used = [...text.matchAll(/\$(\d+)/g)].map(([, number]) => values[Number(number) - 1]);
    return this.em.execute<Row[]>(text.replace(/\$\d+/g, '?'), used);
  }

  /** Notes a change in the audit trail. */
  note(resource: Resource, actor = this.origin.actor): void {
    this.#notes.push({ workspaceId: resource.workspaceId, actor, resource: nameOf(resource) });
  }

  /** Notes a change and tells those who listen. The resource is described as it is when the unit completes. */
  tell(kind: EventKind, action: EventAction, resource: Resource, projectId: string | null = null): void {
    if (this.origin.actor !== null) this.note(resource);
    const event = Object.assign(new StoredEvent(), { kind, action, projectId, actor: this.origin.actor });
    Object.assign(event, { workspaceId: resource.workspaceId, resourceType: resource.constructor.name });
    Object.assign(event, { resourceId: resource.id, data: resource });
    this.#events.push(event);
  }

  /** An answer is only given again: nothing is done, so there is nothing to note. */
  repeat(): void {
    this.#isRepeat = true;
  }

  /** Ends or narrows somebody's credential: whoever asked for it is answered when no instance takes it any more. */
  revoke(): void {
    this.#revokes = true;
  }

  get revokes(): boolean {
    return this.#revokes;
  }

  /**
   * From here on nothing but statements follows, one upon the other. An instance that is frozen among them, or whose line is
   * cut, holds locks that others wait for: the database takes them away after seconds.
   */
  async hasten(): Promise<void> {
    await this.em.execute(`select ${HASTEN}`);
  }

  async complete(): Promise<void> {
    await this.em.flush();
    this.#writeAudit();
    await this.em.flush();
    if (this.#events.length > 0) await this.#writeEvents();
  }

  #writeAudit(): void {
    const { workspaceId, actor, tokenId, ip, requestId, action } = this.origin;
    const untold = workspaceId !== null && actor !== null && this.#notes.length === 0 && !this.#isRepeat;
    const notes = untold ? [{ workspaceId, actor, resource: null }] : this.#notes;
    for (const note of notes) {
      this.em.create(AuditEntry, { ...note, tokenId, ip, requestId, action, outcome: AuditOutcome.DONE });
    }
  }

  /**
   * A sequence number taken inside a transaction says nothing about the order of commits, and a reader
   * would step over rows that commit late. So numbers are given under one lock, taken last and held until commit. Ids and
   * times are given there too: a cursor that says when it was made says where it stands.
   */
  async #writeEvents(): Promise<void> {
    await this.em.execute(`select ${HASTEN}, pg_advisory_xact_lock(?)`, [LOCK.events]);
    for (const event of this.#events) {
      const { workspaceId, kind, action, actor, projectId, resourceType, resourceId, data } = event;
      const [id, at] = [newId(), clock.now()];
      await this.em.execute(
        `insert into event (seq, id, workspace_id, kind, action, at, actor, project_id, resource_type, resource_id, data)
         values (nextval('event_seq'), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [id, workspaceId, kind, action, at, actor, projectId, resourceType, resourceId, JSON.stringify(describe(data))],
      );
    }
    await this.em.execute(`select pg_notify('${EVENT_CHANNEL}', '')`);
  }
}

/** Runs `work` in one transaction with all it tells. */
export async function transact<Result>(
  em: EntityManager,
  origin: Origin,
  work: (unit: UnitOfWork) => Promise<Result>,
): Promise<Result> {
  return em.fork().transactional(async transaction => {
    const unit = new UnitOfWork(transaction, origin);
    const result = await work(unit);
    await unit.complete();
    return result;
  });
}

/** A refusal leaves its trace although nothing else was written. */
export async function noteDenial(em: EntityManager, origin: Origin, resource: string | null): Promise<void> {
  const { workspaceId, actor, tokenId, ip, requestId, action } = origin;
  if (workspaceId === null) return;
  const fork = em.fork();
  fork.create(AuditEntry, {
    workspaceId,
    actor,
    tokenId,
    ip,
    requestId,
    action,
    resource,
    outcome: AuditOutcome.DENIED,
  });
  await fork.flush();
}
