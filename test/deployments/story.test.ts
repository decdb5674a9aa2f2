import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DAY } from '../../src/clock.ts';
import { LogWriter } from '../../src/engine/deploy/log-writer.ts';
import { Masker } from '../../src/engine/deploy/masker.ts';
import { type Deployment, DeploymentPhase, DeploymentStatus } from '../../src/entities/deployment.ts';
import { HousekeepingService } from '../../src/services/housekeeping.service.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { changeDeployment, makeDeployment, makeEnvironment, restEngine } from '../support/deployments.ts';
import { SseClient } from '../support/sse-client.ts';

interface Message {
  seq: number;
  at: string;
  kind: 'STATUS' | 'LOG';
  status: string;
  phase: string | null;
  isFinished: boolean;
  message: string;
  stream: string | null;
}

let app: TestApp;
let ann: Person;
let deployment: Deployment;
beforeAll(async () => {
  app = await TestApp.start();
  await restEngine(app);
  ann = await app.register();
});
afterAll(() => app.stop());
beforeEach(async () => {
  deployment = await makeDeployment(app, await makeEnvironment(app, ann), { status: DeploymentStatus.RUNNING });
});

const writer = () => new LogWriter(app.app.database.orm.em, deployment, { masker: new Masker([]) });
const write = async (...lines: string[]): Promise<void> => {
  const log = writer();
  await log.write(Buffer.from(`${lines.join('\n')}\n`), 'stdout');
  await log.flush();
};
const finish = (status = DeploymentStatus.LIVE) =>
  changeDeployment(app, deployment, { status, isFinished: true }, 'Finished');

const pathOf = (rest: string) => `/environments/${deployment.environmentId}/deployments/${deployment.id}/${rest}`;

const FIELDS = 'seq at kind status phase isFinished message stream';
const SUBSCRIPTION = `subscription ($environmentId: ID!, $id: ID!, $after: String, $logs: Boolean) {
  deploymentStatus(environmentId: $environmentId, id: $id, after: $after, logs: $logs) { ${FIELDS} } }`;

interface Wish {
  after?: string;
  logs?: boolean;
}

const DOORS = {
  rest: (wish: Wish) =>
    SseClient.open(
      `${app.url}/api/v1${pathOf('status')}?${new URLSearchParams(Object.entries(wish).map(([name, value]) => [name, String(value)]))}`,
      { token: ann.token },
    ),
  subscription: ({ ...wish }: Wish) => {
    const { environmentId, id } = deployment;
    const body = { query: SUBSCRIPTION, variables: { environmentId, id, ...wish } };
    return SseClient.open(`${app.url}/graphql/stream`, { token: ann.token, body });
  },
} as const;

const messageOf = (data: string): Message => {
  const parsed = JSON.parse(data);
  return parsed.data?.deploymentStatus ?? parsed;
};

/** To the end of the stream. */
async function readAll(reader: SseClient): Promise<Message[]> {
  const messages: Message[] = [];
  for (;;) {
    const message = await reader.next();
    if (message === undefined || message.event === 'complete') break;
    messages.push(messageOf(message.data));
  }
  await reader.ended;
  return messages;
}

describe.each(['rest', 'subscription'] as const)('the story at the door of %s', door => {
  const open = (wish: Wish = {}) => DOORS[door](wish);
  const next = async (reader: SseClient, count: number): Promise<Message[]> =>
    (await reader.take(count)).map(({ data }) => messageOf(data));

  test('is told from its beginning, as it happens, to its end', async () => {
    const reader = await open();
    expect(await next(reader, 1)).toMatchObject([{ seq: 1, kind: 'STATUS', status: 'RUNNING', message: 'Queued' }]);
    await changeDeployment(app, deployment, { phase: DeploymentPhase.BUILDING }, 'Building');
    await write('npm ci', 'added 12 packages');
    expect(await next(reader, 3)).toMatchObject([
      { seq: 2, kind: 'STATUS', phase: 'BUILDING', isFinished: false, stream: null },
      { seq: 3, kind: 'LOG', phase: 'BUILDING', isFinished: false, message: 'npm ci', stream: 'STDOUT' },
      { seq: 4, kind: 'LOG', message: 'added 12 packages' },
    ]);
    await changeDeployment(app, deployment, { status: DeploymentStatus.LIVE }, 'Live');
    await finish();
    expect(await readAll(reader)).toMatchObject([
      { seq: 5, status: 'LIVE', isFinished: false },
      { seq: 6, status: 'LIVE', isFinished: true },
    ]);
  });

  test('is told again when it is over, wholly or behind any message', async () => {
    await write(...Array.from({ length: 250 }, (_, index) => `line ${index}`));
    await finish(DeploymentStatus.FAILED);
    const all = await readAll(await open());
    expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: 252 }, (_, index) => index + 1));
    for (const after of [1, 49, 50, 251])
      expect(await readAll(await open({ after: `${after}` }))).toEqual(all.slice(after));
    expect(await readAll(await open({ after: '252' }))).toEqual([]);
    // Long after it ended, another takes its place.
    await changeDeployment(app, deployment, { status: DeploymentStatus.SUPERSEDED }, 'Superseded');
    expect(await readAll(await open({ after: '252' }))).toMatchObject([{ seq: 253, status: 'SUPERSEDED' }]);
    expect(await readAll(await open())).toEqual(all);
  });

  test('without the log is its states alone', async () => {
    await write('one', 'two');
    const reader = await open({ logs: false });
    await changeDeployment(app, deployment, { phase: DeploymentPhase.STARTING }, 'Starting');
    await write('three');
    await finish();
    expect((await readAll(reader)).map(({ seq, message }) => [seq, message])).toEqual([
      [1, 'Queued'],
      [4, 'Starting'],
      [6, 'Finished'],
    ]);
    expect((await readAll(await open({ logs: false, after: '2' }))).map(({ seq }) => seq)).toEqual([4, 6]);
  });

  test('of one that is deleted ends', async () => {
    const reader = await open();
    await next(reader, 1);
    await app.sql('delete from deployment where id = $1', [deployment.id]);
    await app.sql(`select pg_notify('slipway_rows', $1)`, [`deployment:${deployment.id}`]);
    expect(await readAll(reader)).toEqual([]);
  });
});

