import pg from 'pg';

export default async function tearDown(): Promise<void> {
  const client = new pg.Client({ connectionString: process.env.SLIPWAY_TEST_CLUSTER });
  await client.connect();
  await client.query(`drop database if exists ${process.env.SLIPWAY_TEST_TEMPLATE} with (force)`);
  await client.end();
  await (globalThis as unknown as { stopSlipwayTestCluster(): Promise<void> }).stopSlipwayTestCluster();
}
