import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { type DeploymentAnswer, LocalBench, webApp } from './support/deploy-bench.ts';

let bench: LocalBench;
beforeAll(async () => {
  bench = await LocalBench.start();
});
afterAll(() => bench?.stop());

const BROKEN = webApp('never', { 'server.js': `console.error('no database'); process.exit(3)` });
const NO_BUILD = webApp('never', { Dockerfile: 'FROM node:24-bookworm-slim\nRUN echo first && false\n' });

describe('an environment on a real server', () => {
  let id: string;
  let path: string;
  let first: DeploymentAnswer;
  beforeAll(async () => {
    ({ id, path } = await bench.environment('shop', webApp('one')));
  });

  test('goes live, and answers', async () => {
    first = await bench.deploy(id);
    expect(first).toMatchObject({ status: 'LIVE', phase: 'DRAINING', error: null, number: 1 });
    expect(first.phases.map(({ name }) => name)).toEqual([
      ...['PREPARING', 'BUILDING', 'STARTING', 'VERIFYING', 'SWITCHING', 'DRAINING'],
    ]);
    expect(await bench.get(id)).toMatchObject({ status: 'LIVE', needsDeploy: false, currentDeploymentId: first.id });
    expect(await bench.page(id)).toBe('200 one');
  });

  test('the next commit takes its place, at the same address', async () => {
    const { url } = await bench.get(id);
    bench.git.push(path, webApp('two'), 'second');
    const second = await bench.deploy(id);
    expect(second).toMatchObject({ status: 'LIVE', commit: { message: 'second' } });
    expect((await bench.get(id)).url).toBe(url);
    expect(await bench.page(id)).toBe('200 two');
    const old = await bench.rest<DeploymentAnswer>('GET', `/environments/${id}/deployments/${first.id}`);
    expect(old.body).toMatchObject({ status: 'SUPERSEDED', supersededBy: second.id });
  });

  test('a commit that ends at once leaves the old page, says why, and leaves nothing', async () => {
    bench.git.push(path, BROKEN, 'broken');
    const broken = await bench.deploy(id);
    expect(broken).toMatchObject({ status: 'FAILED', error: { phase: 'VERIFYING', code: 'START_FAILED' } });
    expect(await bench.log(id, broken.id)).toContain('no database');
    expect(await bench.page(id)).toBe('200 two');
    expect(await bench.server.shell(`docker ps --all | grep -c ${broken.id} || true`)).toBe('0');
    expect(await bench.server.shell(`docker images | grep -c ${broken.id} || true`)).toBe('0');
  });

  test('a build that fails says what the build said', async () => {
    bench.git.push(path, NO_BUILD, 'no build');
    const failed = await bench.deploy(id);
    expect(failed).toMatchObject({ status: 'FAILED', error: { phase: 'BUILDING', code: 'BUILD_FAILED' } });
    expect(await bench.log(id, failed.id)).toContain('first');
    expect(await bench.page(id)).toBe('200 two');
  });

  test('goes back to a release that is kept, without a build', async () => {
    const asked = await bench.rest<DeploymentAnswer>(
      'POST',
      `/environments/${id}/deployments/${first.id}/rollback`,
      {},
    );
    expect(asked.status).toBe(202);
    const done = await bench.finished(id, asked.body.id);
    expect(done).toMatchObject({ status: 'LIVE', trigger: 'ROLLBACK', rollbackOf: first.id });
    expect(done.phases.map(({ name }) => name)).not.toContain('BUILDING');
    expect(await bench.page(id)).toBe('200 one');
  });

  test('a commit that did not change is not built again', async () => {
    bench.git.push(path, webApp('three'), 'third');
    await bench.deploy(id);
    const again = await bench.deploy(id);
    expect(again).toMatchObject({ status: 'LIVE' });
    expect(again.phases.map(({ name }) => name)).not.toContain('BUILDING');
    expect(await bench.page(id)).toBe('200 three');
  });

  test('cancelled in mid-build, nothing of it runs any more', async () => {
    bench.git.push(
      path,
      webApp('slow', { Dockerfile: 'FROM node:24-bookworm-slim\nRUN echo begun && sleep 300\n' }),
      'slow',
    );
    const asked = await bench.rest<DeploymentAnswer>('POST', `/environments/${id}/deployments`, {});
    await eventually(async () => (await bench.log(id, asked.body.id)).includes('begun'), 60_000);
    const cancelled = await bench.rest<DeploymentAnswer>(
      'POST',
      `/environments/${id}/deployments/${asked.body.id}/cancel`,
    );
    expect(cancelled).toMatchObject({ status: 202, body: { status: 'CANCELLING' } });
    expect(await bench.finished(id, asked.body.id)).toMatchObject({ status: 'CANCELLED', error: null });
    expect(await bench.server.shell('pgrep -fc "[s]leep 300" || true')).toBe('0');
    expect(await bench.page(id)).toBe('200 three');
  });

  test('deleted, nothing of it is left', async () => {
    const asked = await bench.rest<{ id: string }>('DELETE', `/environments/${id}`);
    expect(asked.status).toBe(202);
    await eventually(async () => (await bench.rest('GET', `/environments/${id}`)).status === 404, 60_000);
    expect(await bench.remains(id)).toBe('');
    expect(await bench.server.shell('ls /var/tmp/slipway-* 2>/dev/null || true')).toBe('');
  });
});
