import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Deployment, DeploymentStatus, DeploymentTrigger } from '../../src/entities/deployment.ts';
import { Environment } from '../../src/entities/environment.ts';
import { Project, ProjectStatus } from '../../src/entities/project.ts';
import { newId } from '../../src/id.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { makeServer, restEngine } from '../support/deployments.ts';
import { changeIn } from '../support/runs.ts';

/** The first screen of a dashboard, as the contract has it. */
const DASHBOARD = `{ me { id role } projects { id name environments { id name url status needsDeploy server { id name }
  currentDeployment { id commit { sha message } } latestDeployment { id status phase } } }
  servers { id name status } deployments(limit: 10) { id status } }`;

const MOST = 10;

let app: TestApp;
let ann: Person;
beforeAll(async () => {
  app = await TestApp.start();
  await restEngine(app);
  ann = await app.register();
});
afterAll(() => app.stop());

interface Screen {
  projects: { environments: { currentDeployment: object | null; server: object | null }[] }[];
  deployments: object[];
}

/** How many statements the database was asked for one request, by all who can ask it. */
async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  const { rows, orm } = app.app.database;
  let count = 0;
  const [query, connection] = [rows.query.bind(rows), orm.em.getConnection()];
  const execute = connection.execute.bind(connection);
  rows.query = (text, values) => {
    count += 1;
    return query(text, values);
  };
  connection.execute = (...words) => {
    count += 1;
    return execute(...words);
  };
  try {
    await work();
  } finally {
    Object.assign(rows, { query });
    Object.assign(connection, { execute });
  }
  return count;
}

/** All in one change: it is the reading that is looked at. */
async function grow(projects: number): Promise<void> {
  const { workspaceId } = ann;
  const { id: serverId } = await makeServer(app, ann);
  await changeIn(app, workspaceId, async ({ em }) => {
    for (let made = 0; made < projects; made += 1) {
      const [name, repository] = [newId(), 'https://git.invalid/x/y.git'];
      const project = em.create(Project, { workspaceId, name, slug: name, repository, status: ProjectStatus.READY });
      const place = { workspaceId, projectId: project.id, serverId };
      const environment = em.create(Environment, { ...place, name: 'production', slug: 'production' });
      const attempt = (number: number, status: DeploymentStatus) => {
        const trigger = DeploymentTrigger.MANUAL;
        const known = { ...place, environmentId: environment.id, number, trigger, isFinished: true };
        return em.create(Deployment, { ...known, status }).id;
      };
      environment.currentDeploymentId = attempt(1, DeploymentStatus.LIVE);
      environment.latestDeploymentId = attempt(2, DeploymentStatus.FAILED);
    }
  });
}

test.each([1, 100])('a screen of %s projects takes at most ten statements', async projects => {
  await grow(projects === 1 ? 1 : projects - 1);
  let screen: Screen | undefined;
  const ask = async () => {
    const answer = await app.graphql<Screen>(DASHBOARD, {}, ann.token);
    expect(answer.errors).toBeUndefined();
    screen = answer.data as Screen;
  };
  const count = await statementsOf(ask);
  expect(count).toBeGreaterThan(3);
  expect(count).toBeLessThanOrEqual(MOST);
  expect(screen?.projects).toHaveLength(Math.min(projects, 50));
  expect(screen?.deployments).toHaveLength(Math.min(2 * projects, 10));
  expect(screen?.projects[0]?.environments).toMatchObject([
    { server: { id: expect.any(String) }, currentDeployment: { id: expect.any(String) } },
  ]);
});
