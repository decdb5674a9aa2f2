import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Deployment, DeploymentStatus, DeploymentTrigger } from '../../src/entities/deployment.ts';
import { type Environment, EnvironmentStatus } from '../../src/entities/environment.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { changeDeployment, makeDeployment, makeEnvironment, restEngine } from '../support/deployments.ts';
import { eventually } from '../support/eventually.ts';
import { ThreeDoors } from '../support/three-doors.ts';

const SHA = '0123456789abcdef0123456789abcdef01234567';

let app: TestApp;
let doors: ThreeDoors;
let ann: Person;
let environment: Environment;
let environmentId: string;
beforeAll(async () => {
  app = await TestApp.start();
  await restEngine(app);
  doors = await ThreeDoors.of(app);
  ann = await app.register();
});
afterAll(() => app.stop());
beforeEach(async () => {
  environment = await makeEnvironment(app, ann, { branch: 'main' });
  environmentId = environment.id;
});

const events = async (resourceId: string): Promise<[string, string, string][]> =>
  (
    await app.sql<{ kind: string; action: string; status: string }>(
      `select kind, action, data->>'status' as status from event where resource_id = $1 order by seq`,
      [resourceId],
    )
  ).map(({ kind, action, status }) => [kind, action, status]);

const keyOf = ({ id }: Pick<Deployment, 'id'>) => ({ environmentId, id });

