import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { Installation } from '../support/installation.ts';

/** Loaded before the service: once it listens for such failures, one happens. */
const PROGRAM = `process.on('newListener', name => {
  if (name === 'unhandledRejection') setTimeout(() => Promise.reject(new Error('nobody waits')), 100);
})`;
const FAILURE = `data:text/javascript;base64,${Buffer.from(PROGRAM).toString('base64')}`;

let installation: Installation;
beforeAll(async () => {
  installation = await Installation.start({ env: { NODE_OPTIONS: `--import=${FAILURE}` } });
}, 60_000);
afterAll(() => installation.stop(), 60_000);

test('a failure that nobody waits for is told in the log and ends nothing', async () => {
  const { service } = installation;
  const line = await eventually(() =>
    service.lines.find(({ msg }) => msg === 'Something failed that nobody waited for'),
  );
  expect(line).toMatchObject({ level: 50, err: { message: 'nobody waits' } });
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
});
