import type { EntityManager } from '@mikro-orm/postgresql';
import { clock, fromNow, SECOND } from '../clock.ts';
import { survey } from '../engine/server-facts.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { Server, type ServerFacts, ServerStatus } from '../entities/server.ts';
import { NotFound } from '../errors.ts';
import type { UnitOfWork } from '../events/unit-of-work.ts';
import type { Queue } from '../jobs/queue.ts';
import { RemoteFailure } from '../remote/host.ts';
import type { ServerAccessService } from './server-access.service.ts';
import { ServerAway, ServerUntrusted } from './server-failure.ts';

/** So many at once, so that one that hangs holds up nobody. */
const SIDE_BY_SIDE = 16;
const BATCH = 100;
/** Looked at less long ago than this, it is not looked at again. */
const FRESH_MS = 45 * SECOND;
const SECOND_LOOK_SECONDS = 10;
/** One failed look proves nothing. */
const MISSES = 2;
const LASTING = ['os', 'kernel', 'arch', 'cpus', 'docker'] as const;

type Look = { facts: ServerFacts } | { reason: string };

/** Looks whether servers are there, and what they are. */
export class ServerWatchService {
  constructor(
    private readonly em: EntityManager,
    private readonly access: ServerAccessService,
    private readonly queue: Queue,
    private readonly warn: (message: string, error: unknown) => void,
  ) {}

  /** All that are due. Instances that do it at once share them: each is claimed before it is looked at. */
  async lookAtAll(signal: AbortSignal): Promise<void> {
    for (;;) {
      const due = await this.#claim();
      if (due.length === 0 || signal.aborted) return;
      const lookOn = async () => {
        for (let id = due.pop(); id !== undefined && !signal.aborted; id = due.pop()) await this.#lookSafely(id);
      };
      await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lookOn));
    }
  }

  /** What is found is written only if it is about what is still configured. */
  async look(serverId: string): Promise<void> {
    const before = await this.em.fork().findOne(Server, serverId);
    if (before === null || before.status === ServerStatus.UNTRUSTED) return;
    const found = await this.#find(serverId);
    if (found === undefined) return;
    await this.access.change(serverId, async (server, unit) => {
      if (server.version !== before.version || server.status === ServerStatus.UNTRUSTED) return;
      const isNew = server.status === ServerStatus.PENDING;
      if ('facts' in found) noteFacts(server, unit, found.facts);
      else await this.#noteMiss(server, unit, found.reason);
      // What else is to be known of it takes longer, and is not waited for.
      if ('facts' in found && isNew)
        await this.queue.enqueue(unit, 'server.look-security', { serverId }, { lane: serverId });
    });
  }

  /** Undefined where the look itself has settled it: the machine is gone, or not the one we know. */
  async #find(serverId: string): Promise<Look | undefined> {
    try {
      return { facts: (await this.access.useAnew(serverId, host => survey(host))).facts };
    } catch (error) {
      if (error instanceof ServerUntrusted || error instanceof NotFound) return undefined;
      if (error instanceof ServerAway) return { reason: error.message };
      if (error instanceof RemoteFailure)
        return { reason: `The machine does not do what it is told: ${error.message}` };
      throw error;
    }
  }

  /** The second look comes soon after the first that failed. */
  async #noteMiss(server: Server, unit: UnitOfWork, reason: string): Promise<void> {
    server.missedLooks += 1;
    if (server.status === ServerStatus.PENDING) return note(server, unit, ServerStatus.PENDING, reason);
    if (server.missedLooks >= MISSES) return note(server, unit, ServerStatus.UNREACHABLE, reason);
    const later = { lane: server.id, startAfterSeconds: SECOND_LOOK_SECONDS };
    await this.queue.enqueue(unit, 'server.look', { serverId: server.id }, later);
  }

  /** A fault with one server is no reason to leave the others alone. */
  async #lookSafely(serverId: string): Promise<void> {
    try {
      await this.look(serverId);
    } catch (error) {
      this.warn(`Server ${serverId} could not be looked at`, error);
    }
  }

  async #claim(): Promise<string[]> {
    const text = `
      update server set looked_at = ? where id in (
        select id from server where status <> ? and (looked_at is null or looked_at < ?)
        order by looked_at nulls first limit ? for update skip locked)
      returning id`;
    const values = [clock.now(), ServerStatus.UNTRUSTED, fromNow(-FRESH_MS), BATCH];
    return (await this.em.fork().execute<{ id: string }[]>(text, values)).map(({ id }) => id);
  }
}

/** That some memory or disk is used is no news; another system or Docker is. */
function noteFacts(server: Server, unit: UnitOfWork, facts: ServerFacts): void {
  const isOther = LASTING.some(name => server.facts?.[name] !== facts[name]);
  Object.assign(server, { facts, lastSeenAt: clock.now(), missedLooks: 0 });
  if (server.status === ServerStatus.READY && isOther) unit.tell(EventKind.server_updated, EventAction.UPDATED, server);
  else note(server, unit, ServerStatus.READY, null);
}

/** Told only when it is news. */
function note(server: Server, unit: UnitOfWork, status: ServerStatus, statusReason: string | null): void {
  if (server.status === status && server.statusReason === statusReason) return;
  Object.assign(server, { status, statusReason });
  unit.tell(EventKind.server_updated, EventAction.UPDATED, server);
}
