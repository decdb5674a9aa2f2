import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { LocalBench } from './support/deploy-bench.ts';
import { deployUnderTraffic } from './support/traffic.ts';

let bench: LocalBench;
beforeAll(async () => {
  bench = await LocalBench.start();
});
afterAll(() => bench?.stop());

test('good and broken deployments under traffic: no request fails, and going back takes seconds', async () => {
  const outcome = await deployUnderTraffic(bench, { rounds: 4, perSecond: 50 });
  expect(outcome).toMatchObject({ good: 4, broken: 4, failures: [], strangers: [] });
  expect(outcome.slowestRollbackMs).toBeLessThan(10_000);
});
