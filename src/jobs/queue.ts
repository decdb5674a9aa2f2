import type { EntityManager } from '@mikro-orm/postgresql';
import pg, { type Pool } from 'pg';
import { type ConstructorOptions, fromKysely, PgBoss } from 'pg-boss';
import type { Listener } from '../database/listener.ts';
import { type JobName, type Jobs, jobNames, jobRules } from './jobs.ts';

const HEARTBEAT_SECONDS = 10;
const LOOK_SECONDS = 5;
const LONGEST_JOB_SECONDS = 6 * 60 * 60;

export interface SendOptions {
  lane?: string;
  startAfterSeconds?: number;
}

/**
 * The queue is pg-boss on our own pool and our own listening connection. A worker that dies stops its heartbeat;
 * within 10 s it counts as lost, within 5 more somebody looks, and the job is taken up again.
 */
export class Queue {
  readonly boss: PgBoss;

  constructor(
    private readonly pool: Pool,
    listener: Listener,
    warn: (message: string, error: unknown) => void,
  ) {
    this.boss = new PgBoss({
      db: onOurPool(pool, listener),
      schema: 'pgboss',
      useListenNotify: true,
      superviseIntervalSeconds: LOOK_SECONDS,
      monitorIntervalSeconds: LOOK_SECONDS,
      cronMonitorIntervalSeconds: 30,
      cronWorkerIntervalSeconds: 5,
    });
    this.boss.on('error', error => warn('The job queue reports an error', error));
  }

  async start(): Promise<void> {
    await this.boss.start();
    const known = new Set((await this.boss.getQueues()).map(({ name }) => name));
    const crons = new Map((await this.boss.getSchedules()).map(({ name, cron }) => [name, cron]));
    for (const name of jobNames) {
      if (known.has(name)) await this.boss.updateQueue(name, timing(name));
      else
        await this.boss.createQueue(name, {
          ...timing(name),
          policy: jobRules[name].hasLanes ? 'singleton' : 'standard',
        });
      const { cron } = jobRules[name];
      if (cron !== undefined && cron !== crons.get(name)) await this.boss.schedule(name, cron, {}, { missed: 'once' });
    }
  }

  /**
   * For a service that has its database to itself: whoever had a job when it starts is dead. That is known at once then, and not only
   * when their hearts have not been heard for a while.
   */
  async buryTheDead(): Promise<void> {
    const text = `update pgboss.job set heartbeat_on = now() - interval '1 day' where state = 'active' returning name`;
    const { rows } = await this.pool.query<{ name: JobName }>(text);
    for (const name of new Set(rows.map(row => row.name))) await this.boss.supervise(name);
  }

  /** Adds the job to the caller's transaction: it exists if, and only if, the caller's change does. */
  async enqueue<Name extends JobName>(
    { em }: { em: EntityManager },
    name: Name,
    payload: Jobs[Name],
    { lane, startAfterSeconds }: SendOptions = {},
  ): Promise<void> {
    await this.boss.send(name, payload, {
      db: fromKysely(em.getKysely()),
      ...(lane === undefined ? {} : { singletonKey: lane, group: { id: lane } }),
      ...(startAfterSeconds === undefined ? {} : { startAfter: startAfterSeconds }),
    });
  }

  /** Whether a job of that lane waits or is under way. */
  async isAwaited(name: JobName, lane: string): Promise<boolean> {
    const text = `select 1 from pgboss.job where name = $1 and singleton_key = $2 and state < 'completed' limit 1`;
    return ((await this.pool.query(text, [name, lane])).rowCount ?? 0) > 0;
  }

  /** Changes the payloads of jobs that still wait; `change` answers undefined for one that is good as it is. */
  async rewrite<Name extends JobName>(
    name: Name,
    change: (payload: Jobs[Name]) => Jobs[Name] | undefined,
  ): Promise<void> {
    const waiting = await this.pool.query<{ id: string; data: Jobs[Name] }>(
      `select id, data from pgboss.job where name = $1 and state < 'completed'`,
      [name],
    );
    for (const { id, data } of waiting.rows) {
      const changed = change(data);
      const text = `update pgboss.job set data = $3 where name = $1 and id = $2 and state < 'completed'`;
      if (changed !== undefined) await this.pool.query(text, [name, id, JSON.stringify(changed)]);
    }
  }

  async stop(timeoutMs: number): Promise<void> {
    await this.boss.stop({ graceful: true, timeout: timeoutMs, close: false });
  }
}

function timing(name: JobName) {
  const { retryLimit, retryDelaySeconds, longestRetrySeconds } = jobRules[name];
  return {
    retryLimit,
    retryDelay: retryDelaySeconds,
    retryBackoff: true,
    retryDelayMax: longestRetrySeconds,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    expireInSeconds: LONGEST_JOB_SECONDS,
    deleteAfterSeconds: 24 * 60 * 60,
    notify: true,
  };
}

/**
 * What pg-boss remembers of a queue is up to a minute old: it would pass by a lane that was busy then, and leave jobs lying
 * that have come since. The database decides at each fetch instead.
 */
const ALWAYS_LOOK = { singletonsActive: null, readyCount: 2 };

function onOurPool(pool: Pool, listener: Listener): NonNullable<ConstructorOptions['db']> {
  return {
    executeSql: async (text, values) => {
      const result = await pool.query({ text, values: values as unknown[], types: pg.types });
      for (const row of result.rows ?? []) if ('singletonsActive' in row) Object.assign(row, ALWAYS_LOOK);
      return result;
    },
    listen: async (channel, hear, lookAgain) => {
      const unlisten = await listener.listen(channel, hear);
      const forget = listener.onReconnect(lookAgain);
      lookAgain();
      return {
        close: async () => {
          unlisten();
          forget();
        },
      };
    },
  };
}