describe.each(['rest', 'graphql'] as const)('at the door of %s', door => {
  const call = (name: Parameters<ThreeDoors['call']>[1], args: object, token = ann.token) =>
    doors.call(door, name, { ...args }, { token });
  const create = (args: object = {}) => call('Mutation.createDeployment', { environmentId, ...args });

  test('a deployment is asked for, told, and found in every list', async () => {
    const made = await create({ commit: SHA.toUpperCase(), rebuild: true });
    expect(made).toMatchObject({ code: undefined, status: door === 'rest' ? 202 : 200 });
    const deployment = made.value as Deployment;
    expect(deployment).toMatchObject({
      ...{ environmentId, number: 1, status: 'QUEUED', phase: null, isFinished: false, trigger: 'MANUAL' },
      ...{ actor: ann.id, branch: 'main', rebuild: true, serverId: environment.serverId },
    });
    if (door === 'rest')
      expect(made.headers.get('location')).toBe(`/api/v1/environments/${environmentId}/deployments/${deployment.id}`);
    expect((await call('Query.deployment', keyOf(deployment))).value).toMatchObject({ id: deployment.id });
    for (const [name, args] of [
      ['Query.environmentDeployments', { environmentId }],
      ['Query.deployments', { environmentId, status: 'QUEUED' }],
      ['Query.deployments', { projectId: environment.projectId }],
    ] as const)
      expect((await call(name, args)).value).toMatchObject([{ id: deployment.id }]);
    expect((await call('Query.deployments', { environmentId, status: 'LIVE' })).value).toEqual([]);
    expect(await events(deployment.id)).toEqual([['deployment_updated', 'CREATED', 'QUEUED']]);
    const [row] = await app.sql('select wanted_commit from deployment where id = $1', [deployment.id]);
    expect(row).toEqual({ wanted_commit: SHA });
  });

  test('the same wish waits once; a newer one overtakes it', async () => {
    const first = (await create()).value as Deployment;
    expect((await create()).value).toMatchObject({ id: first.id });
    const second = (await create({ commit: SHA })).value as Deployment;
    expect(second).toMatchObject({ number: 2, status: 'QUEUED' });
    expect((await call('Query.deployment', keyOf(first))).value).toMatchObject({
      ...{ status: 'SKIPPED', isFinished: true, supersededBy: second.id },
      finishedAt: expect.any(String),
    });
  });

  test.each([
    ['a short commit', { commit: '0123abc' }],
    ['an option in place of a commit', { commit: '--upload-pack=touch /tmp/x' }],
  ])('%s is bad input, by its name', async (_, args) => {
    expect(await create(args)).toMatchObject({ status: 400, code: 'BAD_INPUT', fields: [{ field: 'commit' }] });
  });

  test('without a server, or while it goes away, nothing is deployed', async () => {
    const nowhere = await makeEnvironment(app, ann, { serverId: null });
    const leaving = await makeEnvironment(app, ann, { status: EnvironmentStatus.DELETING });
    expect(await create({ environmentId: nowhere.id })).toMatchObject({ status: 409, code: 'NO_SERVER' });
    expect(await create({ environmentId: leaving.id })).toMatchObject({ status: 409, code: 'BEING_DELETED' });
  });

  test.each([
    ['ANALYSIS_FAILED', null, 'NOT_ANALYZED'],
    ['ANALYSIS_FAILED', 'DOCKERFILE', undefined],
    ['ANALYZED', null, undefined],
    ['DELETING', null, 'BEING_DELETED'],
  ])('of a project that is %s with the builder %s: %s', async (status, builder, code) => {
    await app.sql(
      `update project set status = $2, build = build || jsonb_build_object('builder', $3::text) where id = $1`,
      [environment.projectId, status, builder],
    );
    expect((await create()).code).toBe(code);
  });

  describe('cancelling', () => {
    const cancel = (deployment: Deployment) => call('Mutation.cancelDeployment', keyOf(deployment));

    test('what waits is cancelled at once', async () => {
      const deployment = (await create()).value as Deployment;
      const cancelled = await cancel(deployment);
      expect(cancelled.value).toMatchObject({ status: 'CANCELLED', isFinished: true, finishedAt: expect.any(String) });
      expect(await cancel(deployment)).toMatchObject({ status: 409, code: 'DEPLOYMENT_FINISHED' });
    });

    test('what runs is asked to end, once', async () => {
      const deployment = await makeDeployment(app, environment, { status: DeploymentStatus.RUNNING });
      const rung: string[] = [];
      const leave = await app.app.database.listener.listen('slipway_rows', key => rung.push(key));
      expect((await cancel(deployment)).value).toMatchObject({ status: 'CANCELLING', isFinished: false });
      const [{ at } = {}] = await app.sql<{ at: Date }>('select cancel_asked_at as at from deployment where id = $1', [
        deployment.id,
      ]);
      const again = await cancel(deployment);
      expect(again).toMatchObject({ code: undefined, value: { id: deployment.id, status: 'CANCELLING' } });
      expect(at).toBeInstanceOf(Date);
      const key = `cancel deployment ${deployment.id}`;
      // What is told comes in order: behind this nothing of before is on its way.
      await app.sql(`select pg_notify('slipway_rows', 'the last')`);
      await eventually(() => rung.includes('the last'));
      expect(rung.filter(each => each.startsWith('cancel'))).toEqual([key]);
      expect(await app.sql('select cancel_asked_at as at from deployment where id = $1', [deployment.id])).toEqual([
        { at },
      ]);
      leave();
    });

    test.each([
      [DeploymentStatus.LIVE, false],
      [DeploymentStatus.LIVE, true],
      [DeploymentStatus.FAILED, true],
      [DeploymentStatus.SUPERSEDED, true],
      [DeploymentStatus.SKIPPED, true],
    ])('what is %s (finished: %s) is not cancelled any more', async (status, isFinished) => {
      const deployment = await makeDeployment(app, environment, { status, isFinished });
      expect(await cancel(deployment)).toMatchObject({ status: 409, code: 'DEPLOYMENT_FINISHED' });
    });
  });

  describe('rolling back', () => {
    const commit = { sha: SHA, message: 'Sell more', author: 'Ann' };
    const release = (some: Partial<Deployment> = {}) =>
      makeDeployment(app, environment, {
        ...{ status: DeploymentStatus.SUPERSEDED, isFinished: true, image: 'slipway/x:y', commit, branch: 'old' },
        ...some,
      });
    const rollBack = (deployment: Deployment, args: object = {}) =>
      call('Mutation.rollbackDeployment', { ...keyOf(deployment), ...args });

    test('is a new deployment of that release, with its variables', async () => {
      const kept = await release();
      await makeDeployment(app, environment, { status: DeploymentStatus.LIVE, isFinished: true });
      const made = await rollBack(kept);
      expect(made.value).toMatchObject({
        ...{ number: 3, status: 'QUEUED', trigger: 'ROLLBACK', rollbackOf: kept.id, branch: 'old', commit },
        actor: ann.id,
      });
      expect((await rollBack(kept)).value).toMatchObject({ id: (made.value as Deployment).id });
      const withToday = await rollBack(kept, { variables: 'CURRENT' });
      expect(withToday.code).toBeUndefined();
      const today = withToday.value as Deployment;
      const rows = await app.sql(
        'select uses_current_variables as current, wanted_commit as commit from deployment where rollback_of = $1 order by number',
        [kept.id],
      );
      expect(rows).toEqual([
        { current: false, commit: SHA },
        { current: true, commit: SHA },
      ]);
      // A rollback is what somebody wants: a push that comes later does not take its place.
      await create();
      expect((await call('Query.deployment', keyOf(today))).value).toMatchObject({ status: 'QUEUED' });
    });

    test.each([
      ['one that was never live', { status: DeploymentStatus.FAILED }, 'NOT_DEPLOYED', 'never live'],
      ['one that still runs', { status: DeploymentStatus.RUNNING, isFinished: false }, 'NOT_DEPLOYED', 'never live'],
      ['what serves now', { status: DeploymentStatus.LIVE }, 'CONFLICT', 'serves now'],
      ['one whose image is gone', { image: null }, 'RELEASE_GONE', 'no longer kept'],
      ['one on another server', { serverId: null }, 'RELEASE_GONE', 'another server'],
    ])('%s cannot be brought back, and is told why', async (_, some, code, words) => {
      const refused = await rollBack(await release(some));
      expect(refused).toMatchObject({ status: 409, code, detail: expect.stringContaining(words) });
    });
  });

  test('what is of another environment or workspace is not there', async () => {
    const deployment = await makeDeployment(app, environment);
    const [bob, other] = [await app.register(), await makeEnvironment(app, ann)];
    const astray = { environmentId: other.id, id: deployment.id };
    for (const name of [
      'Query.deployment',
      'Query.deploymentLogs',
      'Mutation.cancelDeployment',
      'Mutation.rollbackDeployment',
    ] as const) {
      expect(await call(name, astray)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
      expect(await call(name, keyOf(deployment), bob.token)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    }
    expect(await call('Query.environmentDeployments', { environmentId }, bob.token)).toMatchObject({ status: 404 });
  });
});

test('a token for deploying may deploy, cancel and roll back; one for reading may read', async () => {
  const tokenFor = async (scope: string, bound: object) => {
    const body = { name: scope, scope, ...bound };
    return (await app.rest<{ token: string }>('POST', '/auth/tokens', { token: ann.token, body })).body.token;
  };
  const bound = { projectId: environment.projectId, environmentId };
  const [deploys, reads] = [await tokenFor('deploy', bound), await tokenFor('read', bound)];
  const path = `/environments/${environmentId}/deployments`;
  expect((await app.rest('POST', path, { token: reads, body: {} })).status).toBe(403);
  const made = await app.rest<Deployment>('POST', path, { token: deploys, body: {} });
  expect(made.status).toBe(202);
  expect((await app.rest('GET', `${path}/${made.body.id}`, { token: reads })).status).toBe(200);
  expect((await app.rest('POST', `${path}/${made.body.id}/cancel`, { token: deploys })).status).toBe(202);
  const other = await makeEnvironment(app, ann);
  expect((await app.rest('POST', `/environments/${other.id}/deployments`, { token: deploys, body: {} })).status).toBe(
    404,
  );
});

test('history is paged, newest first', async () => {
  for (let count = 0; count < 5; count += 1)
    await makeDeployment(app, environment, { status: DeploymentStatus.FAILED, isFinished: true });
  const numbers: number[] = [];
  let path: string | undefined = `/environments/${environmentId}/deployments?limit=2`;
  while (path !== undefined) {
    const page: { body: Deployment[]; headers: Headers } = await app.rest<Deployment[]>('GET', path, {
      token: ann.token,
    });
    numbers.push(...page.body.map(({ number }) => number));
    path = /<\/api\/v1([^>]*)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
  }
  expect(numbers).toEqual([5, 4, 3, 2, 1]);
});

test('GraphQL follows a deployment to all that belongs to it', async () => {
  const before = await makeDeployment(app, environment, { status: DeploymentStatus.SUPERSEDED, isFinished: true });
  const after = await makeDeployment(app, environment, {
    ...{ status: DeploymentStatus.LIVE, isFinished: true, trigger: DeploymentTrigger.ROLLBACK, rollbackOf: before.id },
  });
  await changeDeployment(app, before, { supersededBy: after.id }, 'Superseded');
  const query = `query ($id: ID!) { environmentDeployments(environmentId: $id) {
    number server { id } project { id } rollbackOfDeployment { number } supersededByDeployment { number }
    environment { currentDeployment { id } deployments(limit: 1) { number } } } }`;
  const answer = await app.graphql<{ environmentDeployments: object[] }>(query, { id: environmentId }, ann.token);
  const { serverId, projectId } = environment;
  const place = { server: { id: serverId }, project: { id: projectId } };
  expect(answer.data?.environmentDeployments).toMatchObject([
    { number: 2, ...place, rollbackOfDeployment: { number: 1 }, supersededByDeployment: null },
    { number: 1, rollbackOfDeployment: null, supersededByDeployment: { number: 2 } },
  ]);
  expect(answer.data?.environmentDeployments[0]).toMatchObject({
    environment: { currentDeployment: { id: after.id }, deployments: [{ number: 2 }] },
  });
});
