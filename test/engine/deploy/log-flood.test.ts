import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DeploymentStatus } from '../../../src/entities/deployment.ts';
import { type Person, TestApp } from '../../support/create-app.ts';
import { makeDeployment, makeEnvironment, restEngine } from '../../support/deployments.ts';

const fileOf = (name: string) => fileURLToPath(new URL(`../../support/${name}`, import.meta.url));

let app: TestApp;
let ann: Person;
beforeAll(async () => {
  app = await TestApp.start();
  await restEngine(app);
  ann = await app.register();
});
afterAll(() => app.stop());

test('a build that prints 100 MB neither stalls nor takes more than 80 MB, and its log is bounded', async () => {
  const status = DeploymentStatus.RUNNING;
  const [warmUp, deployment] = await Promise.all(
    [1, 2].map(async () => makeDeployment(app, await makeEnvironment(app, ann), { status })),
  );
  const words = ['--no-warnings', '--import', fileOf('swc-loader.mjs'), fileOf('flood-program.ts')];
  const given = [app.databaseUrl, warmUp?.id ?? '', deployment?.id ?? '', '100'];
  const { stdout } = await promisify(execFile)(process.execPath, [...words, ...given]);
  const figures = JSON.parse(stdout) as { seconds: number; rssGrownMegabytes: number; loopP99Ms: number };
  const [stored] = await app.sql<{ lines: number; bytes: number }>(
    `select count(*)::int as lines, sum(octet_length(message))::int as bytes from deployment_message where deployment_id = $1`,
    [deployment?.id],
  );
  // About five seconds and 20 MB where nothing else runs.
  expect(figures.rssGrownMegabytes).toBeLessThanOrEqual(80);
  expect(figures.seconds).toBeLessThan(90);
  expect(stored?.lines).toBeLessThan(201_000);
  expect(stored?.bytes).toBeLessThan(34 * 1024 * 1024);
}, 120_000);
