import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { RunKind } from '../../src/entities/run.ts';
import { patience } from '../../src/services/machines.ts';
import { AppMachine } from '../support/app-machine.ts';
import { EnvironmentBench } from '../support/environments.ts';
import { eventually } from '../support/eventually.ts';
import { changeIn } from '../support/runs.ts';

const PATIENCE = 90_000;
patience.awayMs = 1000;

let bench: EnvironmentBench;
let machine: AppMachine;
let projectId: string;
let serverId: string;

beforeAll(async () => {
  bench = await EnvironmentBench.start();
}, PATIENCE);
afterAll(() => bench.stop());
beforeEach(async () => {
  machine = await AppMachine.start();
  projectId = await bench.project();
  serverId = await bench.server(machine.place);
}, PATIENCE);
afterEach(() => machine.stop());

const slugOf = async (id: string) =>
  (await bench.app.rest<{ slug: string }>('GET', `/projects/${id}`, { token: bench.ann.token })).body.slug;

const statusOfServer = async (id: string) =>
  (await bench.app.rest<{ status: string }>('GET', `/servers/${id}`, { token: bench.ann.token })).body.status;

describe.each(['rest', 'graphql'] as const)('deleting an environment at the door of %s', door => {
  const remove = (id: string, wish: object = {}, token?: string) =>
    bench.call(door, 'Mutation.deleteEnvironment', { id, ...wish }, token);
  const gone = (id: string) => bench.call(door, 'Query.environment', { id });

  test(
    'takes it from its server, then for good, and keeps its data',
    async () => {
      const { id } = await machine.release(bench, projectId, serverId);
      await bench.call(door, 'Mutation.setVariables', { id, dotenv: 'A=1' });
      const asked = await remove(id);
      expect(asked).toMatchObject({ status: door === 'rest' ? 202 : 200, value: { kind: 'DELETE_ENVIRONMENT' } });
      expect(await bench.ended(asked.value as { id: string })).toMatchObject({
        status: 'SUCCEEDED',
        leftBehind: [],
        steps: [
          { name: 'server', message: expect.stringMatching(/^Removed from web/) },
          { name: 'rows', message: 'Removed' },
        ],
      });
      expect(machine.left(id)).toEqual(['volume']);
      expect(await gone(id)).toMatchObject({ status: 404 });
      const [rows] = await bench.app.sql(
        `select (select count(*)::int from variable where environment_id = $1) as variables,
        (select count(*)::int from deployment where environment_id = $1) as deployments`,
        [id],
      );
      expect(rows).toEqual({ variables: 0, deployments: 0 });
      const events = await bench.app.sql<{ action: string; status: string }>(
        `select action, data->>'status' as status from event where kind = 'environment_updated' and resource_id = $1 order by seq`,
        [id],
      );
      expect(events.slice(-2)).toEqual([
        { action: 'UPDATED', status: 'DELETING' },
        { action: 'DELETED', status: 'DELETING' },
      ]);
    },
    PATIENCE,
  );

  test(
    'takes its data, too, from an owner who names what is lost',
    async () => {
      const { id, slug } = await machine.release(bench, projectId, serverId);
      const confirm = `${await slugOf(projectId)}/${slug}`;
      expect(await remove(id, { deleteData: true })).toMatchObject({ status: 409, code: 'CONFIRMATION_NEEDED' });
      expect(await remove(id, { deleteData: true, confirm: slug })).toMatchObject({ code: 'CONFIRMATION_NEEDED' });
      const bob = await bench.app.join(bench.ann, 'MEMBER');
      expect(await remove(id, { deleteData: true, confirm }, bob.token)).toMatchObject({ status: 403 });
      const asked = await remove(id, { deleteData: true, confirm });
      expect(await bench.ended(asked.value as { id: string })).toMatchObject({ status: 'SUCCEEDED' });
      expect(machine.left(id)).toEqual([]);
    },
    PATIENCE,
  );

  test(
    'is refused while a deployment runs; what waits is cancelled',
    async () => {
      const { id, deploymentId } = await machine.release(bench, projectId, serverId);
      const running = `update deployment set is_finished = false, status = 'RUNNING' where id = $1`;
      await bench.app.sql(running, [deploymentId]);
      expect(await remove(id)).toMatchObject({ status: 409, code: 'DEPLOYMENT_RUNNING' });
      await bench.app.sql(`update deployment set status = 'QUEUED', started_at = null where id = $1`, [deploymentId]);
      machine.docker.before = () => new Promise(() => undefined);
      expect(await remove(id)).toMatchObject({ code: undefined });
      const events = await bench.app.sql(
        `select data->>'status' as status from event where kind = 'deployment_updated' and resource_id = $1 order by seq desc limit 1`,
        [deploymentId],
      );
      expect(events).toEqual([{ status: 'CANCELLED' }]);
      expect(await remove(id)).toMatchObject({ status: 409, code: 'BEING_DELETED' });
    },
    PATIENCE,
  );

  test(
    'fails where the server is away, and by force goes without it and says what is left',
    async () => {
      const away = await bench.server();
      const { id, deploymentId } = await machine.release(bench, projectId, away);
      const failed = await bench.ended((await remove(id)).value as { id: string });
      expect(failed).toMatchObject({ status: 'FAILED', error: { code: 'SERVER_UNREACHABLE' }, leftBehind: [] });
      await eventually(async () => (await bench.get(id)).status === 'DELETE_FAILED');
      const body = (await bench.get(id)) as unknown as { statusReason: string };
      expect(body.statusReason).toBe(failed.error?.message);
      expect(await bench.call(door, 'Mutation.updateEnvironment', { id, name: 'x' })).toMatchObject({
        code: 'BEING_DELETED',
      });
      const forced = await bench.ended((await remove(id, { force: true })).value as { id: string });
      expect(forced).toMatchObject({
        status: 'SUCCEEDED',
        steps: [{ message: expect.stringMatching(/^Left behind on web/) }, {}],
      });
      expect(forced.leftBehind).toContainEqual(
        expect.stringMatching(new RegExp(`^web \\d+: container slipway-${deploymentId}$`)),
      );
      expect(await gone(id)).toMatchObject({ status: 404 });
      expect(await bench.app.rest('DELETE', `/servers/${away}`, { token: bench.ann.token })).toMatchObject({
        status: 200,
      });
    },
    PATIENCE,
  );

  test(
    'by force ends what is being cancelled on a server that is gone, and nothing on one that answers',
    async () => {
      const stuck = `update deployment set status = 'CANCELLING', is_finished = false, finished_at = null where id = $1`;
      const lost = await machine.release(bench, projectId, await bench.server());
      await bench.app.sql(stuck, [lost.deploymentId]);
      expect(await remove(lost.id)).toMatchObject({ status: 409, code: 'DEPLOYMENT_RUNNING' });
      const { value } = await remove(lost.id, { force: true });
      const [told] = await bench.app.sql(
        `select data->>'status' as status, data->>'isFinished' as "isFinished" from event
         where kind = 'deployment_updated' and resource_id = $1 order by seq desc limit 1`,
        [lost.deploymentId],
      );
      expect(told).toEqual({ status: 'CANCELLED', isFinished: 'true' });
      expect(await bench.ended(value as { id: string })).toMatchObject({ status: 'SUCCEEDED' });
      expect(await gone(lost.id)).toMatchObject({ status: 404 });
      const near = await machine.release(bench, projectId, serverId);
      await eventually(async () => (await statusOfServer(serverId)) === 'READY');
      await bench.app.sql(stuck, [near.deploymentId]);
      expect(await remove(near.id, { force: true })).toMatchObject({ status: 409, code: 'DEPLOYMENT_RUNNING' });
    },
    PATIENCE,
  );

  test(
    'of one that never ran asks no server at all',
    async () => {
      const { id } = await bench.environment({ projectId, serverId: await bench.server() });
      const run = await bench.ended((await remove(id)).value as { id: string });
      expect(run).toMatchObject({ status: 'SUCCEEDED', steps: [{ message: 'Nothing of it is on a server' }, {}] });
    },
    PATIENCE,
  );

  test(
    'by force takes away what can be taken',
    async () => {
      const { id } = await machine.release(bench, projectId, serverId);
      const run = await bench.ended((await remove(id, { force: true })).value as { id: string });
      expect(run).toMatchObject({ status: 'SUCCEEDED', leftBehind: [] });
      expect(machine.left(id)).toEqual(['volume']);
    },
    PATIENCE,
  );
});

