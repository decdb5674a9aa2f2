import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { EnvironmentBench } from '../support/environments.ts';

let bench: EnvironmentBench;
let projectId: string;

beforeAll(async () => {
  bench = await EnvironmentBench.start();
  projectId = await bench.project();
}, 60_000);
afterAll(() => bench.stop());

describe.each(['rest', 'graphql'] as const)('at the door of %s', door => {
  const create = (wish: object) => bench.call(door, 'Mutation.createEnvironment', { projectId, ...wish });
  const update = (id: string, change: object) => bench.call(door, 'Mutation.updateEnvironment', { id, ...change });

  test('an environment is made before its project is finalised, found, and listed', async () => {
    const serverId = await bench.server();
    const made = await create({ name: `Staging ${door}`, branch: 'next', serverId, build: { port: 8080 } });
    expect(made).toMatchObject({ status: door === 'rest' ? 201 : 200, code: undefined });
    const { id } = made.value as { id: string };
    if (door === 'rest') expect(made.headers.get('location')).toBe(`/api/v1/environments/${id}`);
    expect(made.value).toMatchObject({
      ...{ projectId, name: `Staging ${door}`, slug: `staging-${door}`, branch: 'next', serverId },
      ...{ status: 'IDLE', needsDeploy: true, autoDeploy: false, currentDeploymentId: null, version: 1 },
      build: { port: 8080, builder: null },
      healthCheck: { path: '/', intervalSeconds: 2, timeoutSeconds: 5, retries: 30 },
    });
    expect((await bench.call(door, 'Query.environment', { id })).value).toMatchObject({ id, slug: `staging-${door}` });
    const listed = await bench.call(door, 'Query.environments', { projectId, status: 'IDLE', limit: 100 });
    expect((listed.value as { id: string }[]).map(each => each.id)).toContain(id);
    const project = await bench.app.rest('GET', `/projects/${projectId}`, { token: bench.ann.token });
    expect(project.body).toMatchObject({ status: 'ANALYZED' });
  });

  test('a name is taken once in a project; its slug stays when it changes', async () => {
    const project = await bench.project();
    const first = (await create({ projectId: project, name: 'Live' })).value as { id: string };
    expect(await create({ projectId: project, name: ' live ' })).toMatchObject({ status: 409, code: 'NAME_TAKEN' });
    expect(await update(first.id, { name: 'Old' })).toMatchObject({ value: { name: 'Old', slug: 'live', version: 2 } });
    const second = await create({ projectId: project, name: 'Live' });
    expect(second.value).toMatchObject({ slug: 'live-2' });
    const { id } = second.value as { id: string };
    expect(await update(id, { name: 'OLD' })).toMatchObject({ status: 409, code: 'NAME_TAKEN' });
    expect(await update(id, { name: 'LIVE' })).toMatchObject({ status: 200, value: { name: 'LIVE' } });
  });

  test('of ten that want one name at the same moment one gets it', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => create({ name: `race ${door}` })));
    expect(answers.filter(({ code }) => code === undefined)).toHaveLength(1);
    expect(answers.filter(({ code }) => code === 'NAME_TAKEN')).toHaveLength(9);
    const others = await Promise.all(Array.from({ length: 5 }, () => bench.environment({ projectId })));
    const renamed = await Promise.all(others.map(({ id }) => update(id, { name: `second race ${door}` })));
    expect(renamed.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
  });

  test('without an analysis it has to be told how to build', async () => {
    const failed = await bench.project(`${bench.git.url}/nowhere.git`);
    const wish = { projectId: failed, name: 'Live' };
    expect(await create(wish)).toMatchObject({ status: 409, code: 'NOT_ANALYZED' });
    expect(await create({ ...wish, build: { port: 80 } })).toMatchObject({ status: 409, code: 'NOT_ANALYZED' });
    expect(await create({ ...wish, build: { builder: 'DOCKERFILE' } })).toMatchObject({ code: undefined });
  });

  test('is refused while the analysis runs, or for a project that goes', async () => {
    const [analysing, going] = [await bench.project(), await bench.project()];
    await bench.app.sql(`update project set status = 'ANALYZING' where id = $1`, [analysing]);
    await bench.app.sql(
      `update analysis set status = 'RUNNING' where id = (select analysis_id from project where id = $1)`,
      [analysing],
    );
    await bench.app.sql(`update project set status = 'DELETING' where id = $1`, [going]);
    expect(await create({ projectId: analysing, name: 'a' })).toMatchObject({ code: 'ANALYSIS_RUNNING' });
    expect(await create({ projectId: going, name: 'a' })).toMatchObject({ code: 'BEING_DELETED' });
  });

  test('one change changes what is sent, keeps the rest, clears by null, and says whether it needs a deployment', async () => {
    const environment = await bench.environment({ projectId });
    await bench.makeLive(environment, { serverId: await bench.server() });
    const { id } = environment;
    const plain = await update(id, { name: `Calm ${door}`, keepReleases: 9 });
    expect(plain.value).toMatchObject({ name: `Calm ${door}`, keepReleases: 9, needsDeploy: false, version: 2 });
    const changed = await update(id, {
      build: { port: 9000, startCommand: 'node .' },
      healthCheck: { path: '/up' },
      resources: { cpus: 0.5 },
      preDeployCommand: 'npm run migrate',
    });
    expect(changed.value).toMatchObject({
      build: { port: 9000, startCommand: 'node .', builder: null },
      healthCheck: { path: '/up', intervalSeconds: 2, timeoutSeconds: 5, retries: 30 },
      resources: { cpus: 0.5, memoryMb: null },
      ...{ preDeployCommand: 'npm run migrate', needsDeploy: true, version: 3, status: 'LIVE' },
    });
    const again = await update(id, {
      build: { port: null },
      healthCheck: { retries: 5 },
      resources: { memoryMb: 256 },
    });
    expect(again.value).toMatchObject({
      build: { port: null, startCommand: 'node .' },
      healthCheck: { path: '/up', retries: 5 },
      resources: { cpus: 0.5, memoryMb: 256 },
    });
    const cleared = await update(id, {
      build: null,
      healthCheck: { path: null },
      resources: null,
      preDeployCommand: null,
    });
    expect(cleared.value).toMatchObject({
      build: { startCommand: null },
      healthCheck: { path: '/', retries: 5 },
      resources: { cpus: null, memoryMb: null },
      preDeployCommand: null,
    });
  });

  test('what changes nothing needs no deployment', async () => {
    const environment = await bench.environment({ projectId, build: { port: 80 } });
    await bench.makeLive(environment, { serverId: await bench.server() });
    const same = { build: { port: 80 }, healthCheck: { path: '/' }, resources: { cpus: null } };
    expect((await update(environment.id, same)).value).toMatchObject({ needsDeploy: false });
  });

  test.each([
    ['a name of no letters', { name: '' }, 'name'],
    ['no name', { name: null }, 'name'],
    ['a branch that is an option', { branch: '--upload-pack=x' }, 'branch'],
    ['a path that is none', { healthCheck: { path: 'up' } }, 'healthCheck.path'],
    ['a path with a line end', { healthCheck: { path: '/up\r\nHost: x' } }, 'healthCheck.path'],
    ['no patience', { healthCheck: { timeoutSeconds: 0 } }, 'healthCheck.timeoutSeconds'],
    ['too little memory', { resources: { memoryMb: 1 } }, 'resources.memoryMb'],
    ['less than no processor', { resources: { cpus: -1 } }, 'resources.cpus'],
    ['no release at all', { keepReleases: 0 }, 'keepReleases'],
    ['a command of two lines', { preDeployCommand: 'a\nb' }, 'preDeployCommand'],
    ['a port that is none', { build: { port: 70_000 } }, 'build.port'],
  ])('refuses %s', async (_, change, field) => {
    const { id, version } = await bench.environment({ projectId });
    const refused = await update(id, change);
    expect(refused).toMatchObject({ status: 400, code: 'BAD_INPUT' });
    expect(refused.fields?.map(fault => fault.field)).toContain(field);
    expect((await bench.get(id)).version).toBe(version);
  });

  test('a change of an old version is refused', async () => {
    const { id } = await bench.environment({ projectId });
    const stale = await update(id, { keepReleases: 2, ifVersion: 7 });
    expect(stale).toMatchObject({ status: 412, code: 'VERSION_MISMATCH' });
  });

  test('nothing is changed in one that is being deleted', async () => {
    const { id } = await bench.environment({ projectId });
    await bench.app.sql(`update environment set status = 'DELETING' where id = $1`, [id]);
    const refused = { status: 409, code: 'BEING_DELETED' };
    expect(await update(id, { keepReleases: 2 })).toMatchObject(refused);
    const domain = { id, hostname: 'gone.example.org' };
    expect(await bench.call(door, 'Mutation.setEnvironmentDomain', domain)).toMatchObject(refused);
    expect(await bench.call(door, 'Mutation.setEnvironmentServices', { id, services: [] })).toMatchObject(refused);
    expect(await bench.call(door, 'Mutation.setVariables', { id, dotenv: 'A=1' })).toMatchObject(refused);
  });

  test('another branch must exist in the repository', async () => {
    const { id } = await bench.environment({ projectId });
    const follow = (branch: string) => bench.call(door, 'Mutation.setEnvironmentBranch', { id, branch });
    expect(await follow('main')).toMatchObject({ status: 200, value: { branch: 'main', version: 2 } });
    expect(await follow('nowhere')).toMatchObject({ status: 404, code: 'BRANCH_NOT_FOUND' });
    expect(await update(id, { branch: 'nowhere', name: 'Half' })).toMatchObject({
      status: 404,
      code: 'BRANCH_NOT_FOUND',
    });
    expect(await bench.get(id)).toMatchObject({ branch: 'main', version: 2 });
    expect(await update(id, { branch: null })).toMatchObject({ value: { branch: null } });
  });

  test('a provider that is away is told as such', async () => {
    const { id } = await bench.environment({ projectId });
    bench.git.intercept = (_, response) => {
      response.writeHead(503).end();
      return true;
    };
    try {
      const asked = await bench.call(door, 'Mutation.setEnvironmentBranch', { id, branch: 'main' });
      expect(asked).toMatchObject({ status: 502, code: 'UPSTREAM_FAILED' });
    } finally {
      bench.git.intercept = undefined;
    }
  });
});

