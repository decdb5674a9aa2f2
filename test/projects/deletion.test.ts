import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { RunKind } from '../../src/entities/run.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { eventually } from '../support/eventually.ts';
import { GitServer } from '../support/git-server.ts';
import { changeIn } from '../support/runs.ts';
import { SseClient } from '../support/sse-client.ts';
import { ThreeDoors } from '../support/three-doors.ts';
import { watchAnalysis } from '../support/watching.ts';

interface Told {
  kind: string;
  action: string;
  resourceId: string;
  data: { status: string };
}

let git: GitServer;
let app: TestApp;
let doors: ThreeDoors;
let ann: Person;
let repository: string;

beforeAll(async () => {
  git = await GitServer.start();
  repository = await git.publish('shop', { 'package.json': '{"scripts":{"start":"node ."}}' });
  app = await TestApp.start({ OUTBOUND_ALLOW: '127.0.0.0/8', OUTBOUND_CA_FILE: git.caFile });
  doors = await ThreeDoors.of(app);
}, 60_000);
afterAll(async () => {
  await app.stop();
  await git.stop();
});
beforeEach(async () => {
  ann = await app.register();
});

async function createReady(): Promise<string> {
  const body = { name: 'Shop', repository };
  const { id } = (await app.rest<{ id: string }>('POST', '/projects', { token: ann.token, body })).body;
  await watchAnalysis(app, ann, id);
  const wish = { environment: { name: 'production', variables: [{ key: 'A', value: 'b' }] } };
  await app.rest('POST', `/projects/${id}/finalize`, { token: ann.token, body: wish });
  return id;
}

const listen = () => SseClient.open(`${app.url}/api/v1/events`, { token: ann.token });

/** Events until one of them fits. */
async function until(stream: SseClient, fits: (event: Told) => boolean): Promise<Told[]> {
  const told: Told[] = [];
  for (;;) {
    const [event] = await stream.read<Told>(1);
    if (event) told.push(event);
    if (event && fits(event)) return told;
  }
}

const runIs = (status: string) => (event: Told) => event.kind === 'run_updated' && event.data.status === status;

describe.each(['rest', 'graphql'] as const)('deleting a project at the door of %s', door => {
  const remove = (id: string) => doors.call(door, 'Mutation.deleteProject', { id }, { token: ann.token });

  test('is accepted as a run, carried out, and told', async () => {
    const id = await createReady();
    const stream = await listen();
    const accepted = await remove(id);
    expect(accepted).toMatchObject({
      status: door === 'rest' ? 202 : 200,
      value: { kind: 'DELETE_PROJECT', status: 'QUEUED' },
    });
    const run = accepted.value as { id: string };
    if (door === 'rest') expect(accepted.headers.get('location')).toBe(`/api/v1/runs/${run.id}`);
    const told = await until(stream, runIs('SUCCEEDED'));
    await stream.cut();
    expect(
      told.filter(({ kind }) => kind !== 'run_updated').map(({ kind, action, data }) => [kind, action, data.status]),
    ).toEqual([
      ['environment_updated', 'UPDATED', 'DELETING'],
      ['project_updated', 'UPDATED', 'DELETING'],
      ['environment_updated', 'DELETED', 'DELETING'],
      ['project_updated', 'DELETED', 'DELETING'],
    ]);
    expect(await app.rest('GET', `/projects/${id}`, { token: ann.token })).toMatchObject({ status: 404 });
    const finished = await app.rest('GET', `/runs/${run.id}`, { token: ann.token });
    expect(finished.body).toMatchObject({
      status: 'SUCCEEDED',
      steps: [
        { name: 'servers', message: 'production: Nothing of it is on a server' },
        { name: 'rows', message: 'Removed' },
      ],
    });
    const [left] = await app.sql('select (select count(*)::int from environment where project_id = $1) as count', [id]);
    expect(left).toEqual({ count: 0 });
  });

  test('is refused while a deployment runs', async () => {
    const id = await createReady();
    await app.sql(
      `insert into deployment (id, created_at, workspace_id, project_id, environment_id, number, status, trigger, started_at)
       select gen_random_uuid(), now(), workspace_id, project_id, id, 1, 'RUNNING', 'MANUAL', now() from environment
       where project_id = $1`,
      [id],
    );
    expect(await remove(id)).toMatchObject({ status: 409, code: 'DEPLOYMENT_RUNNING' });
    await app.sql(`update deployment set status = 'FAILED', is_finished = true where workspace_id = $1`, [
      ann.workspaceId,
    ]);
    expect(await remove(id)).toMatchObject({ code: undefined });
  });

  test('that failed can be asked for again, and nothing else meanwhile', async () => {
    const id = await createReady();
    await app.sql(`create or replace function keep() returns trigger language plpgsql as
      $$ begin raise exception 'not yet'; end $$`);
    await app.sql('create trigger keep before delete on project for each row execute function keep()');
    const stream = await listen();
    try {
      await remove(id);
      const failed = (event: Told) => event.kind === 'project_updated' && event.data.status === 'DELETE_FAILED';
      const told = await until(stream, failed);
      expect(told.filter(runIs('FAILED'))).toHaveLength(1);
      expect(JSON.stringify(told)).not.toContain('not yet');
    } finally {
      await app.sql('drop trigger keep on project');
    }
    const { token } = ann;
    const refused = { status: 409, body: { code: 'BEING_DELETED' } };
    expect(await app.rest('PUT', `/projects/${id}`, { token, body: { name: 'x' } })).toMatchObject(refused);
    expect(await app.rest('POST', `/projects/${id}/retry-analysis`, { token })).toMatchObject(refused);
    await remove(id);
    await until(stream, ({ kind, action }) => kind === 'project_updated' && action === 'DELETED');
    await stream.cut();
  });
});

