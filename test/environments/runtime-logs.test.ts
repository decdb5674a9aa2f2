import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { containerName, roleLabels } from '../../src/engine/deploy/names.ts';
import { type Deployment, DeploymentStatus } from '../../src/entities/deployment.ts';
import type { Environment } from '../../src/entities/environment.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { changeDeployment, makeEnvironment, restEngine } from '../support/deployments.ts';
import { eventually } from '../support/eventually.ts';
import type { FakeDocker } from '../support/fake-docker.ts';
import { PretendedReleases } from '../support/pretended-release.ts';
import { SseClient } from '../support/sse-client.ts';
import type { SshMachine } from '../support/ssh-machine.ts';

interface Line {
  at: string;
  stream: 'STDOUT' | 'STDERR' | null;
  message: string;
}

const LINES = 5000;
const SECRET = 'correct-horse-battery';

let app: TestApp;
let ann: Person;
let releases: PretendedReleases;
let machine: SshMachine;
let docker: FakeDocker;
let serverId: string;
let environment: Environment;
let release: Deployment;

beforeAll(async () => {
  app = await TestApp.start();
  await restEngine(app);
  ann = await app.register();
  releases = await PretendedReleases.start(app, ann);
  ({ machine, docker, serverId } = releases);
});
afterAll(async () => {
  await app.stop();
  await releases.stop();
});
beforeEach(async () => {
  machine.isClosed = false;
  environment = await makeEnvironment(app, ann, { serverId });
  release = await goLive();
});

const goLive = (): Promise<Deployment> => releases.goLive(environment, SECRET);

const print = (text: string, from: 1 | 2 = 1, time?: string) =>
  docker.output.print(containerName(release.id), text, from, time);
const path = (query = '') => `/environments/${environment.id}/logs${query}`;
const list = (query = '') => app.rest<Line[] & { code: string }>('GET', path(query), { token: ann.token });
const messages = (lines: Line[]) => lines.map(({ message }) => message);

const SUBSCRIPTION = `subscription ($id: ID!, $tail: Int, $since: DateTime) {
  runtimeLogs(id: $id, tail: $tail, since: $since) { at stream message } }`;

const DOORS = {
  rest: (wish: Record<string, string | number>) =>
    SseClient.open(`${app.url}/api/v1${path(`?${new URLSearchParams({ follow: 'true', ...asText(wish) })}`)}`, {
      token: ann.token,
    }),
  subscription: (wish: object) =>
    SseClient.open(`${app.url}/graphql/stream`, {
      token: ann.token,
      body: { query: SUBSCRIPTION, variables: { id: environment.id, ...wish } },
    }),
} as const;

const asText = (wish: object) => Object.fromEntries(Object.entries(wish).map(([name, value]) => [name, String(value)]));

const lineOf = (data: string): Line => {
  const parsed = JSON.parse(data);
  return parsed.data?.runtimeLogs ?? parsed;
};
const next = async (reader: SseClient, count: number) =>
  messages((await reader.take(count)).map(({ data }) => lineOf(data)));

async function rest(reader: SseClient): Promise<string[]> {
  const said: string[] = [];
  for (let each = await reader.next(); each !== undefined && each.event !== 'complete'; each = await reader.next())
    said.push(lineOf(each.data).message);
  return said;
}

describe('the last lines', () => {
  test('are read with their moment and stream, without secrets and colours', async () => {
    print('listening on 8080', 1, '2026-01-31T12:00:00.123456789Z');
    print(`\u001b[31mno access with ${SECRET}\u001b[0m`, 2, '2026-01-31T12:00:01.000000001Z');
    print('10 %\r100 %', 1, '2026-01-31T12:00:02.000000000Z');
    expect((await list()).body).toEqual([
      { at: '2026-01-31T12:00:00.123Z', stream: 'STDOUT', message: 'listening on 8080' },
      { at: '2026-01-31T12:00:01.000Z', stream: 'STDERR', message: 'no access with [secret]' },
      { at: '2026-01-31T12:00:02.000Z', stream: 'STDOUT', message: '100 %' },
    ]);
    expect(messages((await list('?tail=1')).body)).toEqual(['100 %']);
    expect(messages((await list('?since=2026-01-31T12:00:01.000Z&follow=false')).body)).toHaveLength(2);
    const query = 'query ($id: ID!) { runtimeLogs(id: $id, tail: 1) { stream message } }';
    expect(await app.graphql(query, { id: environment.id }, ann.token)).toMatchObject({
      data: { runtimeLogs: [{ stream: 'STDOUT', message: '100 %' }] },
    });
  });

  test('are a hundred unless told otherwise, and a thousand at most', async () => {
    for (let line = 0; line < 1200; line += 1) print(`line ${line}`);
    expect(messages((await list()).body)[0]).toBe('line 1100');
    expect((await list('?tail=1000')).body).toHaveLength(1000);
    expect((await list('?tail=1001')).status).toBe(400);
    expect((await list('?tail=0')).body).toEqual([]);
  });

  test('of several containers are in the order they were printed, and say whose they are', async () => {
    const worker = `${containerName(release.id)}-worker`;
    releases.run(worker, roleLabels(release, 'app'));
    docker.output.print(worker, 'second', 1, '2026-01-31T12:00:01.000000000Z');
    print('first', 1, '2026-01-31T12:00:00.000000000Z');
    print('third', 1, '2026-01-31T12:00:02.000000000Z');
    const said = messages((await list()).body);
    expect(said.map(message => message.split(' | ')[1])).toEqual(['first', 'second', 'third']);
    expect(said[1]).toBe('worker | second');
  });
});

