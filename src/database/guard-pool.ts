import type { Pool, PoolClient } from 'pg';

/**
 * Makes a pool get its connections back when the server goes away. Kysely gives a connection back after a rollback, and
 * a rollback on a dead connection fails: each transaction of that moment would keep its place in the pool for ever,
 * and after ten of them nobody would get one.
 */
export function guardPool(pool: Pool, onLoss: (error: unknown) => void): void {
  const connect = pool.connect.bind(pool);
  const guarded = async () => guard(await connect(), onLoss);
  // Those who give a callback are the pool's own queries, which give back what they took.
  const replacement = (callback?: Parameters<Pool['connect']>[0]) => (callback ? connect(callback) : guarded());
  pool.connect = replacement as Pool['connect'];
}

function guard(client: PoolClient, onLoss: (error: unknown) => void): PoolClient {
  const giveBack = client.release.bind(client);
  let isGivenBack = false;
  const release = (error?: Error | boolean) => {
    if (isGivenBack) return;
    isGivenBack = true;
    client.off('error', onLoss).off('end', lose);
    giveBack(error);
  };
  const lose = () => release(true);
  client.release = release;
  // Without anybody to hear it, the error of a connection that is in use and silent would end the process.
  client.on('error', onLoss).once('end', lose);
  return client;
}
