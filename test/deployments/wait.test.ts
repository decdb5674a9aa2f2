import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Deployment, DeploymentPhase, DeploymentStatus } from '../../src/entities/deployment.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { changeDeployment, makeDeployment, makeEnvironment, restEngine } from '../support/deployments.ts';
import { eventually } from '../support/eventually.ts';

let app: TestApp;
let ann: Person;
beforeAll(async () => {
  app = await TestApp.start();
  await restEngine(app);
  ann = await app.register();
});
afterAll(() => app.stop());

const running = async (): Promise<Deployment> =>
  makeDeployment(app, await makeEnvironment(app, ann), { status: DeploymentStatus.RUNNING });

/** Whoever starts takes up what was left: another instance is there before there is anything to take up. */
async function restingTwin(): Promise<TestApp> {
  await app.sql('delete from deployment');
  const twin = await app.twin();
  await restEngine(twin);
  return twin;
}

const pathOf = ({ environmentId, id }: Deployment, wait: number | string) =>
  `/environments/${environmentId}/deployments/${id}?wait=${wait}`;

const ask = (deployment: Deployment, wait: number | string, at = app) =>
  at.rest<Deployment>('GET', pathOf(deployment, wait), { token: ann.token });

/** Until so many wait, at whichever instance. */
const waiting = (count: number, at = app) => eventually(() => at.app.waitingRequests() === count);

const FINISHED = { status: DeploymentStatus.LIVE, isFinished: true };

test('it is answered when the deployment is finished, however many wait, and not before', async () => {
  const twin = await restingTwin();
  const deployment = await running();
  try {
    const answers = [...Array.from({ length: 50 }, () => ask(deployment, 60)), ask(deployment, 60, twin)];
    await waiting(50);
    await waiting(1, twin);
    await changeDeployment(app, deployment, { phase: DeploymentPhase.BUILDING }, 'Building');
    await changeDeployment(app, deployment, { status: DeploymentStatus.LIVE }, 'Live');
    expect(app.app.waitingRequests()).toBe(50);
    await changeDeployment(app, deployment, FINISHED, 'Finished');
    for (const { status, body } of await Promise.all(answers))
      expect({ status, body }).toMatchObject({ status: 200, body: { status: 'LIVE', isFinished: true } });
    expect([app.app.waitingRequests(), twin.app.waitingRequests()]).toEqual([0, 0]);
  } finally {
    await twin.stop();
  }
});

test('it is answered as it is when the seconds are over, or at once when it is finished', async () => {
  const deployment = await running();
  expect((await ask(deployment, 1)).body).toMatchObject({ status: 'RUNNING', isFinished: false });
  await changeDeployment(app, deployment, FINISHED, 'Finished');
  expect((await ask(deployment, 60)).body).toMatchObject({ isFinished: true });
  expect(app.app.waitingRequests()).toBe(0);
});

test('in GraphQL too', async () => {
  const deployment = await running();
  const query = `query ($e: ID!, $id: ID!) { deployment(environmentId: $e, id: $id, wait: 60) { status } }`;
  const answer = app.graphql(query, { e: deployment.environmentId, id: deployment.id }, ann.token);
  await waiting(1);
  await changeDeployment(app, deployment, FINISHED, 'Finished');
  expect(await answer).toMatchObject({ data: { deployment: { status: 'LIVE' } } });
});

test.each(['61', '-1', 'long'])('%s is no time to wait', async wait => {
  expect((await ask(await running(), wait)).status).toBe(400);
});

test('whoever goes away is let go', async () => {
  const deployment = await running();
  const headers = { authorization: `Bearer ${ann.token}` };
  const call = request(`${app.url}/api/v1${pathOf(deployment, 60)}`, { headers }).on('error', () => undefined);
  call.end();
  await waiting(1);
  call.destroy();
  await waiting(0);
});

test('one that is deleted while somebody waits is not there', async () => {
  const deployment = await running();
  const answer = ask(deployment, 60);
  await waiting(1);
  await app.sql('delete from deployment where id = $1', [deployment.id]);
  await app.sql(`select pg_notify('slipway_rows', $1)`, [`deployment:${deployment.id}`]);
  expect((await answer).status).toBe(404);
});

test('a service that stops answers those who wait', async () => {
  const twin = await restingTwin();
  const deployment = await running();
  const answer = ask(deployment, 60, twin);
  await waiting(1, twin);
  await twin.stop();
  expect((await answer).body).toMatchObject({ status: 'RUNNING' });
});
