import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Person, TestApp } from '../support/create-app.ts';
import { GitServer } from '../support/git-server.ts';
import { SseClient } from '../support/sse-client.ts';
import { watchAnalysis } from '../support/watching.ts';

interface Told {
  kind: string;
  action: string;
  actor: string | null;
  projectId: string | null;
  resourceType: string;
  resourceId: string;
  data: Record<string, unknown>;
}

let git: GitServer;
let app: TestApp;
let ann: Person;
let repository: string;

beforeAll(async () => {
  git = await GitServer.start();
  repository = await git.publish('shop', { 'package.json': '{"scripts":{"start":"node ."}}' });
  app = await TestApp.start({ OUTBOUND_ALLOW: '127.0.0.0/8', OUTBOUND_CA_FILE: git.caFile });
  ann = await app.register();
}, 60_000);
afterAll(async () => {
  await app.stop();
  await git.stop();
});

const QUERY = `subscription { events(kinds: [project_updated]) {
  kind action actor projectId resourceType resourceId data
  resource { ... on Project { id name status environments { name } } } } }`;

test('project_updated tells every change, by stream and by subscription, to the workspace and to nobody else', async () => {
  const { token } = ann;
  const eve = await app.register();
  const open = (who: string) => SseClient.open(`${app.url}/api/v1/events?kinds=project_updated`, { token: who });
  const [plain, theirs] = [await open(token), await open(eve.token)];
  const headers = { accept: 'text/event-stream' };
  const subscribed = await SseClient.open(`${app.url}/graphql/stream`, { token, headers, body: { query: QUERY } });

  const body = { name: 'Shop', repository };
  const { id } = (await app.rest<{ id: string }>('POST', '/projects', { token, body })).body;
  await watchAnalysis(app, ann, id);
  await app.rest('PUT', `/projects/${id}`, { token, body: { description: 'Sells' } });
  await app.rest('POST', `/projects/${id}/retry-analysis`, { token });
  await watchAnalysis(app, ann, id);
  const wish = { environment: { name: 'production' } };
  await app.rest('POST', `/projects/${id}/finalize`, { token, body: wish });
  await app.rest('DELETE', `/projects/${id}`, { token });

  const told = await plain.read<Told>(8);
  expect(told.map(({ action, data, actor }) => [action, data.status, actor === null])).toEqual([
    ['CREATED', 'ANALYZING', false],
    ['UPDATED', 'ANALYZED', true],
    ['UPDATED', 'ANALYZED', false],
    ['UPDATED', 'ANALYZING', false],
    ['UPDATED', 'ANALYZED', true],
    ['UPDATED', 'READY', false],
    ['UPDATED', 'DELETING', false],
    ['DELETED', 'DELETING', false],
  ]);
  for (const event of told)
    expect(event).toMatchObject({ kind: 'project_updated', projectId: id, resourceType: 'Project', resourceId: id });
  expect(told[2]?.data).toMatchObject({ id, description: 'Sells', version: 2 });
  expect(Object.keys(told[0]?.data ?? {})).not.toContain('workspaceId');

  const messages = (await subscribed.take(8)).map(
    ({ data }) => (JSON.parse(data) as { data: { events: Told } }).data.events,
  );
  expect(messages.map(({ action, data }) => [action, data.status])).toEqual(
    told.map(({ action, data }) => [action, data.status]),
  );
  expect(theirs.drain()).toEqual([]);
  for (const stream of [plain, theirs, subscribed]) await stream.cut();
});
