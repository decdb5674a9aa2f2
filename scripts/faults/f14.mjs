/**
 * F14 in full: a reader that does not read, while so much is produced. Prints what was seen; exits with 1 when a promise was
 * broken.
 *
 *   npm run faults:f14 [-- MEGABYTES]
 */
import { Installation } from '../../test/support/installation.ts';
import { stallReader } from '../../test/support/stalled-reader.ts';

const megabytes = Number(process.argv[2] ?? 300);
const figures = await Installation.during({ isBuilt: true }, installation => stallReader(installation, megabytes));
console.table([figures]);
const isKept = figures.rssGrownMegabytes <= 50 && figures.missedByOthers === 0 && figures.missedOnResume === 0;
if (!isKept) console.error('FAILED: see the figures');
process.exitCode = isKept ? 0 : 1;
