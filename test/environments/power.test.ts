import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { patience } from '../../src/services/machines.ts';
import { AppMachine } from '../support/app-machine.ts';
import { EnvironmentBench } from '../support/environments.ts';

const PATIENCE = 60_000;
patience.awayMs = 1000;

let bench: EnvironmentBench;
let machine: AppMachine;
let projectId: string;
let serverId: string;

beforeAll(async () => {
  bench = await EnvironmentBench.start();
  projectId = await bench.project();
}, PATIENCE);
afterAll(() => bench.stop());
beforeEach(async () => {
  machine = await AppMachine.start();
  serverId = await bench.server(machine.place);
});
afterEach(() => machine.stop());

const told = (id: string) =>
  bench.app.sql<{ status: string; reason: string | null }>(
    `select data->>'status' as status, data->>'statusReason' as reason from event
     where kind = 'environment_updated' and resource_id = $1 order by seq`,
    [id],
  );

describe.each(['rest', 'graphql'] as const)('at the door of %s', door => {
  const ask = (what: 'restart' | 'stop' | 'start', id: string) =>
    bench.call(door, `Mutation.${what}Environment` as const, { id });
  const done = async (what: 'restart' | 'stop' | 'start', id: string) => {
    const asked = await ask(what, id);
    expect(asked).toMatchObject({ status: door === 'rest' ? 202 : 200, code: undefined });
    const run = asked.value as { id: string };
    if (door === 'rest') expect(asked.headers.get('location')).toBe(`/api/v1/runs/${run.id}`);
    return bench.ended(run);
  };

  test(
    'what serves is stopped, started and restarted, and its status follows',
    async () => {
      const { id, deploymentId } = await machine.release(bench, projectId, serverId);
      const container = machine.docker.containers.get(`slipway-${deploymentId}`);
      expect(await done('stop', id)).toMatchObject({
        status: 'SUCCEEDED',
        steps: [{ name: 'stop', message: 'Stopped' }],
      });
      expect(container?.state).toBe('exited');
      expect(await bench.get(id)).toMatchObject({ status: 'STOPPED', currentDeploymentId: deploymentId });
      expect(await done('start', id)).toMatchObject({
        status: 'SUCCEEDED',
        steps: [{ name: 'start' }, { name: 'verify', message: '/ answered 200' }],
      });
      expect(container?.state).toBe('running');
      expect(await bench.get(id)).toMatchObject({ status: 'LIVE', statusReason: null });
      expect(await done('restart', id)).toMatchObject({ status: 'SUCCEEDED' });
      const verbs = machine.docker.told.map(each => each.split('/').at(-1));
      expect(verbs).toEqual(['stop', 'start', 'restart']);
      expect((await told(id)).map(({ status }) => status)).toEqual(['IDLE', 'STOPPED', 'LIVE', 'LIVE']);
    },
    PATIENCE,
  );

  test(
    'what does not answer after its start is told as down, and why',
    async () => {
      const { id } = await machine.release(bench, projectId, serverId);
      const healthCheck = { retries: 2, intervalSeconds: 1, path: '/up' };
      await bench.call(door, 'Mutation.updateEnvironment', { id, healthCheck });
      machine.status = 500;
      expect(await done('restart', id)).toMatchObject({
        status: 'FAILED',
        error: { code: 'HEALTH_TIMEOUT', message: '/up did not answer well: last 500' },
      });
      expect(await bench.get(id)).toMatchObject({ status: 'DOWN', statusReason: '/up did not answer well: last 500' });
    },
    PATIENCE,
  );

  test(
    'what is gone from the server cannot be started, but is stopped',
    async () => {
      const { id } = await machine.release(bench, projectId, serverId);
      machine.docker.containers.clear();
      expect(await done('start', id)).toMatchObject({ status: 'FAILED', error: { code: 'START_FAILED' } });
      expect(await done('stop', id)).toMatchObject({ status: 'SUCCEEDED' });
    },
    PATIENCE,
  );

  test('is refused where nothing is deployed, a deployment is under way, or all of it goes', async () => {
    const idle = await bench.environment({ projectId });
    expect(await ask('start', idle.id)).toMatchObject({ status: 409, code: 'NOT_DEPLOYED' });
    const busy = await machine.release(bench, projectId, serverId);
    await bench.app.sql('update deployment set is_finished = false where id = $1', [busy.deploymentId]);
    expect(await ask('restart', busy.id)).toMatchObject({ status: 409, code: 'DEPLOYMENT_RUNNING' });
    await bench.app.sql('update deployment set is_finished = true where id = $1', [busy.deploymentId]);
    await bench.app.sql(`update environment set status = 'DELETING' where id = $1`, [busy.id]);
    expect(await ask('stop', busy.id)).toMatchObject({ status: 409, code: 'BEING_DELETED' });
  });
});

