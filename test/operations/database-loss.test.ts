import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { loseDatabase } from '../support/database-loss.ts';
import { eventually } from '../support/eventually.ts';
import { Installation } from '../support/installation.ts';

let installation: Installation;
beforeAll(async () => {
  installation = await Installation.start();
}, 60_000);
afterAll(() => installation.stop(), 60_000);

test('F2: PostgreSQL is killed under load: nothing acknowledged is lost, everyone is told to wait, all is back in 5 s', async () => {
  const figures = await loseDatabase(installation, 12, 3);
  expect(figures).toMatchObject({
    lost: 0,
    badRefusals: 0,
    otherAnswers: '',
    broken: 0,
    eventsMissed: 0,
    isSameProcess: true,
  });
  expect(figures.slowestReturnMs).toBeLessThan(5000);
  await eventually(async () => (await fetch(`${installation.service.url}/readyz`)).status === 200);
}, 120_000);
