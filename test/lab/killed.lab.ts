import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { killInPhase, PHASES, slowEnvironment } from './support/kill-in-phase.ts';
import { KilledSite } from './support/killed-site.ts';

let site: KilledSite;
let environment: { id: string; path: string };
beforeAll(async () => {
  site = await KilledSite.start();
  environment = await slowEnvironment(site.bench, 'killed');
});
afterAll(() => site?.stop());

test.each(PHASES)(
  'the service is killed in %s: the deployment goes on, the old page answers, nothing is left',
  async phase => {
    const outcome = await killInPhase(site, environment, phase);
    expect(outcome).toMatchObject({ status: 'LIVE', failures: 0, orphans: 0, tempFiles: 0 });
    expect(outcome.resumedMs).toBeLessThan(30_000);
  },
);
