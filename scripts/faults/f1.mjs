/**
 * F1 in full: the service is killed in each phase of a deployment, again and again, while the page is asked ten times a second. Needs
 * the lab. Prints what was seen; exits with 1 when a promise was broken.
 *
 *   npm run lab:up && npm run faults:f1 [-- TIMES]
 */
import { killInPhase, PHASES, slowEnvironment } from '../../test/lab/support/kill-in-phase.ts';
import { KilledSite } from '../../test/lab/support/killed-site.ts';

const times = Number(process.argv[2] ?? 25);
const site = await KilledSite.start();
const outcomes = [];
try {
  const environment = await slowEnvironment(site.bench, 'killed');
  for (let time = 0; time < times; time += 1)
    for (const phase of PHASES) {
      const outcome = await killInPhase(site, environment, phase);
      outcomes.push(outcome);
      console.log(JSON.stringify({ time, ...outcome }));
    }
} finally {
  await site.stop();
}
const rows = PHASES.map(phase => {
  const those = outcomes.filter(outcome => outcome.phase === phase);
  const sum = name => those.reduce((total, outcome) => total + outcome[name], 0);
  return {
    phase,
    kills: those.length,
    live: those.filter(({ status }) => status === 'LIVE').length,
    longestResumedMs: Math.max(...those.map(({ resumedMs }) => resumedMs)),
    asked: sum('asked'),
    failures: sum('failures'),
    orphans: sum('orphans'),
    tempFiles: sum('tempFiles'),
  };
});
console.table(rows);
const isKept = rows.every(
  row => row.longestResumedMs <= 30_000 && row.failures + row.orphans + row.tempFiles === 0 && row.kills === times,
);
if (!isKept) console.error('FAILED: see the figures');
process.exitCode = isKept ? 0 : 1;
