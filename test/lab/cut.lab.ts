import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { type DeploymentAnswer, LocalBench } from './support/deploy-bench.ts';
import { PHASES, slowApp, slowEnvironment } from './support/kill-in-phase.ts';

let bench: LocalBench;
let environment: { id: string; path: string };
beforeAll(async () => {
  bench = await LocalBench.start();
  environment = await slowEnvironment(bench, 'cut');
});
afterAll(() => bench?.stop());

/** A deployment whose line is disturbed in a phase of it. */
async function disturbIn(phase: string, disturb: () => Promise<void>): Promise<DeploymentAnswer> {
  const { id, path } = environment;
  bench.git.push(path, slowApp(`${phase} ${performance.now()}`), phase);
  const { body } = await bench.rest<DeploymentAnswer>('POST', `/environments/${id}/deployments`, {});
  await eventually(async () => {
    const [row] = await bench.app.sql<{ phase: string }>('select phase from deployment where id = $1', [body.id]);
    return row?.phase === phase;
  }, 60_000);
  await disturb();
  return bench.finished(id, body.id);
}

const linesOf = async (deployment: DeploymentAnswer, text: string): Promise<number> =>
  (await bench.log(environment.id, deployment.id)).split('\n').filter(line => line.endsWith(text)).length;

describe('the line to the server', () => {
  test.each(PHASES)('is cut in %s: the deployment goes on, and nothing is done twice', async phase => {
    const deployment = await disturbIn(phase, () => bench.server.cutConnections());
    expect(deployment).toMatchObject({ status: 'LIVE', error: null });
    expect([await linesOf(deployment, 'step 4'), await linesOf(deployment, 'pre-deploy ran')]).toEqual([1, 1]);
    expect(await bench.page(environment.id)).toContain(`200 ${phase}`);
  });

  test('falls silent in mid-build: it is noticed, and the build is followed to its end', async () => {
    const deployment = await disturbIn('BUILDING', () => bench.server.fallSilent(18));
    expect(deployment).toMatchObject({ status: 'LIVE', error: null });
    expect(await linesOf(deployment, 'step 4')).toBe(1);
  });
});
