import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Person, TestApp } from '../support/create-app.ts';
import { changeIn, tellRuns } from '../support/runs.ts';
import { SseClient } from '../support/sse-client.ts';

let app: TestApp;
let twin: TestApp;
let ann: Person;
beforeAll(async () => {
  app = await TestApp.start();
  twin = await app.twin();
  ann = await app.register();
});
afterAll(async () => {
  await twin.stop();
  await app.stop();
});

interface Told {
  id: string;
  kind: string;
  resourceId: string;
  data: Record<string, unknown>;
}

const listen = (at: TestApp, query = '', person = ann) =>
  SseClient.open(`${at.url}/api/v1/events${query}`, { token: person.token });

const idsOf = (told: Told[]) => told.map(({ resourceId }) => resourceId);

test('what one instance does is heard at every instance', async () => {
  const readers = await Promise.all([listen(app), listen(twin)]);
  const told = [...(await tellRuns(app, ann.workspaceId, 2)), ...(await tellRuns(twin, ann.workspaceId, 2))];
  for (const reader of readers) {
    expect(idsOf(await reader.read<Told>(4))).toEqual(told);
    await reader.cut();
  }
});

test('nothing is lost while the listening connection is down, and everybody hears again after it', async () => {
  const readers = await Promise.all([listen(app), listen(twin)]);
  const heard = readers.map(reader => reader.read<Told>(6));
  const told: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    await app.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'slipway listener' and datname = current_database()`,
    );
    told.push(...(await tellRuns(app, ann.workspaceId, 2)));
  }
  for (const reader of heard) expect(idsOf(await reader)).toEqual(told);
  for (const reader of readers) await reader.cut();
});

test('events of another workspace are not heard', async () => {
  const bob = await app.register();
  const reader = await listen(app);
  await tellRuns(app, bob.workspaceId, 3);
  const [own] = await tellRuns(app, ann.workspaceId, 1);
  expect(idsOf(await reader.read<Told>(1))).toEqual([own]);
  await reader.cut();
});

describe('filters', () => {
  const project = '0198c0de-0000-7000-8000-000000000001';

  /** Other kinds of resource come with later work: a run under another name stands for them. */
  const relabel = (id: string | undefined, kind: string, projectId: string | null) =>
    app.sql('update event set kind = $2, project_id = $3 where resource_id = $1', [id, kind, projectId]);

  test('by kind and by project choose alike from the log and from what is new', async () => {
    const start = await listen(app);
    const [first, run, foreign, own] = await tellRuns(app, ann.workspaceId, 4);
    const [{ id: cursor } = { id: '' }] = await start.read<Told>(1);
    await start.cut();
    await relabel(foreign, 'project_updated', '0198c0de-0000-7000-8000-000000000002');
    await relabel(own, 'deployment_updated', project);
    const filters: [query: string, wanted: (string | undefined)[]][] = [
      ['', [run, foreign, own]],
      ['&kinds=run_updated', [run]],
      ['&kinds=project_updated,deployment_updated', [foreign, own]],
      ['&kinds=project_updated&kinds=run_updated', [run, foreign]],
      [`&projectId=${project}`, [own]],
      [`&projectId=${project}&kinds=run_updated`, []],
    ];
    for (const [query, wanted] of filters) {
      const reader = await listen(app, `?after=${cursor}${query}`);
      expect(idsOf(await reader.read<Told>(wanted.length))).toEqual(wanted);
      const [live] = await tellRuns(app, ann.workspaceId, 1);
      if (query === '' || query.includes('run_updated')) {
        if (!query.includes('projectId')) expect(idsOf(await reader.read<Told>(1))).toEqual([live]);
      }
      await app.sql('delete from event where resource_id = $1', [live]);
      expect(reader.drain()).toEqual([]);
      await reader.cut();
    }
    expect(first).toBeDefined();
  });

  test.each([
    ['kinds=nonsense', 'kinds'],
    ['kinds=', 'kinds'],
    ['projectId=42', 'projectId'],
    ['after=42', 'after'],
    ['surprise=1', 'surprise'],
  ])('a bad one (%s) is refused by name before the stream opens', async (query, field) => {
    const reader = await listen(app, `?${query}`);
    expect(reader.status).toBe(400);
    expect(reader.headers['content-type']).toMatch('application/problem+json');
    const fault = { field: expect.stringMatching(`^${field}(\\[0\\])?$`) };
    expect(await reader.problem()).toMatchObject({ code: 'BAD_INPUT', fields: [fault] });
  });
});

describe('what an event says', () => {
  test("the resource's own fields as GET names them at that moment, and nothing else", async () => {
    const reader = await listen(app);
    const [id] = await tellRuns(app, ann.workspaceId, 1);
    const [event] = await reader.read<Told>(1);
    const { body } = await app.rest<Record<string, unknown>>('GET', `/runs/${id}`, { token: ann.token });
    expect(event?.data).toEqual(body);
    expect(Object.keys(event ?? {}).sort()).toEqual(
      ['action', 'actor', 'at', 'data', 'id', 'kind', 'projectId', 'resourceId', 'resourceType'].sort(),
    );
    expect(event).toMatchObject({ kind: 'run_updated', action: 'CREATED', actor: null, resourceType: 'Run' });
    await app.rest('POST', `/runs/${id}/cancel`, { token: ann.token });
    const [cancelled] = await reader.read<Told & { actor: string; action: string }>(1);
    expect(cancelled).toMatchObject({ action: 'UPDATED', actor: ann.id, data: { status: 'CANCELLED' } });
    const again = await listen(app, `?after=${event?.id}`);
    expect(await again.read<Told>(1)).toEqual([cancelled]);
    await Promise.all([reader.cut(), again.cut()]);
  });

  test('no column that GET hides is in the stored row either', async () => {
    await tellRuns(app, ann.workspaceId, 1);
    const rows = await app.sql<{ data: object }>('select data from event order by seq desc limit 1');
    expect(JSON.stringify(rows)).not.toMatch(/fence|workspace/i);
  });

  test('a change told twice in one unit is told as it was in the end', async () => {
    const reader = await listen(app);
    await changeIn(app, ann.workspaceId, async unit => {
      const run = app.app.services.runs.start(unit, 'RESEAL' as never, ann.workspaceId, 'first thought');
      run.subject = 'second thought';
    });
    expect(await reader.read<Told>(1)).toMatchObject([{ data: { subject: 'second thought' } }]);
    await reader.cut();
  });
});
