import type { EntityManager } from '@mikro-orm/postgresql';
import { DAY, fromNow } from '../clock.ts';

interface Keep {
  keepEventsMs: number;
  keepLogsMs: number;
  keepAuditMs: number;
}

/**
 * Of the log a whole beginning goes, lowest number first, and its last row stays: whoever resumes behind a row that is still
 * there misses nothing, and what was pruned can be told from what never was.
 */
const BEGINNING_OF_LOG = 'seq < (select max(seq) from event where at < ?) order by seq';

/** Rows whose time is over, by table and the condition that says so. */
const EXPIRED: readonly [table: string, condition: string, keptMs: (keep: Keep) => number][] = [
  ['event', BEGINNING_OF_LOG, keep => keep.keepEventsMs],
  // The states of a deployment stay as long as it does: with them it can be told that there was a log.
  ['deployment_message', `kind = 'LOG' and at < ?`, keep => keep.keepLogsMs],
  ['audit_entry', 'at < ?', keep => keep.keepAuditMs],
  ['hook_delivery', 'created_at < ?', keep => keep.keepLogsMs],
  ['idempotent_answer', 'created_at < ?', () => DAY],
  ['rate_counter', 'resets_at < ?', () => DAY],
  ['one_time_code', 'expires_at < ?', () => DAY],
  ['password_reset', 'expires_at < ?', () => DAY],
  ['invitation', 'used_at is null and expires_at < ?', () => 30 * DAY],
  ['session', '(ended_at is not null or expires_at < now()) and created_at < ?', () => 90 * DAY],
  ['users', 'not email_verified and created_at < ?', () => 7 * DAY],
  [
    'workspace',
    'created_at < ? and not exists (select from users where users.workspace_id = workspace.id)',
    () => 7 * DAY,
  ],
];

const BATCH = 5000;

/** Deletes what need not be kept any longer, a little at a time, so that nobody waits for it. */
export class HousekeepingService {
  constructor(
    private readonly em: EntityManager,
    private readonly keep: Keep,
  ) {}

  async prune(signal: AbortSignal): Promise<void> {
    for (const [table, condition, keptMs] of EXPIRED) {
      const before = fromNow(-keptMs(this.keep));
      while (!signal.aborted && (await this.#pruneBatch(table, condition, before)) === BATCH);
    }
  }

  async #pruneBatch(table: string, condition: string, before: Date): Promise<number> {
    return this.em.fork().transactional(async em => {
      await em.execute(`set local slipway.pruning = 'on'`);
      const text = `delete from ${table} where ctid = any(array(select ctid from ${table} where ${condition} limit ${BATCH})) returning 1`;
      return (await em.execute(text, [before])).length;
    });
  }
}
