import 'reflect-metadata';
import pg from 'pg';
import { createApp } from '../../src/app.ts';
import { startTestCluster } from './cluster.ts';
import { silentLog, testConfig, withDatabase } from './settings.ts';

/** One cluster for the run and one migrated database in it, which every test file clones. */
export default async function setUp(): Promise<void> {
  const cluster = await startTestCluster();
  const template = `slipway_template_${process.pid}`;
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  await client.query(`create database ${template}`);
  await client.end();
  const app = await createApp(
    testConfig({ DATABASE_URL: withDatabase(cluster.url, template) }),
    silentLog,
    () => undefined,
  );
  await app.stop();
  process.env.SLIPWAY_TEST_CLUSTER = cluster.url;
  process.env.SLIPWAY_TEST_TEMPLATE = template;
  Object.assign(globalThis, { stopSlipwayTestCluster: cluster.stop });
}
