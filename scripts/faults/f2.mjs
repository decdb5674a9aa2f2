/**
 * F2 in full: PostgreSQL is killed again and again while clients write and somebody listens. Prints what was seen; exits with 1
 * when a promise was broken.
 *
 *   npm run faults:f2 [-- KILLS]
 */
import { loseDatabase } from '../../test/support/database-loss.ts';
import { Installation } from '../../test/support/installation.ts';

const kills = Number(process.argv[2] ?? 20);
const figures = await Installation.during({ isBuilt: true }, installation => loseDatabase(installation, 24, kills));
console.table([figures]);
const { lost, badRefusals, otherAnswers, broken, slowestReturnMs, eventsMissed, isSameProcess } = figures;
const isKept =
  lost + badRefusals + broken + eventsMissed === 0 && otherAnswers === '' && slowestReturnMs <= 5000 && isSameProcess;
if (!isKept) console.error('FAILED: see the figures');
process.exitCode = isKept ? 0 : 1;
