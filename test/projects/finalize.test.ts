import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Person, TestApp } from '../support/create-app.ts';
import { makeServer, restEngine } from '../support/deployments.ts';
import { GitServer } from '../support/git-server.ts';
import { ThreeDoors } from '../support/three-doors.ts';
import { watchAnalysis } from '../support/watching.ts';

interface Finalized {
  project: { id: string; status: string };
  environment: { id: string; latestDeploymentId: string | null };
  deployment: { id: string } | null;
}

let git: GitServer;
let app: TestApp;
let doors: ThreeDoors;
let ann: Person;
let repository: string;
let serverId: string;

beforeAll(async () => {
  git = await GitServer.start();
  repository = await git.publish('shop', { 'package.json': '{"scripts":{"start":"node ."}}' });
  app = await TestApp.start({ OUTBOUND_ALLOW: '127.0.0.0/8', OUTBOUND_CA_FILE: git.caFile });
  doors = await ThreeDoors.of(app);
  ann = await app.register();
  await restEngine(app);
  serverId = (await makeServer(app, ann)).id;
}, 60_000);
afterAll(async () => {
  await app.stop();
  await git.stop();
});

async function create(address = repository): Promise<string> {
  const body = { name: 'Shop', repository: address };
  return (await app.rest<{ id: string }>('POST', '/projects', { token: ann.token, body })).body.id;
}

async function createAnalysed(address = repository): Promise<string> {
  const id = await create(address);
  await watchAnalysis(app, ann, id);
  return id;
}

/** What there is of a project, in all tables. */
async function traces(id: string): Promise<object | undefined> {
  const [row] = await app.sql<object>(
    `select p.status, p.version, p.name, p.build->>'port' as port,
       (select count(*)::int from environment where project_id = p.id) as environments,
       (select count(*)::int from variable) as variables,
       (select count(*)::int from deployment) as deployments,
       (select count(*)::int from event where project_id = p.id) as events
     from project p where p.id = $1`,
    [id],
  );
  return row;
}

