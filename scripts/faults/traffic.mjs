/**
 * 20 good and 20 broken deployments while the page is asked 200 times a second. Needs the lab. Prints what was seen; exits with 1
 * when a promise was broken.
 *
 *   npm run lab:up && npm run faults:traffic [-- ROUNDS [PER_SECOND]]
 */

import { KilledSite } from '../../test/lab/support/killed-site.ts';
import { deployUnderTraffic } from '../../test/lab/support/traffic.ts';

const rounds = Number(process.argv[2] ?? 20);
const perSecond = Number(process.argv[3] ?? 200);
const site = await KilledSite.start();
try {
  const outcome = await deployUnderTraffic(site.bench, { rounds, perSecond });
  console.table([{ ...outcome, failures: outcome.failures.length, strangers: outcome.strangers.length }]);
  for (const failure of new Set(outcome.failures)) console.log(failure);
  const isKept =
    outcome.good === rounds &&
    outcome.broken === rounds &&
    outcome.failures.length + outcome.strangers.length === 0 &&
    outcome.slowestRollbackMs <= 10_000;
  if (!isKept) console.error('FAILED: see the figures');
  process.exitCode = isKept ? 0 : 1;
} finally {
  await site.stop();
}
