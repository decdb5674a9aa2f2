import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Installation } from '../support/installation.ts';
import { stallReader } from '../support/stalled-reader.ts';

const MEGABYTES = 24;

let installation: Installation;
beforeAll(async () => {
  installation = await Installation.start();
}, 60_000);
afterAll(() => installation.stop(), 60_000);

test('F14: a reader that does not read is closed, costs no memory, disturbs nobody, and can resume', async () => {
  const figures = await stallReader(installation, MEGABYTES);
  expect(figures).toMatchObject({ missedByOthers: 0, missedOnResume: 0 });
  expect(figures.rssGrownMegabytes).toBeLessThanOrEqual(50);
}, 120_000);