test('a deletion that is cancelled before it begins never happened', async () => {
  const id = await createReady();
  const { queue, services } = app.app;
  await app.sql(`update project set status = 'DELETING' where id = $1`, [id]);
  const runId = await changeIn(app, ann.workspaceId, async unit => {
    return services.runs.start(unit, RunKind.DELETE_PROJECT, ann.workspaceId, `Project:${id}`).id;
  });
  const stream = await listen();
  expect((await app.rest('POST', `/runs/${runId}/cancel`, { token: ann.token })).status).toBe(200);
  await changeIn(app, ann.workspaceId, unit => queue.enqueue(unit, 'project.delete', { runId, projectId: id }));
  await until(stream, ({ kind, data }) => kind === 'project_updated' && data.status === 'READY');
  await stream.cut();
  const { body } = await app.rest('GET', `/projects/${id}`, { token: ann.token });
  expect(body).toMatchObject({ status: 'READY' });
});

test('an analysis that ends while its project is removed is waited for, and neither stops the other', async () => {
  const { token } = ann;
  const fetched = Promise.withResolvers<boolean>();
  git.intercept = () => fetched.promise;
  const made = await app.rest<{ id: string }>('POST', '/projects', { token, body: { name: 'Shop', repository } });
  await app.sql(`create or replace function wait() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock(4711); return old; end $$`);
  await app.sql('create trigger wait before delete on project for each row execute function wait()');
  await app.sql('select pg_advisory_lock(4711)');
  const waitsFor = (kind: string) => eventually(async () => (await app.sql(WAITING, [kind.split(' ')])).length > 0);
  const asked = await app.rest<{ id: string }>('DELETE', `/projects/${made.body.id}`, { token });
  await waitsFor('advisory');
  fetched.resolve(false);
  await waitsFor('transactionid tuple');
  await app.sql('select pg_advisory_unlock(4711)');
  const run = await eventually(async () => {
    const { body } = await app.rest<{ finishedAt: string | null }>('GET', `/runs/${asked.body.id}`, { token });
    return body.finishedAt !== null && body;
  });
  git.intercept = undefined;
  await app.sql('drop trigger wait on project');
  expect(run).toMatchObject({ status: 'SUCCEEDED', error: null });
});

/** For longer than PostgreSQL waits before it looks for a circle: so whoever closes the circle is the one that it ends. */
const WAITING = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
  and wait_event = any($1) and query_start < clock_timestamp() - interval '1.2 s'`;
