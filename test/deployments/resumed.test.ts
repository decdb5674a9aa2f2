import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Environment } from '../../src/entities/environment.ts';
import { DeployBench } from '../support/deploy-bench.ts';
import type { DeployMachine } from '../support/deploy-machine.ts';

const PATIENCE = 90_000;

let bench: DeployBench;
let machine: DeployMachine;
let serverId: string;

beforeAll(async () => {
  bench = await DeployBench.start();
  ({ machine, serverId } = await bench.server());
}, PATIENCE);
afterAll(() => bench.stop());

/** With a release that the engine has brought there. */
async function liveEnvironment(some: Partial<Environment> = {}) {
  const environment = await bench.environment(serverId, some);
  const live = await bench.left(environment, machine);
  expect(await bench.finish(live)).toMatchObject({ status: 'LIVE', error: null });
  expect(machine.serving(environment.id)).toBe(`slipway-${live.id}`);
  return { environment, live };
}

test(
  'a deployment that is taken up again keeps the variables it was prepared with, and knows what came later',
  async () => {
    const environment = await bench.environment(serverId);
    const left = await bench.left(environment, machine, { secret: 'of then' });
    const body = { variables: [{ key: 'PASSWORD', value: 'of today' }] };
    const { token } = bench.ann;
    expect(
      (await bench.app.rest('POST', `/environments/${environment.id}/variables`, { token, body })).status,
    ).toBeLessThan(300);
    expect(await bench.finish(left)).toMatchObject({ status: 'LIVE' });
    expect(machine.docker.containers.get(`slipway-${left.id}`)?.env).toContain('PASSWORD=of then');
    // The change waits for the next one.
    expect((await bench.read(`/environments/${environment.id}`)).body).toMatchObject({ needsDeploy: true });
  },
  PATIENCE,
);

test(
  'what Docker says of a failure is told without the secrets it was given, and no network is left of a first try',
  async () => {
    const environment = await bench.environment(serverId);
    const left = await bench.left(environment, machine, { secret: 'hunter2-hunter2' });
    const said = 'bad mount: PASSWORD=hunter2-hunter2 is no path';
    machine.docker.refusals.set(`POST /containers/slipway-${left.id}/start`, said);
    const failed = await bench.finish(left);
    expect(failed).toMatchObject({ status: 'FAILED', error: { code: 'START_FAILED' } });
    expect(failed.error?.message).toMatch(/bad mount: PASSWORD=.* is no path/);
    expect(failed.error?.message).not.toContain('hunter2');
    expect(machine.app.left(environment.id)).toEqual([]);
    expect(await bench.row(left)).toMatchObject({ hostPort: null, hasLeftovers: false });
  },
  PATIENCE,
);

test(
  'nor any where a command came before',
  async () => {
    const environment = await bench.environment(serverId, { preDeployCommand: 'migrate' });
    const left = await bench.left(environment, machine);
    const name = `slipway-${left.id}-pre-deploy`;
    const labels = { 'slipway.environment': environment.id, 'slipway.deployment': left.id };
    machine.docker.containers.set(name, { name, labels, state: 'exited', exitCode: 0 });
    machine.docker.networks.set(`slipway-${environment.id}`, { 'slipway.environment': environment.id });
    machine.docker.refusals.set(`POST /containers/slipway-${left.id}/start`, 'no');
    expect(await bench.finish(left)).toMatchObject({ status: 'FAILED', error: { code: 'START_FAILED' } });
    expect(machine.app.left(environment.id)).toEqual([]);
  },
  PATIENCE,
);

test(
  'nothing is left of a first try of a compose file',
  async () => {
    for (const image of ['web:1', 'data:1']) machine.docker.images.set(image, {});
    const environment = await bench.environment(serverId);
    const text = `
services:
  web: {image: "web:1", ports: ["3000"], depends_on: [data]}
  data: {image: "data:1", restart: always, volumes: ["rows:/data"]}
volumes: {rows: {}}
`;
    const left = await bench.leftCompose(environment, machine, text);
    machine.docker.refusals.set(`POST /containers/slipway-${left.id}/start`, 'no');
    expect(await bench.finish(left)).toMatchObject({ status: 'FAILED', error: { code: 'START_FAILED' } });
    // The image of the bench is none of this deployment's.
    expect(machine.app.left(environment.id).filter(each => each !== 'image')).toEqual([]);
  },
  PATIENCE,
);

test(
  'the network stays with what serves when a later try is taken back',
  async () => {
    const { environment, live } = await liveEnvironment();
    const left = await bench.left(environment, machine);
    machine.docker.refusals.set(`POST /containers/slipway-${left.id}/start`, 'no');
    expect(await bench.finish(left)).toMatchObject({ status: 'FAILED' });
    expect([...machine.docker.networks.keys()]).toContain(`slipway-${environment.id}`);
    expect(machine.serving(environment.id)).toBe(`slipway-${live.id}`);
  },
  PATIENCE,
);

test(
  'ports of releases that are over are given again',
  async () => {
    const environment = await bench.environment(serverId);
    await bench.app.sql(
      `insert into deployment (id, created_at, workspace_id, project_id, environment_id, server_id, number, status, trigger,
         is_finished, host_port, finished_at)
       select gen_random_uuid(), now(), $1, $2, $3, $4, port, 'SUPERSEDED', 'MANUAL', true, port, now()
       from generate_series(20000, 28999) as port`,
      [bench.ann.workspaceId, environment.projectId, environment.id, serverId],
    );
    const left = await bench.left(environment, machine, { number: 30_000 });
    expect(await bench.finish(left)).toMatchObject({ status: 'LIVE', error: null });
  },
  PATIENCE,
);