test(
  'asked for twice before it is done, it is done once',
  async () => {
    const { id } = await machine.release(bench, projectId, serverId);
    const { promise, resolve } = Promise.withResolvers<void>();
    machine.docker.before = () => promise;
    const { token } = bench.ann;
    const ask = () => bench.app.rest<{ id: string }>('POST', `/environments/${id}/restart`, { token });
    const [one, two] = [await ask(), await ask()];
    expect(two.body.id).toBe(one.body.id);
    const stop = await bench.app.rest<{ id: string }>('POST', `/environments/${id}/stop`, { token });
    expect(stop.body.id).not.toBe(one.body.id);
    resolve();
    await bench.ended(stop.body);
    expect(machine.docker.told.map(each => each.split('/').at(-1))).toEqual(['restart', 'stop']);
    expect(await bench.get(id)).toMatchObject({ status: 'STOPPED' });
  },
  PATIENCE,
);

test(
  'a server that is away fails the run with what to do, and the status stays',
  async () => {
    const { id } = await machine.release(bench, projectId, await bench.server());
    const { body } = await bench.app.rest<{ id: string }>('POST', `/environments/${id}/stop`, {
      token: bench.ann.token,
    });
    expect(await bench.ended(body)).toMatchObject({ status: 'FAILED', error: { code: 'SERVER_UNREACHABLE' } });
    expect(await bench.get(id)).toMatchObject({ status: 'LIVE' });
  },
  PATIENCE,
);

test(
  'a worker that was away too long writes nothing',
  async () => {
    const { id } = await machine.release(bench, projectId, serverId);
    const { promise, resolve } = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    machine.docker.before = () => {
      asked.resolve();
      return promise;
    };
    const { body } = await bench.app.rest<{ id: string }>('POST', `/environments/${id}/stop`, {
      token: bench.ann.token,
    });
    await asked.promise;
    // Somebody else took it up and ended it.
    await bench.app.sql(`update run set fence = fence + 1, status = 'FAILED', finished_at = now() where id = $1`, [
      body.id,
    ]);
    resolve();
    const { boss } = bench.app.app.queue;
    const { eventually } = await import('../support/eventually.ts');
    await eventually(async () =>
      (await boss.findJobs('environment.work', { key: id })).every(({ state }) => state === 'completed'),
    );
    expect(await bench.get(id)).toMatchObject({ status: 'LIVE' });
  },
  PATIENCE,
);

test.each(['DELETING', 'DELETE_FAILED'])(
  'what is said of a deletion that came meanwhile stays said: %s',
  async status => {
    const { id } = await machine.release(bench, projectId, serverId);
    const { promise, resolve } = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    machine.docker.before = () => {
      asked.resolve();
      return promise;
    };
    const { token } = bench.ann;
    const { body } = await bench.app.rest<{ id: string }>('POST', `/environments/${id}/stop`, { token });
    await asked.promise;
    await bench.app.sql('update environment set status = $2 where id = $1', [id, status]);
    resolve();
    expect(await bench.ended(body)).toMatchObject({ status: 'SUCCEEDED' });
    expect(await bench.get(id)).toMatchObject({ status });
  },
  PATIENCE,
);

test('a token for deployments may, one for reading may not', async () => {
  const { id } = await machine.release(bench, projectId, serverId);
  const { token } = bench.ann;
  const make = async (scope: string) =>
    (await bench.app.rest<{ token: string }>('POST', '/auth/tokens', { token, body: { name: 'x', scope } })).body.token;
  const ask = async (by: string) => (await bench.app.rest('POST', `/environments/${id}/restart`, { token: by })).status;
  expect([await ask(await make('read')), await ask(await make('deploy'))]).toEqual([403, 202]);
});
