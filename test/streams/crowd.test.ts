import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { gatherCrowd } from '../support/crowd.ts';
import { Installation } from '../support/installation.ts';

const READERS = 400;

let installation: Installation;
beforeAll(async () => {
  installation = await Installation.start();
}, 60_000);
afterAll(() => installation.stop(), 60_000);

test('F13: hundreds of readers hear one event soon, others are served meanwhile, and nobody stays behind', async () => {
  const figures = await gatherCrowd(installation, READERS);
  expect(figures.connected).toBe(READERS);
  expect(figures.eventP99Ms).toBeLessThanOrEqual(3000);
  expect(figures.restP95Ms).toBeLessThanOrEqual(300);
  expect(figures.goneAfterMs).toBeLessThanOrEqual(2000);
}, 120_000);
