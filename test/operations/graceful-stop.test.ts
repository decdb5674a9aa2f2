import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { stopUnderLoad } from '../support/graceful-stop.ts';
import { Installation } from '../support/installation.ts';

let installation: Installation;
beforeAll(async () => {
  installation = await Installation.start();
}, 60_000);
afterAll(() => installation.stop(), 60_000);

test('F28: SIGTERM under load fails no request, ends streams, loses no write and exits in time', async () => {
  const figures = await stopUnderLoad(installation, 16, 300);
  expect(figures).toMatchObject({ broken: 0, badAnswers: 0, streamsEnded: 5, exitCode: 0, writesLost: 0 });
  expect(figures.exitMs).toBeLessThan(30_000);
}, 120_000);
