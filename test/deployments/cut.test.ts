import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DeploymentStatus } from '../../src/entities/deployment.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { readCutLog } from '../support/cut-log.ts';
import { makeDeployment, makeEnvironment, restEngine } from '../support/deployments.ts';

const LINES = 3000;
const CUTS = 60;

let app: TestApp;
let twin: TestApp;
let ann: Person;
beforeAll(async () => {
  app = await TestApp.start();
  twin = await app.twin();
  await Promise.all([restEngine(app), restEngine(twin)]);
  ann = await app.register();
});
afterAll(async () => {
  await twin.stop();
  await app.stop();
});

test(`a log that is read over lines cut anywhere ${CUTS} times, at two instances and two doors, has no line missing and none twice`, async () => {
  const environment = await makeEnvironment(app, ann);
  const deployment = await makeDeployment(app, environment, { status: DeploymentStatus.RUNNING });
  const seed = Date.now() % 1_000_000;
  const { em } = app.app.database.orm;
  const urls = [app.url, twin.url];
  const read = await readCutLog({
    em,
    deployment,
    urls,
    token: ann.token,
    lines: LINES,
    cuts: CUTS,
    seed,
    stored: 500,
  });
  expect({ seed, read }).toEqual({ seed, read: Array.from({ length: LINES }, (_, index) => index + 2) });
}, 60_000);