test('of what changes all is told, with the fields of the environment and no more', async () => {
  const { id } = await bench.environment({ projectId });
  const { token } = bench.ann;
  await bench.app.rest('PATCH', `/environments/${id}`, { token, body: { keepReleases: 3 } });
  const events = await bench.app.sql<{ action: string; data: { keepReleases: number } }>(
    `select action, data from event where kind = 'environment_updated' and resource_id = $1 order by seq`,
    [id],
  );
  expect(events).toMatchObject([
    { action: 'CREATED', data: { id, keepReleases: 5 } },
    { action: 'UPDATED', data: { id, keepReleases: 3 } },
  ]);
  const audit = await bench.app.rest('GET', `/audit?resource=Environment:${id}`, { token });
  expect(audit.body).toMatchObject([{ action: 'updateEnvironment' }, { action: 'createEnvironment' }]);
});

test('a token bound to a project works in it, one bound to an environment makes no other', async () => {
  const [other, mine] = [await bench.project(), await bench.environment({ projectId })];
  const { token } = bench.ann;
  const bind = async (bounds: object) => {
    const body = { name: 'x', scope: 'write', ...bounds };
    return (await bench.app.rest<{ token: string }>('POST', '/auth/tokens', { token, body })).body.token;
  };
  const [inProject, inEnvironment] = [await bind({ projectId }), await bind({ projectId, environmentId: mine.id })];
  const make = (by: string, id: string, name: string) =>
    bench.app.rest('POST', '/environments', { token: by, body: { projectId: id, name } });
  expect(await make(inProject, projectId, 'bound')).toMatchObject({ status: 201 });
  expect(await make(inProject, other, 'bound')).toMatchObject({ status: 404 });
  expect(await make(inEnvironment, projectId, 'bound more')).toMatchObject({ status: 403 });
  const listed = await bench.app.rest<{ id: string }[]>('GET', '/environments', { token: inEnvironment });
  expect(listed.body.map(({ id }) => id)).toEqual([mine.id]);
});