test('a browser that comes back is told what it missed', async () => {
  await write('one', 'two');
  const url = `${app.url}/api/v1${pathOf('status')}`;
  const first = await SseClient.open(url, { token: ann.token });
  await first.take(2);
  await first.cut();
  await write('three');
  await finish();
  const headers = { 'last-event-id': '2' };
  const second = await SseClient.open(`${url}?after=1`, { token: ann.token, headers });
  expect((await readAll(second)).map(({ message }) => message)).toEqual(['two', 'three', 'Finished']);
});

test('what cannot be opened is refused before the stream begins', async () => {
  const bob = await app.register();
  const status = async (rest: string, token = ann.token) =>
    (await SseClient.open(`${app.url}/api/v1${rest}`, { token })).status;
  expect(await status(pathOf('status'), bob.token)).toBe(404);
  expect(await status(pathOf('status?after=nonsense'))).toBe(400);
  expect(await status(pathOf('status?after=2'))).toBe(400);
  expect(await status(pathOf('status?logs=maybe'))).toBe(400);
});

describe('the log alone', () => {
  const list = (query = '') => app.rest<Message[]>('GET', pathOf(`logs${query}`), { token: ann.token });

  test('is paged by the numbers of its lines, in their order', async () => {
    await write('one', 'two');
    await changeDeployment(app, deployment, { phase: DeploymentPhase.STARTING }, 'Starting');
    await write('three');
    const seen: string[] = [];
    let query: string | undefined = '?limit=2';
    while (query !== undefined) {
      const page: { status: number; body: Message[]; headers: Headers } = await list(query);
      expect(page.status).toBe(200);
      seen.push(...page.body.map(({ seq, message }) => `${seq} ${message}`));
      query = /logs([^>]*)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
    }
    expect(seen).toEqual(['2 one', '3 two', '5 three']);
    expect((await list('?after=3')).body.map(({ message }) => message)).toEqual(['three']);
    expect((await list('?after=5')).body).toEqual([]);
  });

  test('a number that is none, or of no message, is refused', async () => {
    expect((await list('?after=-1')).status).toBe(400);
    expect((await list('?after=7')).status).toBe(400);
    expect((await list('?after=x')).status).toBe(400);
  });
});

test('lines whose time is over go, states stay; whoever would miss lines is told', async () => {
  await write('one', 'two');
  await changeDeployment(app, deployment, { phase: DeploymentPhase.STARTING }, 'Starting');
  await finish();
  await app.sql(`update deployment_message set at = at - interval '91 days' where deployment_id = $1`, [deployment.id]);
  const keep = { keepEventsMs: 30 * DAY, keepLogsMs: 90 * DAY, keepAuditMs: 365 * DAY };
  await new HousekeepingService(app.app.database.orm.em, keep).prune(new AbortController().signal);
  expect((await readAll(await DOORS.rest({}))).map(({ seq }) => seq)).toEqual([1, 4, 5]);
  const late = await DOORS.rest({ after: '2' });
  expect([late.status, await late.problem()]).toMatchObject([410, { code: 'CURSOR_TOO_OLD' }]);
  expect((await readAll(await DOORS.rest({ after: '3' }))).map(({ seq }) => seq)).toEqual([4, 5]);
  expect((await readAll(await DOORS.rest({ after: '2', logs: false }))).map(({ seq }) => seq)).toEqual([4, 5]);
  expect((await app.rest('GET', pathOf('logs?after=2'), { token: ann.token })).status).toBe(410);
  expect((await app.rest('GET', pathOf('logs'), { token: ann.token })).body).toEqual([]);
});
