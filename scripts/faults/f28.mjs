/**
 * F28 in full: SIGTERM while clients ask over connections they keep, and readers listen. Prints what was seen; exits with 1
 * when a promise was broken.
 *
 *   npm run faults:f28 [-- ROUNDS]
 */
import { stopUnderLoad } from '../../test/support/graceful-stop.ts';
import { Installation } from '../../test/support/installation.ts';

const rounds = Number(process.argv[2] ?? 5);
const figures = [];
for (let round = 0; round < rounds; round += 1) {
  figures.push(await Installation.during({ isBuilt: true }, installation => stopUnderLoad(installation, 32, 2000)));
}
console.table(figures);
const isKept = figures.every(
  ({ broken, badAnswers, exitCode, exitMs, writesLost }) =>
    broken + badAnswers + writesLost === 0 && exitCode === 0 && exitMs <= 30_000,
);
if (!isKept) console.error('FAILED: see the figures');
process.exitCode = isKept ? 0 : 1;
