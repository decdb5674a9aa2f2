import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Deployment, DeploymentStatus } from '../../src/entities/deployment.ts';
import type { Environment } from '../../src/entities/environment.ts';
import { DeployBench } from '../support/deploy-bench.ts';
import type { DeployMachine } from '../support/deploy-machine.ts';
import { changeDeployment, makeDeployment } from '../support/deployments.ts';

const PATIENCE = 90_000;

let bench: DeployBench;
let machine: DeployMachine;
let serverId: string;

beforeAll(async () => {
  bench = await DeployBench.start();
  ({ machine, serverId } = await bench.server());
}, PATIENCE);
afterAll(() => bench.stop());

async function liveEnvironment() {
  const environment = await bench.environment(serverId);
  const live = await bench.left(environment, machine);
  expect(await bench.finish(live)).toMatchObject({ status: 'LIVE', error: null });
  return { environment, live };
}

/** A deployment that failed when its server had gone, in the middle of the switch: traffic was pointed at it. */
async function cutInSwitch(environment: Environment): Promise<{ failed: Deployment; name: string }> {
  const ended = { status: DeploymentStatus.FAILED, isFinished: true, hasLeftovers: true };
  const failed = await makeDeployment(bench.app, environment, ended);
  const name = `slipway-${failed.id}`;
  const labels = { 'slipway.environment': environment.id, 'slipway.deployment': failed.id, 'slipway.role': 'app' };
  machine.docker.containers.set(name, { name, labels, state: 'running', hostPort: 19_999 });
  machine.docker.images.set(`slipway/${environment.id}:${failed.id}`, { 'slipway.environment': environment.id });
  const point = `mkdir -p /config/slipway/${environment.id} && cd /config/slipway/${environment.id} && rm -f * && : >19999`;
  await machine.caddy.execute(['sh', '-c', point]);
  expect(machine.serving(environment.id)).toBe(name);
  return { failed, name };
}

test(
  'traffic goes back to what serves before what a cut switch left is ended',
  async () => {
    const { environment, live } = await liveEnvironment();
    const { failed, name } = await cutInSwitch(environment);
    const serving: (string | undefined)[] = [];
    machine.docker.before = what => {
      if (what.includes(name)) serving.push(machine.serving(environment.id));
    };
    await bench.clock('deployments.sweep');
    machine.docker.before = undefined;
    expect(serving).toEqual([`slipway-${live.id}`, `slipway-${live.id}`]);
    expect(machine.docker.containers.has(name)).toBe(false);
    expect(machine.docker.images.has(`slipway/${environment.id}:${failed.id}`)).toBe(false);
    expect(await bench.row(failed)).toMatchObject({ hasLeftovers: false });
    expect(machine.app.left(environment.id).sort()).toEqual(['container', 'image', 'network']);
  },
  PATIENCE,
);

test(
  'what was left waits while a deployment of the environment is under way',
  async () => {
    const { environment } = await liveEnvironment();
    const { failed, name } = await cutInSwitch(environment);
    // Another one builds: nobody takes it up here, for its job is not sent.
    const busy = await makeDeployment(bench.app, environment, {
      ...{ status: DeploymentStatus.RUNNING, startedAt: new Date() },
    });
    const { boss } = bench.app.app.queue;
    await boss.offWork('environment.deploy', { wait: false });
    const image = `slipway/${environment.id}:${busy.id}`;
    machine.docker.images.set(image, { 'slipway.environment': environment.id });
    machine.docker.told.length = 0;
    await bench.clock('deployments.sweep');
    expect(machine.docker.told).toEqual([]);
    expect(await bench.row(failed)).toMatchObject({ hasLeftovers: true });
    await changeDeployment(bench.app, busy, { status: DeploymentStatus.FAILED, isFinished: true }, 'Failed');
    await bench.clock('deployments.sweep');
    expect([machine.docker.containers.has(name), machine.docker.images.has(image)]).toEqual([false, false]);
    expect(await bench.row(failed)).toMatchObject({ hasLeftovers: false });
  },
  PATIENCE,
);
