/**
 * F13 in full: ten thousand readers of one stream. Prints what was seen; exits with 1 when a promise was broken.
 *
 *   npm run faults:f13 [-- READERS]
 */
import { gatherCrowd } from '../../test/support/crowd.ts';
import { Installation } from '../../test/support/installation.ts';

const readers = Number(process.argv[2] ?? 10_000);
const figures = await Installation.during({ isBuilt: true }, installation => gatherCrowd(installation, readers));
console.table([figures]);
const { connected, eventP99Ms, rssMegabytes, restP95Ms, goneAfterMs } = figures;
const promises = [
  connected === readers,
  eventP99Ms <= 3000,
  rssMegabytes <= 600,
  restP95Ms <= 300,
  goneAfterMs <= 2000,
];
const isKept = promises.every(Boolean);
if (!isKept) console.error('FAILED: see the figures');
process.exitCode = isKept ? 0 : 1;
