import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { EnvironmentBench } from '../support/environments.ts';
import { SshMachine } from '../support/ssh-machine.ts';

let bench: EnvironmentBench;
let projectId: string;

beforeAll(async () => {
  bench = await EnvironmentBench.start();
  projectId = await bench.project();
}, 60_000);
afterAll(() => bench.stop());

/** A deployment that began there and was asked to end. */
async function cancelling({ id }: { id: string }, serverId: string): Promise<string> {
  const [made] = await bench.app.sql<{ id: string }>(
    `insert into deployment (id, created_at, workspace_id, project_id, environment_id, server_id, number, status, trigger,
       is_finished, phase, phases, started_at, cancel_asked_at)
     select gen_random_uuid(), now(), $1, $2, $3, $4, 500 + (random() * 400)::int, 'CANCELLING', 'MANUAL', false, 'BUILDING', '[]', now(), now()
     returning id`,
    [bench.ann.workspaceId, projectId, id, serverId],
  );
  return made?.id ?? '';
}

describe.each(['rest', 'graphql'] as const)('another server at the door of %s', door => {
  const move = (id: string, wish: object) => bench.call(door, 'Mutation.moveEnvironment', { id, ...wish });
  const update = (id: string, wish: object) => bench.call(door, 'Mutation.updateEnvironment', { id, ...wish });

  test('is simply the server where nothing runs', async () => {
    const { id } = await bench.environment({ projectId });
    const [first, second] = [await bench.server(), await bench.server()];
    const moved = await move(id, { serverId: first });
    expect(moved).toMatchObject({ status: 200, value: { serverId: first, latestDeploymentId: null, version: 2 } });
    expect(moved.headers.get('location')).toBeNull();
    expect(await update(id, { serverId: second })).toMatchObject({ value: { serverId: second } });
    expect(await update(id, { serverId: null })).toMatchObject({ value: { serverId: null } });
    expect(await bench.deployments(id)).toEqual([]);
  });

  test.each(['move', 'update'] as const)('is deployed to first by %s where something is live', async how => {
    const environment = await bench.environment({ projectId });
    const { id } = environment;
    const [first, second] = [await bench.server(), await bench.server()];
    const current = await bench.makeLive(environment, { serverId: first });
    const moved = await (how === 'move' ? move : update)(id, { serverId: second });
    const { latestDeploymentId } = moved.value as { latestDeploymentId: string };
    expect(moved.value).toMatchObject({ serverId: first, currentDeploymentId: current, status: 'LIVE' });
    if (door === 'rest') expect(moved.status).toBe(how === 'move' ? 202 : 200);
    const place =
      door === 'rest' && how === 'move' ? `/api/v1/environments/${id}/deployments/${latestDeploymentId}` : null;
    expect(moved.headers.get('location')).toBe(place);
    const [queued, live] = await bench.deployments(id);
    expect(queued).toMatchObject({ id: latestDeploymentId, trigger: 'MOVE', serverId: second, branch: 'main' });
    expect(queued?.wantedCommit).toBe('c'.repeat(40));
    expect(live).toMatchObject({ id: current, status: 'LIVE', serverId: first });
  });

  test('that is the same again changes nothing', async () => {
    const environment = await bench.environment({ projectId });
    const serverId = await bench.server();
    const current = await bench.makeLive(environment, { serverId });
    expect((await move(environment.id, { serverId })).value).toMatchObject({ latestDeploymentId: current });
    expect(await bench.deployments(environment.id)).toHaveLength(1);
  });

  test('waits for nobody twice: the same is queued once, another one takes its place', async () => {
    const environment = await bench.environment({ projectId });
    const { id } = environment;
    const [first, second, third] = [await bench.server(), await bench.server(), await bench.server()];
    await bench.makeLive(environment, { serverId: first });
    // As if a deployment had begun: what is queued waits.
    await bench.app.sql(`update deployment set is_finished = false where environment_id = $1`, [id]);
    const one = (await move(id, { serverId: second })).value as { latestDeploymentId: string };
    const two = (await move(id, { serverId: second })).value as { latestDeploymentId: string };
    expect(two.latestDeploymentId).toBe(one.latestDeploymentId);
    await move(id, { serverId: third });
    const [newest, overtaken] = await bench.deployments(id);
    expect(newest).toMatchObject({ serverId: third });
    expect(overtaken).toMatchObject({ status: 'SKIPPED', supersededBy: newest?.id });
  });

  test('is refused while the first deployment is on its way to the old one', async () => {
    const environment = await bench.environment({ projectId });
    const [first, second] = [await bench.server(), await bench.server()];
    const running = await bench.makeLive(environment, { serverId: first });
    await bench.app.sql(`update environment set current_deployment_id = null where id = $1`, [environment.id]);
    await bench.app.sql(`update deployment set status = 'RUNNING', is_finished = false where id = $1`, [running]);
    expect(await move(environment.id, { serverId: second })).toMatchObject({ status: 409, code: 'DEPLOYMENT_RUNNING' });
    expect(await update(environment.id, { serverId: null })).toMatchObject({ status: 409, code: 'DEPLOYMENT_RUNNING' });
  });

  test('cannot be none while something runs there, and must be one that there is', async () => {
    const environment = await bench.environment({ projectId });
    await bench.makeLive(environment, { serverId: await bench.server() });
    const none = await update(environment.id, { serverId: null });
    expect(none).toMatchObject({ status: 400, fields: [{ field: 'serverId' }] });
    const serverId = '0199c2f4-5d3a-7c41-9d6e-2f8b1a7c5e30';
    expect(await move(environment.id, { serverId })).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });

  test('by force forgets what is on a server that does not answer, and says what', async () => {
    const environment = await bench.environment({ projectId });
    const { id } = environment;
    const [gone, fresh] = [await bench.server(), await bench.server()];
    const current = await bench.makeLive(environment, { serverId: gone });
    const moved = await move(id, { serverId: fresh, force: true });
    expect(moved.value).toMatchObject({
      serverId: fresh,
      currentDeploymentId: null,
      status: 'IDLE',
      needsDeploy: true,
    });
    expect(moved.text).toMatch(new RegExp(`Left behind on web \\d+: container slipway-${current}`));
    const [queued, forgotten] = await bench.deployments(id);
    expect(queued).toMatchObject({ trigger: 'MOVE', serverId: fresh, wantedCommit: 'c'.repeat(40) });
    // Should the server come back, what is left there is cleared away.
    const aside = { status: 'SUPERSEDED', supersededBy: queued?.id, image: null, hasLeftovers: true };
    expect(forgotten).toMatchObject(aside);
    // Nothing holds the old server any more.
    expect(await bench.app.rest('DELETE', `/servers/${gone}`, { token: bench.ann.token })).toMatchObject({
      status: 200,
    });
  });

  test('by force ends what is being cancelled on a server that is gone', async () => {
    const environment = await bench.environment({ projectId });
    const { id } = environment;
    const [gone, fresh] = [await bench.server(), await bench.server()];
    const current = await bench.makeLive(environment, { serverId: gone });
    const stuck = await cancelling(environment, gone);
    expect(await move(id, { serverId: fresh })).toMatchObject({ value: { serverId: gone } });
    const moved = await move(id, { serverId: fresh, force: true });
    expect(moved.value).toMatchObject({ serverId: fresh, currentDeploymentId: null, status: 'IDLE' });
    expect(moved.text).toMatch(new RegExp(`Left behind on web \\d+: container slipway-${stuck}`));
    expect(moved.text).toMatch(new RegExp(`Left behind on web \\d+: container slipway-${current}`));
    const rows = await bench.deployments(id);
    expect(rows.find(each => each.id === stuck)).toMatchObject({ status: 'CANCELLED', hasLeftovers: true });
    expect(rows.find(each => each.id === current)).toMatchObject({ status: 'SUPERSEDED', hasLeftovers: true });
    expect(rows[0]).toMatchObject({ trigger: 'MOVE', serverId: fresh, status: 'QUEUED' });
  });

  test('by force is simply the server where the first deployment was being cancelled on one that is gone', async () => {
    const [gone, fresh] = [await bench.server(), await bench.server()];
    const environment = await bench.environment({ projectId, serverId: gone });
    const stuck = await cancelling(environment, gone);
    expect(await move(environment.id, { serverId: fresh })).toMatchObject({ status: 409, code: 'DEPLOYMENT_RUNNING' });
    expect(await move(environment.id, { serverId: fresh, force: true })).toMatchObject({ value: { serverId: fresh } });
    expect(await bench.deployments(environment.id)).toMatchObject([{ id: stuck, status: 'CANCELLED' }]);
  });

  test('by force ends a move to a server that is gone, and what is live stays', async () => {
    const environment = await bench.environment({ projectId });
    const { id } = environment;
    const machine = await SshMachine.start();
    try {
      const there = await bench.server({ host: '127.0.0.1', port: machine.port, username: 'root' });
      const current = await bench.makeLive(environment, { serverId: there });
      const stuck = await cancelling(environment, await bench.server());
      const moved = await move(id, { serverId: there, force: true });
      expect(moved.value).toMatchObject({ serverId: there, currentDeploymentId: current, status: 'LIVE' });
      expect(moved.text).toContain(`container slipway-${stuck}`);
      const rows = await bench.deployments(id);
      expect(rows.find(each => each.id === stuck)).toMatchObject({ status: 'CANCELLED' });
      // One on a server that answers ends by itself.
      const other = await cancelling(environment, there);
      await move(id, { serverId: await bench.server(), force: true });
      expect((await bench.deployments(id)).find(each => each.id === other)).toMatchObject({ status: 'CANCELLING' });
    } finally {
      await machine.stop();
    }
  });

  test('by force forgets nothing where the old one answers', async () => {
    const machine = await SshMachine.start();
    try {
      const environment = await bench.environment({ projectId });
      const there = await bench.server({ host: '127.0.0.1', port: machine.port, username: 'root' });
      const current = await bench.makeLive(environment, { serverId: there });
      const moved = await move(environment.id, { serverId: await bench.server(), force: true });
      expect(moved.value).toMatchObject({ serverId: there, currentDeploymentId: current, status: 'LIVE' });
      expect(moved.text).not.toContain('Left behind');
    } finally {
      await machine.stop();
    }
  });
});

test('a server that something moves to cannot be deleted', async () => {
  const environment = await bench.environment({ projectId });
  const [first, second] = [await bench.server(), await bench.server()];
  await bench.makeLive(environment, { serverId: first });
  const { token } = bench.ann;
  await bench.app.rest('PATCH', `/environments/${environment.id}/server`, { token, body: { serverId: second } });
  await bench.app.sql(
    `update deployment set is_finished = false, status = 'QUEUED' where trigger = 'MOVE' and server_id = $1`,
    [second],
  );
  expect(await bench.app.rest('DELETE', `/servers/${second}`, { token })).toMatchObject({
    status: 409,
    body: { code: 'IN_USE', usedBy: [environment.name] },
  });
});