test(
  'a deletion that is cancelled before it begins never happened',
  async () => {
    const { id } = await machine.release(bench, projectId, serverId);
    await bench.app.sql(`update environment set status = 'DELETING', status_before = 'STOPPED' where id = $1`, [id]);
    const { workspaceId, token } = bench.ann;
    const { queue, services } = bench.app.app;
    const runId = await changeIn(bench.app, workspaceId, async unit => {
      return services.runs.start(unit, RunKind.DELETE_ENVIRONMENT, workspaceId, `Environment:${id}`).id;
    });
    expect((await bench.app.rest('POST', `/runs/${runId}/cancel`, { token })).status).toBe(200);
    await changeIn(bench.app, workspaceId, unit =>
      queue.enqueue(unit, 'environment.work', { runId, environmentId: id }),
    );
    await eventually(async () => (await bench.get(id)).status === 'STOPPED');
    expect(machine.left(id)).toHaveLength(4);
  },
  PATIENCE,
);

test(
  'what another deployment left on another server goes, too',
  async () => {
    const other = await AppMachine.start();
    try {
      const { id } = await machine.release(bench, projectId, serverId);
      other.docker.images.set(`slipway/${id}:old`, { 'slipway.environment': id });
      const otherId = await bench.server(other.place);
      await bench.app.sql(
        `insert into deployment (id, created_at, workspace_id, project_id, environment_id, server_id, number, status, trigger, is_finished, has_leftovers)
       values (gen_random_uuid(), now(), $1, $2, $3, $4, 7, 'FAILED', 'MANUAL', true, true)`,
        [bench.ann.workspaceId, projectId, id, otherId],
      );
      const { body } = await bench.app.rest<{ id: string }>('DELETE', `/environments/${id}`, {
        token: bench.ann.token,
      });
      expect(await bench.ended(body)).toMatchObject({ status: 'SUCCEEDED' });
      expect([machine.left(id), other.left(id)]).toEqual([['volume'], []]);
    } finally {
      await other.stop();
    }
  },
  PATIENCE,
);