describe.each(['rest', 'graphql'] as const)('finalising at the door of %s', door => {
  const finalize = (id: string, wish: object = {}) =>
    doors.call(
      door,
      'Mutation.finalizeProject',
      { id, environment: { name: 'Production' }, ...wish },
      { token: ann.token },
    );

  test('makes the project READY, with its environment, its variables and its first deployment', async () => {
    const id = await createAnalysed();
    const done = await finalize(id, {
      name: 'The Shop',
      build: { port: 8080 },
      environment: {
        name: 'Production EU',
        branch: 'main',
        serverId,
        autoDeploy: true,
        variables: [
          { key: 'SECRET', value: 'quotes " and $dollars\nand lines' },
          { key: 'COLOUR', value: 'blue', secret: false, scope: 'BOTH' },
        ],
        services: [{ name: 'db', kind: 'POSTGRES', version: '17' }],
        domain: { hostname: `${door}.shop.example.org` },
      },
      deploy: true,
    });
    expect(done).toMatchObject({ status: 200, code: undefined });
    const { project, environment, deployment } = done.value as Finalized;
    expect(project).toMatchObject({
      id,
      name: 'The Shop',
      slug: expect.stringMatching(/^shop/),
      status: 'READY',
      version: 2,
    });
    expect(environment).toMatchObject({
      projectId: id,
      name: 'Production EU',
      slug: 'production-eu',
      branch: 'main',
      status: 'IDLE',
      needsDeploy: true,
      autoDeploy: true,
      latestDeploymentId: deployment?.id,
    });
    expect(deployment).toMatchObject({
      number: 1,
      status: 'QUEUED',
      trigger: 'FINALIZE',
      branch: 'main',
      actor: ann.id,
    });
    expect(done.text).not.toContain('dollars');
    const variables = await app.sql<{ key: string; value: string }>(
      'select key, value, secret, scope from variable where environment_id = $1 order by key',
      [environment.id],
    );
    expect(variables).toMatchObject([
      { key: 'COLOUR', secret: false, scope: 'BOTH' },
      { key: 'SECRET', secret: true, scope: 'RUNTIME' },
    ]);
    expect(variables.every(({ value }) => value.startsWith('v1.'))).toBe(true);
  });

  test('needs no more than a name, and deploys only when told', async () => {
    const { deployment, environment } = (await finalize(await createAnalysed())).value as Finalized;
    expect(deployment).toBeNull();
    expect(environment).toMatchObject({ branch: null, autoDeploy: false, latestDeploymentId: null });
  });

  test('happens once', async () => {
    const id = await createAnalysed();
    await finalize(id);
    const before = await traces(id);
    expect(await finalize(id, { name: 'Again' })).toMatchObject({ status: 409, code: 'ALREADY_FINALIZED' });
    expect(await traces(id)).toEqual(before);
  });

  test('happens once, however many ask at the same moment', async () => {
    const id = await createAnalysed();
    const answers = await Promise.all(Array.from({ length: 5 }, () => finalize(id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
    expect(await traces(id)).toMatchObject({ environments: 1 });
  });

  test('waits for the analysis', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    git.intercept = async () => {
      asked.resolve();
      await promise;
      return false;
    };
    const id = await create();
    await asked.promise;
    expect(await finalize(id)).toMatchObject({ status: 409, code: 'ANALYSIS_RUNNING' });
    git.intercept = undefined;
    resolve();
    await watchAnalysis(app, ann, id);
    expect(await finalize(id)).toMatchObject({ status: 200 });
  });

  test('of what could not be analysed needs to be told how to build it', async () => {
    const id = await createAnalysed(`${git.url}/nowhere.git`);
    expect(await finalize(id)).toMatchObject({ status: 409, code: 'NOT_ANALYZED' });
    expect(await finalize(id, { build: { port: 3000 } })).toMatchObject({ status: 409, code: 'NOT_ANALYZED' });
    const build = { builder: 'DOCKERFILE', dockerfile: 'Dockerfile' };
    expect(await finalize(id, { build })).toMatchObject({ status: 200 });
  });

  test.each([
    ['an environment without a name', { environment: { name: '' } }, 'environment.name'],
    [
      'a key that is none',
      { environment: { name: 'a', variables: [{ key: 'A-B', value: '' }] } },
      'environment.variables.0.key',
    ],
    [
      'a value with a NUL',
      { environment: { name: 'a', variables: [{ key: 'A', value: 'a\0b' }] } },
      'environment.variables.0.value',
    ],
    [
      'a key that comes twice',
      { environment: { name: 'a', variables: ['1', '2'].map(value => ({ key: 'A', value })) } },
      'environment.variables',
    ],
    [
      'a service that is an option',
      { environment: { name: 'a', services: [{ name: '--x', kind: 'REDIS' }] } },
      'environment.services.0.name',
    ],
    [
      'a domain that is none',
      { environment: { name: 'a', domain: { hostname: 'a;b' } } },
      'environment.domain.hostname',
    ],
    ['a branch that is an option', { environment: { name: 'a', branch: '-x' } }, 'environment.branch'],
  ])('refuses %s', async (_, wish, field) => {
    const refused = await finalize(analysed, wish);
    expect(refused).toMatchObject({ status: 400, code: 'BAD_INPUT' });
    expect(refused.fields?.map(fault => fault.field)).toContain(field);
  });

  test('with a name that an environment of it has already is refused', async () => {
    const id = await createAnalysed();
    await app.rest('POST', '/environments', { token: ann.token, body: { projectId: id, name: 'production' } });
    expect(await finalize(id)).toMatchObject({ status: 409, code: 'NAME_TAKEN' });
    expect(await finalize(id, { environment: { name: 'Live' } })).toMatchObject({ status: 200 });
  });

  test('with a deployment needs a server to deploy to, and leaves no trace without one', async () => {
    const id = await createAnalysed();
    const before = await traces(id);
    expect(await finalize(id, { deploy: true })).toMatchObject({ status: 409, code: 'NO_SERVER' });
    expect(await traces(id)).toEqual(before);
  });

  test('on a server that does not exist is not found', async () => {
    const environment = { name: 'a', serverId: '0199c2f4-5d3a-7c41-9d6e-2f8b1a7c5e30' };
    expect(await finalize(analysed, { environment })).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });

  test('is all or nothing: what fails half-way leaves no trace', async () => {
    const id = await createAnalysed();
    const before = await traces(id);
    await app.sql(`create or replace function refuse() returns trigger language plpgsql as
      $$ begin if new.key = 'LAST' then raise exception 'half-way'; end if; return new; end $$`);
    await app.sql('create trigger refuse before insert on variable for each row execute function refuse()');
    try {
      const variables = ['FIRST', 'LAST'].map(key => ({ key, value: 'x' }));
      const failed = await finalize(id, {
        name: 'Half',
        build: { port: 1 },
        environment: { name: 'p', serverId, variables },
        deploy: true,
      });
      expect(failed).toMatchObject({ status: 500, code: 'INTERNAL' });
      expect(failed.text).not.toContain('half-way');
      expect(await traces(id)).toEqual(before);
    } finally {
      await app.sql('drop trigger refuse on variable');
    }
    const environment = { name: 'p', serverId };
    expect(await finalize(id, { environment, deploy: true })).toMatchObject({ status: 200 });
  });
});

let analysed: string;
beforeEach(async () => {
  analysed ??= await createAnalysed();
});