describe.each(['rest', 'subscription'] as const)('followed at the door of %s', door => {
  const follow = (wish: Record<string, string | number> = {}) => DOORS[door](wish);

  test('lines come as they are printed, behind the last ones', async () => {
    print('before');
    const reader = await follow({ tail: 1 });
    expect(await next(reader, 1)).toEqual(['before']);
    print(`hello ${SECRET}`);
    expect(await next(reader, 1)).toEqual(['hello [secret]']);
    await reader.cut();
    await eventually(() => docker.output.followers === 0);
  });

  test('it resumes by the moment of the last line', async () => {
    for (const second of [0, 1, 2]) print(`line ${second}`, 1, `2026-01-31T12:00:0${second}.000000000Z`);
    const reader = await follow({ since: '2026-01-31T12:00:01.000Z' });
    expect(await next(reader, 2)).toEqual(['line 1', 'line 2']);
    await reader.cut();
  });

  test('it goes on with what takes the place of a release, and ends when nothing runs', async () => {
    const reader = await follow();
    const old = release;
    print('one');
    expect(await next(reader, 1)).toEqual(['one']);
    release = await goLive();
    print('two');
    await changeDeployment(app, old, { status: DeploymentStatus.SUPERSEDED, supersededBy: release.id }, 'Superseded');
    expect(await next(reader, 2)).toEqual([`Deployment ${release.number} serves now`, 'two']);
    docker.output.print(containerName(old.id), 'the last of one');
    expect(await next(reader, 1)).toEqual(['the last of one']);
    releases.remove(containerName(old.id));
    expect(await next(reader, 1)).toEqual([`Deployment ${old.number} has ended`]);
    print('still here');
    expect(await next(reader, 1)).toEqual(['still here']);
    releases.become(containerName(release.id), 'exited');
    expect(await rest(reader)).toEqual([`Deployment ${release.number} has ended`]);
    expect(docker.output.followers).toBe(0);
  });

  test('a container that is started again is followed on, and nothing is told twice', async () => {
    const reader = await follow();
    print('one', 1, '2026-01-31T12:00:00.000000001Z');
    expect(await next(reader, 1)).toEqual(['one']);
    releases.become(containerName(release.id), 'restarting');
    print('two', 1, '2026-01-31T12:00:00.000000002Z');
    expect(await next(reader, 1)).toEqual(['two']);
    await reader.cut();
  });

  test('a reader that does not read holds Docker up, not the service, and loses nothing', async () => {
    const reader = await follow({ tail: 0 });
    await eventually(() => docker.output.followers === 1);
    reader.pause();
    const text = 'x'.repeat(1000);
    for (let line = 0; line < LINES; line += 1) print(`${line} ${text}`);
    reader.resume();
    const said = await next(reader, LINES);
    expect(said.map(message => Number(message.split(' ')[0]))).toEqual(
      Array.from({ length: LINES }, (_, line) => line),
    );
    await reader.cut();
  });
});

describe('refusals come before the stream opens', () => {
  const both = async (status: number, code: string) => {
    expect(await list()).toMatchObject({ status, body: { code } });
    const stream = await DOORS.rest({});
    expect([stream.status, await stream.problem()]).toMatchObject([status, { code }]);
  };

  test('where nothing was ever deployed', async () => {
    environment = await makeEnvironment(app, ann, { serverId });
    await both(409, 'NOT_DEPLOYED');
  });

  test('where the release is gone from its server', async () => {
    releases.remove(containerName(release.id));
    await both(409, 'NOT_DEPLOYED');
  });

  test('where the server does not answer', async () => {
    const away = { name: 'away', host: '127.0.0.1', port: 1, username: 'root' };
    const { id } = (await app.rest<{ id: string }>('POST', '/servers', { token: ann.token, body: away })).body;
    await app.sql('update deployment set server_id = $2 where id = $1', [release.id, id]);
    await both(502, 'SERVER_UNREACHABLE');
  });

  test('where Docker is not there', async () => {
    machine.program('docker', 'echo "Cannot connect to the Docker daemon" >&2; exit 1');
    machine.program('sudo', 'exit 1');
    try {
      await both(502, 'UPSTREAM_FAILED');
    } finally {
      machine.program('docker', 'echo 27.1.0');
    }
  });

  test('to strangers, and for what is no number', async () => {
    const bob = await app.register();
    expect((await app.rest('GET', path(), { token: bob.token })).status).toBe(404);
    expect((await app.rest('GET', path('?follow=true'), { token: bob.token })).status).toBe(404);
    for (const query of ['?follow=maybe', '?tail=x', '?since=yesterday', '?follow=true&follow=true'])
      expect((await list(query)).status).toBe(400);
  });

  test('to more than a server bears', async () => {
    const readers = await Promise.all(Array.from({ length: 16 }, () => DOORS.rest({ tail: 0 })));
    expect(readers.map(({ status }) => status)).toEqual(Array(16).fill(200));
    expect((await DOORS.rest({})).status).toBe(429);
    expect((await list()).status).toBe(200);
    for (const reader of readers) await reader.cut();
    await eventually(() => docker.output.followers === 0);
    const again = await DOORS.rest({ tail: 0 });
    expect(again.status).toBe(200);
    await again.cut();
  });
});

test('a connection that is cut is told, and how to go on', async () => {
  const reader = await DOORS.rest({});
  print('one');
  expect(await next(reader, 1)).toEqual(['one']);
  await machine.cut();
  expect(await rest(reader)).toEqual(['The connection to the server was lost']);
});
