import { Client, type ClientConfig } from 'pg';

/** Advisory locks we take, each with a number of its own. */
export const LOCK = { events: 7_301_001, migrate: 7_301_002, idempotency: 7_301_003 } as const;

/** Runs `work` while no other instance runs under the same lock. */
export async function exclusively<Result>(
  config: ClientConfig,
  lock: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const client = new Client(config);
  await client.connect();
  try {
    await client.query('set statement_timeout = 0');
    await client.query('select pg_advisory_lock($1)', [lock]);
    return await work();
  } finally {
    await client.end();
  }
}
