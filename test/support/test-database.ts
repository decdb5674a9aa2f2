import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { withDatabase } from './settings.ts';

/** A database of one's own: a clone of the migrated template of this test run. */
export async function cloneDatabase(): Promise<string> {
  const name = `slipway_${process.pid}_${randomBytes(4).toString('hex')}`;
  await onCluster(`create database ${name} template ${process.env.SLIPWAY_TEST_TEMPLATE}`);
  return withDatabase(clusterUrl(), name);
}

export async function dropDatabase(url: string): Promise<void> {
  await onCluster(`drop database "${/\/([^/?]*)(\?|$)/.exec(url)?.[1] ?? ''}" with (force)`);
}

/** As if whoever was killed had been silent for long; how long that has to be is told by the tests of the queue. */
export async function forgetHeartbeats(url: string): Promise<void> {
  await say(url, `update pgboss.job set heartbeat_on = now() - interval '1 day' where state = 'active'`);
}

const onCluster = (statement: string): Promise<void> => say(clusterUrl(), statement);

async function say(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function clusterUrl(): string {
  const url = process.env.SLIPWAY_TEST_CLUSTER;
  if (url === undefined) throw new Error('run the tests by npm test: the cluster is started by its global setup');
  return url;
}
