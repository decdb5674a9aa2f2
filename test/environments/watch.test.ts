import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { AppMachine } from '../support/app-machine.ts';
import { EnvironmentBench } from '../support/environments.ts';
import type { FakeContainer } from '../support/fake-docker.ts';
import { stillClock } from '../support/still-clock.ts';

const PATIENCE = 60_000;

let bench: EnvironmentBench;
let machine: AppMachine;
let projectId: string;
let serverId: string;
let id: string;
let container: FakeContainer;

beforeAll(async () => {
  bench = await EnvironmentBench.start();
  // Looks of the clock between those of a test would see first what it is about.
  await stillClock(bench.app, ['apps.watch']);
  projectId = await bench.project();
}, PATIENCE);
afterAll(() => bench.stop());
beforeEach(async () => {
  machine = await AppMachine.start();
  serverId = await bench.server(machine.place);
  const release = await machine.release(bench, projectId, serverId);
  id = release.id;
  container = machine.docker.containers.get(`slipway-${release.deploymentId}`) as FakeContainer;
}, PATIENCE);
afterEach(async () => {
  await bench.app.sql(`update environment set status = 'IDLE', current_deployment_id = null`);
  await machine.stop();
});

/** What is said of it after another look. */
async function seen(): Promise<[status: string, reason: string | null]> {
  await bench.look();
  const { status, statusReason } = (await bench.get(id)) as unknown as { status: string; statusReason: string | null };
  return [status, statusReason];
}

const told = async () =>
  (
    await bench.app.sql<{ status: string }>(
      `select data->>'status' as status from event where kind = 'environment_updated' and resource_id = $1 order by seq`,
      [id],
    )
  ).map(({ status }) => status);

test('what answers is live, and nothing is told of it', async () => {
  expect(await seen()).toEqual(['LIVE', null]);
  expect(await seen()).toEqual(['LIVE', null]);
  expect(await told()).toEqual(['IDLE']);
  expect(await bench.get(id)).toMatchObject({ version: 1 });
});

test(
  'what answers badly is degraded, after three looks down, and live again when it answers',
  async () => {
    machine.status = 503;
    const reason = '/ does not answer well: 503';
    expect(await seen()).toEqual(['DEGRADED', reason]);
    expect(await seen()).toEqual(['DEGRADED', reason]);
    expect(await seen()).toEqual(['DOWN', reason]);
    machine.status = 302;
    expect(await seen()).toEqual(['LIVE', null]);
    expect(await told()).toEqual(['IDLE', 'DEGRADED', 'DOWN', 'LIVE']);
  },
  PATIENCE,
);

test('what nobody answers for while it runs is degraded', async () => {
  await machine.stopAnswering();
  const [status, reason] = await seen();
  expect([status, reason]).toEqual(['DEGRADED', expect.stringMatching(/does not answer well: no answer/)]);
});

test(
  'what was restarted since the last look is degraded once',
  async () => {
    await seen();
    container.restartCount = 2;
    expect(await seen()).toEqual(['DEGRADED', 'It ended by itself and was started again']);
    expect(await seen()).toEqual(['LIVE', null]);
    container.restartCount = 3;
    expect(await seen()).toMatchObject(['DEGRADED', {}]);
  },
  PATIENCE,
);

test.each([
  ['ended', { state: 'exited', exitCode: 1 }, 'It ended by itself, with exit code 1'],
  [
    'ends again and again',
    { state: 'restarting', exitCode: 2 },
    'It ended by itself, with exit code 2, again and again',
  ],
  [
    'ran out of memory',
    { state: 'exited', exitCode: 137, isOutOfMemory: true },
    'It was ended because it ran out of memory',
  ],
] as const)('what %s is down', async (_, state, reason) => {
  Object.assign(container, state);
  expect(await seen()).toEqual(['DOWN', reason]);
});

test('what is gone from the server is down', async () => {
  machine.docker.containers.clear();
  expect(await seen()).toEqual(['DOWN', 'Its container is gone from the server; deploy it again']);
});

test(
  'what was stopped, is being deployed or worked on is left alone',
  async () => {
    machine.docker.containers.clear();
    await bench.app.sql(`update environment set status = 'STOPPED' where id = $1`, [id]);
    expect(await seen()).toEqual(['STOPPED', null]);
    await bench.app.sql(`update environment set status = 'LIVE' where id = $1`, [id]);
    await bench.app.sql('update deployment set is_finished = false where environment_id = $1', [id]);
    expect(await seen()).toEqual(['LIVE', null]);
    await bench.app.sql('update deployment set is_finished = true where environment_id = $1', [id]);
    expect(await seen()).toMatchObject(['DOWN', {}]);
  },
  PATIENCE,
);

test(
  'a server that is away says nothing about what runs on it',
  async () => {
    machine.status = 500;
    await seen();
    machine.machine.isClosed = true;
    await machine.machine.cut();
    expect(await seen()).toEqual(['DEGRADED', 'Its server cannot be reached; whether it serves is not known']);
    machine.machine.isClosed = false;
    machine.status = 200;
    expect(await seen()).toEqual(['LIVE', null]);
  },
  PATIENCE,
);

test(
  'nor does one that goes away in the middle of a look',
  async () => {
    machine.machine.portBehind = port => {
      machine.machine.isClosed = true;
      void machine.machine.cut();
      return port;
    };
    expect(await seen()).toEqual(['LIVE', 'Its server cannot be reached; whether it serves is not known']);
  },
  PATIENCE,
);

test(
  'where Docker does not answer, the application itself is asked',
  async () => {
    machine.machine.program('docker', 'echo "Cannot connect to the Docker daemon" >&2; exit 1');
    expect(await seen()).toEqual(['LIVE', null]);
    machine.status = 500;
    expect(await seen()).toMatchObject(['DEGRADED', {}]);
  },
  PATIENCE,
);

test(
  'what answers on the server but not the world is degraded, and then down',
  async () => {
    const publicPort = 30_000;
    await bench.app.sql('update environment set public_port = $2 where id = $1', [id, publicPort]);
    // Nobody listens on the first port of all.
    machine.machine.portBehind = port => (port === publicPort ? 1 : port);
    const reason = expect.stringMatching(/^\/ does not answer well: no answer/);
    expect(await seen()).toEqual(['DEGRADED', reason]);
    expect(await seen()).toEqual(['DEGRADED', reason]);
    expect(await seen()).toEqual(['DOWN', reason]);
    machine.machine.portBehind = port => (port === publicPort ? machine.hostPort : port);
    expect(await seen()).toEqual(['LIVE', null]);
  },
  PATIENCE,
);

test('what does not listen is judged by its container alone', async () => {
  await bench.app.sql('update deployment set host_port = null where environment_id = $1', [id]);
  await machine.stopAnswering();
  expect(await seen()).toEqual(['LIVE', null]);
});