test(
  'labels of an image say neither how long its containers have to end nor that they may',
  async () => {
    const labels = { 'slipway.stop-seconds': '86400', 'slipway.may-end': 'true', 'slipway.host-port': '1' };
    const environment = await bench.environment(serverId);
    const first = await bench.left(environment, machine, { labels });
    expect(await bench.finish(first)).toMatchObject({ status: 'LIVE' });
    const container = machine.docker.containers.get(`slipway-${first.id}`);
    Object.assign(container ?? {}, { state: 'exited', exitCode: 0 });
    await bench.clock('apps.watch');
    expect((await bench.read(`/environments/${environment.id}`)).body).toMatchObject({ status: 'DOWN' });
    expect(await bench.finish(await bench.left(environment, machine))).toMatchObject({ status: 'LIVE' });
    expect(machine.docker.stopSeconds.get(`slipway-${first.id}`)).toBe(20);
  },
  PATIENCE,
);

test(
  'nor do those of the images that a compose file names',
  async () => {
    const labels = { 'slipway.stop-seconds': '86400', 'slipway.may-end': 'true', 'slipway.host-port': '22' };
    for (const image of ['web:1', 'worker:1', 'data:1']) machine.docker.images.set(image, labels);
    const environment = await bench.environment(serverId);
    const text = `
services:
  web: {image: "web:1", ports: ["3000"]}
  worker: {image: "worker:1", restart: always}
  data: {image: "data:1", restart: always, stop_grace_period: 30s, volumes: ["rows:/data"]}
volumes: {rows: {}}
`;
    const left = await bench.leftCompose(environment, machine, text);
    expect(await bench.finish(left)).toMatchObject({ status: 'LIVE', error: null });
    const containers = [...machine.docker.containers.values()].filter(
      each => each.labels['slipway.environment'] === environment.id,
    );
    const said = containers.map(({ labels: own, image }) => [
      ...[image, own['slipway.stop-seconds'], own['slipway.may-end']],
      own['slipway.role'] === 'service' ? 'kept' : own['slipway.host-port'],
    ]);
    const hostPort = String((await bench.row(left))?.hostPort);
    expect(said.sort()).toEqual([
      ['data:1', '30', 'false', 'kept'],
      ['web:1', '20', 'false', hostPort],
      ['worker:1', '20', 'false', ''],
    ]);
    const worker = containers.find(({ image }) => image === 'worker:1');
    Object.assign(worker ?? {}, { state: 'exited', exitCode: 0 });
    await bench.clock('apps.watch');
    expect((await bench.read(`/environments/${environment.id}`)).body).toMatchObject({ status: 'DOWN' });
  },
  PATIENCE,
);

test(
  'what a first try has opened is shut when its switch fails',
  async () => {
    const environment = await bench.environment(serverId);
    const left = await bench.left(environment, machine);
    const said = join(machine.machine.folder, 'said');
    machine.machine.program('ufw', `echo "$@" >>${said}; echo "Status: active"`);
    const { portBehind } = machine.machine;
    // It answers, but not through the proxy.
    machine.machine.portBehind = port => (port >= 30_000 && port < 32_768 ? 1 : portBehind(port));
    const failed = await bench.finish(left);
    machine.machine.portBehind = portBehind;
    machine.machine.program('ufw', 'echo "Status: inactive"');
    expect(failed).toMatchObject({ status: 'FAILED', error: { code: 'PROXY_FAILED' } });
    const words = readFileSync(said, 'utf8').match(/^(delete )?allow \d+\/tcp/gm);
    expect(words).toEqual([expect.stringMatching(/^allow/), `delete ${words?.[0]}`]);
    expect(machine.serving(environment.id)).toBeUndefined();
    expect(machine.app.left(environment.id)).toEqual([]);
  },
  PATIENCE,
);

test.each([
  ['86400', 120],
  ['-1', 20],
  ['soon', 20],
])('a container that says it needs %s seconds to end is given %d', async (said, given) => {
  const { environment } = await liveEnvironment();
  const name = `slipway-stray-${said}`;
  const labels = { 'slipway.environment': environment.id, 'slipway.stop-seconds': said };
  machine.docker.containers.set(name, { name, labels, state: 'running' });
  expect(await bench.finish(await bench.left(environment, machine))).toMatchObject({ status: 'LIVE' });
  expect(machine.docker.stopSeconds.get(name)).toBe(given);
  expect(machine.docker.containers.has(name)).toBe(false);
});

test(
  'before a new build the server is rid of what builds of days ago left there',
  async () => {
    const environment = await bench.environment(serverId);
    const left = await bench.left(environment, machine);
    machine.docker.images.delete(`slipway/${environment.id}:${left.id}`);
    machine.machine.commands.length = 0;
    // Its repository cannot be fetched; by then the build has begun.
    expect(await bench.finish(left)).toMatchObject({ status: 'FAILED', phase: 'BUILDING' });
    const sweeps = machine.machine.commands.filter(said => /swept/.test(said) && / - 1440'?$/.test(said.trim()));
    expect(sweeps).toHaveLength(1);
  },
  PATIENCE,
);
