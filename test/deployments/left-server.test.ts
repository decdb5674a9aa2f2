import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type Deployment, DeploymentTrigger } from '../../src/entities/deployment.ts';
import type { Environment } from '../../src/entities/environment.ts';
import { DeployBench } from '../support/deploy-bench.ts';
import type { DeployMachine } from '../support/deploy-machine.ts';

const PATIENCE = 90_000;

let bench: DeployBench;
let old: { machine: DeployMachine; serverId: string };
let fresh: { machine: DeployMachine; serverId: string };
let environment: Environment;
let before: Deployment;
let moved: Deployment;

beforeAll(async () => {
  bench = await DeployBench.start();
}, PATIENCE);
afterAll(() => bench.stop());

/** Moved, while the server that is left answers nothing. */
beforeEach(async () => {
  [old, fresh] = [await bench.server(), await bench.server()];
  environment = await bench.environment(old.serverId);
  before = await bench.left(environment, old.machine);
  expect(await bench.finish(before)).toMatchObject({ status: 'LIVE' });
  old.machine.loseDocker();
  moved = await bench.left(environment, fresh.machine, {
    ...{ serverId: fresh.serverId, trigger: DeploymentTrigger.MOVE },
  });
  expect(await bench.finish(moved)).toMatchObject({ status: 'LIVE', error: null });
  expect(fresh.machine.serving(environment.id)).toBe(`slipway-${moved.id}`);
}, PATIENCE);

const leftThere = () => old.machine.app.left(environment.id).sort();

test(
  'a server that could not be cleared when it was left is cleared when it is back',
  async () => {
    expect(leftThere()).toEqual(['container', 'image', 'network']);
    expect(await bench.row(before)).toMatchObject({ status: 'SUPERSEDED', hasLeftovers: true });
    await bench.clock('deployments.sweep');
    expect(leftThere()).toEqual(['container', 'image', 'network']);
    old.machine.findDocker();
    await bench.clock('deployments.sweep');
    expect(leftThere()).toEqual([]);
    expect(old.machine.serving(environment.id)).toBeUndefined();
    expect(await bench.row(before)).toMatchObject({ hasLeftovers: false, image: null });
    expect(fresh.machine.serving(environment.id)).toBe(`slipway-${moved.id}`);
    expect(fresh.machine.app.left(environment.id).sort()).toEqual(['container', 'image', 'network']);
  },
  PATIENCE,
);

test(
  'whoever takes a move up after a crash behind its switch still clears the server that was left',
  async () => {
    old.machine.findDocker();
    await bench.app.sql('update deployment set has_leftovers = false where environment_id = $1', [environment.id]);
    await bench.app.sql('update deployment set is_finished = false where id = $1', [moved.id]);
    expect(await bench.finish(moved)).toMatchObject({ status: 'LIVE' });
    expect(leftThere()).toEqual([]);
    expect(await bench.row(before)).toMatchObject({ image: null });
  },
  PATIENCE,
);

test(
  'what is kept on another server is not forgotten by who prunes here',
  async () => {
    const { image } = (await bench.row(before)) ?? {};
    expect(image).toBe(`slipway/${environment.id}:${before.id}`);
    const next = await bench.left(environment, fresh.machine, { serverId: fresh.serverId });
    expect(await bench.finish(next)).toMatchObject({ status: 'LIVE' });
    expect(await bench.row(before)).toMatchObject({ image, hasLeftovers: true });
    expect(await bench.row(moved)).toMatchObject({ image: `slipway/${environment.id}:${moved.id}` });
  },
  PATIENCE,
);
