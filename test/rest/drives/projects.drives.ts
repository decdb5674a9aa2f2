import { makeServer } from '../../support/deployments.ts';
import type { GitServer } from '../../support/git-server.ts';
import type { Driver } from './driver.ts';
import { driveStream } from './streams.drives.ts';

interface Identified {
  id: string;
}

const shop = {
  'package.json': JSON.stringify({ name: 'shop', scripts: { start: 'node .' }, dependencies: { express: '5.0.0' } }),
  'index.js': "require('express')().listen(process.env.PORT)",
};
const STEPS = 7;

export async function driveProjects(driver: Driver, git: GitServer): Promise<void> {
  const repository = await git.publish('shop', shop);
  const { id } = (await driver.drive<Identified>('createProject', { body: { name: 'Shop', repository } })).body;
  await driveStream(driver, 'analysisStatus', { params: { id } }, async () => undefined, STEPS);
  await driver.drive('projects', { query: { status: 'ANALYZED', limit: '1' } });
  await driver.drive('project', { params: { id } });
  await driver.drive('analyzeRepo', { query: { repository } });
  await driver.refuse('analyzeRepo', 404, { query: { repository: `${git.url}/none.git` } });
  await driver.drive('updateProject', { params: { id }, body: { description: 'Sells', build: { port: 8080 } } });
  await driver.refuse('updateProject', 400, { params: { id }, body: { name: null } }, 'no name');
  await driver.drive('retryAnalysis', { params: { id } });
  await driveStream(driver, 'analysisStatus', { params: { id } }, async () => undefined, STEPS);
  await driveFinalize(driver, id);
  // Its server never answers: it would be tried for long.
  await driver.app.sql(
    `update deployment set status = 'FAILED', is_finished = true, fence = fence + 1, finished_at = now()
     where project_id = $1`,
    [id],
  );
  await driver.drive('deleteProject', { params: { id } });
}

async function driveFinalize(driver: Driver, id: string): Promise<void> {
  const variables = [{ key: 'COLOUR', value: 'blue', secret: false }];
  const server = await makeServer(driver.app, driver.person);
  const environment = { name: 'production', branch: 'main', serverId: server.id, variables };
  const body = { environment, deploy: true };
  const nowhere = { ...body, environment: { name: 'production' } };
  await driver.refuse('finalizeProject', 409, { params: { id }, body: nowhere }, 'no server');
  await driver.drive('finalizeProject', { params: { id }, body });
  await driver.refuse('finalizeProject', 409, { params: { id }, body }, 'twice');
}