test(
  'with its data it goes from every server that it ever was on',
  async () => {
    const other = await AppMachine.start();
    try {
      const { id, slug } = await machine.release(bench, projectId, serverId);
      other.docker.volumes.set(`data-${id}`, { 'slipway.environment': id });
      const otherId = await bench.server(other.place);
      await bench.app.sql(
        `insert into deployment (id, created_at, workspace_id, project_id, environment_id, server_id, number, status, trigger, is_finished)
       values (gen_random_uuid(), now(), $1, $2, $3, $4, 7, 'SUPERSEDED', 'MANUAL', true)`,
        [bench.ann.workspaceId, projectId, id, otherId],
      );
      const confirm = `${await slugOf(projectId)}/${slug}`;
      const path = `/environments/${id}?deleteData=true&confirm=${encodeURIComponent(confirm)}`;
      const { body } = await bench.app.rest<{ id: string }>('DELETE', path, { token: bench.ann.token });
      expect(await bench.ended(body)).toMatchObject({ status: 'SUCCEEDED' });
      expect([machine.left(id), other.left(id)]).toEqual([[], []]);
    } finally {
      await other.stop();
    }
  },
  PATIENCE,
);

describe.each(['rest', 'graphql'] as const)('deleting a project at the door of %s', door => {
  const remove = (wish: object = {}) => bench.call(door, 'Mutation.deleteProject', { id: projectId, ...wish });

  test(
    'takes all its environments from their servers first',
    async () => {
      const one = await machine.release(bench, projectId, serverId);
      const two = await machine.release(bench, projectId, serverId);
      const run = await bench.ended((await remove()).value as { id: string });
      expect(run).toMatchObject({ status: 'SUCCEEDED', steps: [{ name: 'servers' }, { name: 'rows' }] });
      expect([machine.left(one.id), machine.left(two.id)]).toEqual([['volume'], ['volume']]);
      expect(await bench.call(door, 'Query.project', { id: projectId })).toMatchObject({ status: 404 });
    },
    PATIENCE,
  );

  test(
    'with its data needs its name',
    async () => {
      const { id } = await machine.release(bench, projectId, serverId);
      expect(await remove({ deleteData: true })).toMatchObject({ status: 409, code: 'CONFIRMATION_NEEDED' });
      const asked = await remove({ deleteData: true, confirm: await slugOf(projectId) });
      expect(await bench.ended(asked.value as { id: string })).toMatchObject({ status: 'SUCCEEDED' });
      expect(machine.left(id)).toEqual([]);
    },
    PATIENCE,
  );

  test(
    'fails where a server is away, and by force goes without it',
    async () => {
      const { id } = await machine.release(bench, projectId, await bench.server());
      const failed = await bench.ended((await remove()).value as { id: string });
      expect(failed).toMatchObject({ status: 'FAILED', error: { code: 'SERVER_UNREACHABLE' } });
      await eventually(async () => (await bench.get(id)).status === 'DELETE_FAILED');
      const forced = await bench.ended((await remove({ force: true })).value as { id: string });
      expect(forced).toMatchObject({ status: 'SUCCEEDED' });
      expect(forced.leftBehind.length).toBeGreaterThan(2);
    },
    PATIENCE,
  );
});
