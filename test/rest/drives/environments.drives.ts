import type { GitServer } from '../../support/git-server.ts';
import { watchAnalysis } from '../../support/watching.ts';
import { driveAutoDeploy } from './auto-deploy.drives.ts';
import type { Driver } from './driver.ts';

interface Identified {
  id: string;
}

const shop = { 'package.json': '{"scripts":{"start":"node ."}}' };

export async function driveEnvironments(driver: Driver, git: GitServer): Promise<void> {
  const { app, person } = driver;
  const project = { name: 'Store', repository: await git.publish('store', shop) };
  const made = await app.rest<Identified>('POST', '/projects', { token: person.token, body: project });
  const projectId = made.body.id;
  await watchAnalysis(app, person, projectId);
  const wish = { projectId, name: 'Staging', branch: 'main', autoDeploy: false, build: { port: 8080 } };
  const { id } = (await driver.drive<Identified>('createEnvironment', { body: wish })).body;
  await driver.refuse('createEnvironment', 409, { body: wish }, 'a name that is taken');
  await driver.refuse('createEnvironment', 404, { body: { ...wish, projectId: id } }, 'an unknown project');
  await driver.drive('environments', { query: { projectId, status: 'IDLE', limit: '1' } });
  await driver.drive('environment', { params: { id } });
  await driveChanges(driver, id);
  await driveVariables(driver, id);
  await driveAutoDeploy(driver, { projectId, serverId: await makeServer(driver) });
  await drivePower(driver, id);
  await driver.refuse('deleteEnvironment', 409, { params: { id }, query: { deleteData: 'true' } }, 'unconfirmed');
  await driver.drive('deleteEnvironment', { params: { id }, query: { force: 'true' } });
  await driver.refuse('deleteEnvironment', 409, { params: { id } }, 'twice');
}

async function drivePower(driver: Driver, id: string): Promise<void> {
  const params = { id };
  await driver.refuse('restartEnvironment', 409, { params }, 'what never was deployed');
  await driver.app.sql(
    `with made as (
       insert into deployment (id, created_at, workspace_id, project_id, environment_id, server_id, number, status, trigger, is_finished)
       select gen_random_uuid(), now(), workspace_id, project_id, id, server_id, 1, 'LIVE', 'MANUAL', true from environment
       where id = $1 returning id)
     update environment set current_deployment_id = made.id, status = 'LIVE' from made where environment.id = $1`,
    [id],
  );
  await driver.drive('restartEnvironment', { params });
  await driver.drive('stopEnvironment', { params });
  await driver.drive('startEnvironment', { params });
}

async function driveChanges(driver: Driver, id: string): Promise<void> {
  const params = { id };
  const healthCheck = { path: '/up', retries: null };
  const body = { healthCheck, resources: { cpus: 0.5 }, preDeployCommand: 'true', keepReleases: 2, build: null };
  await driver.drive('updateEnvironment', { params, body });
  await driver.refuse('updateEnvironment', 404, { params, body: { branch: 'nowhere' } }, 'a branch there is not');
  await driver.drive('setEnvironmentBranch', { params, body: { branch: 'main' } });
  await driver.refuse('setEnvironmentBranch', 404, { params, body: { branch: 'nowhere' } }, 'a branch there is not');
  await driver.drive('moveEnvironment', { params, body: { serverId: await makeServer(driver) } });
  await driver.refuse('moveEnvironment', 404, { params, body: { serverId: id } }, 'an unknown server');
  await driver.drive('setEnvironmentServices', { params, body: { services: [{ name: 'db', kind: 'POSTGRES' }] } });
  const name = { hostname: 'store.example.org', ssl: 'OFF', forceHttps: false };
  await driver.drive('setEnvironmentDomain', { params, body: name });
  await driver.refuse('setEnvironmentDomain', 400, { params, body: { ...name, ssl: 'CUSTOM' } }, 'no certificate');
  await driver.drive('deleteEnvironmentDomain', { params, query: { hostname: name.hostname } });
}

async function driveVariables(driver: Driver, id: string): Promise<void> {
  const params = { id };
  const variables = [
    { key: 'TOKEN', value: 'secret' },
    { key: 'COLOUR', value: 'blue', secret: false, scope: 'BOTH' },
  ];
  await driver.drive('setVariables', { params, body: { variables } });
  await driver.refuse('setVariables', 400, { params, body: { dotenv: 'rubbish' } }, 'no line of a .env file');
  await driver.drive('variables', { params, query: { limit: '1' } });
  await driver.drive('deleteVariable', { params: { id, key: 'TOKEN' } });
}

/** One that never answers. */
export async function makeServer({ app, person }: Driver): Promise<string> {
  const body = { name: 'away', host: 'server.invalid', username: 'root' };
  return (await app.rest<Identified>('POST', '/servers', { token: person.token, body })).body.id;
}
