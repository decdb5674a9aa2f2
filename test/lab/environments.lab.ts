import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { addServer, IMAGES, LocalBench, webApp } from './support/deploy-bench.ts';
import { LabServer } from './support/lab-server.ts';

interface RunAnswer {
  id: string;
  status: string;
  error: { code: string } | null;
  leftBehind: string[];
  finishedAt: string | null;
}

const RUN_MS = 90_000;

let bench: LocalBench;
let second: LabServer;
let secondId: string;
beforeAll(async () => {
  bench = await LocalBench.start();
  ({ server: second, serverId: secondId } = await startServer('second'));
});
afterAll(async () => {
  await bench?.stop();
  await second?.stop();
});

async function startServer(name: string): Promise<{ server: LabServer; serverId: string }> {
  const server = await LabServer.start({ hasDocker: true });
  await server.load(...IMAGES);
  return { server, serverId: await addServer((...words) => bench.rest(...words), server, name) };
}

async function done(method: string, path: string): Promise<RunAnswer> {
  const asked = await bench.rest<RunAnswer>(method, path);
  expect(asked.status).toBe(202);
  return eventually(async () => {
    const { body } = await bench.rest<RunAnswer>('GET', `/runs/${asked.body.id}`);
    return body.finishedAt === null ? undefined : body;
  }, RUN_MS);
}

/** What another look says of it: as every minute, but now. */
async function seen(id: string): Promise<string> {
  const { boss } = bench.app.app.queue;
  const job = (await boss.send('apps.watch', {})) ?? '';
  await eventually(async () => (await boss.findJobs('apps.watch', { id: job }))[0]?.state === 'completed', RUN_MS);
  return (await bench.get(id)).status;
}

describe('what runs on a real server', () => {
  let id: string;
  let path: string;
  let release: string;
  beforeAll(async () => {
    ({ id, path } = await bench.environment('shop', webApp('one')));
    release = (await bench.deploy(id)).id;
  });

  test('is stopped, and stays so; is started, and answers', async () => {
    expect(await done('POST', `/environments/${id}/stop`)).toMatchObject({ status: 'SUCCEEDED' });
    expect(await bench.get(id)).toMatchObject({ status: 'STOPPED' });
    expect(await bench.page(id).catch(() => 'nobody')).not.toMatch(/^200/);
    expect(await seen(id)).toBe('STOPPED');
    expect(await done('POST', `/environments/${id}/start`)).toMatchObject({ status: 'SUCCEEDED' });
    expect(await bench.get(id)).toMatchObject({ status: 'LIVE' });
    expect(await bench.page(id)).toBe('200 one');
  });

  test('is another process after a restart', async () => {
    const pid = () => bench.server.exec('docker', 'inspect', '--format', '{{.State.Pid}}', `slipway-${release}`);
    const before = await pid();
    expect(await done('POST', `/environments/${id}/restart`)).toMatchObject({ status: 'SUCCEEDED' });
    expect(await pid()).not.toBe(before);
    expect(await bench.page(id)).toBe('200 one');
    expect(await seen(id)).toBe('LIVE');
  });

  test('that ends by itself is degraded, that is ended for good is down, that comes back is live', async () => {
    // Killed from within it ends by itself, and Docker starts it anew.
    await bench.server.exec('docker', 'exec', `slipway-${release}`, 'node', '-e', 'process.kill(1, "SIGTERM")');
    await bench.server.shell(`pkill -KILL -f '[s]erver.js' || true`);
    await eventually(async () => (await bench.page(id).catch(() => '')) === '200 one', RUN_MS);
    expect(await seen(id)).toBe('DEGRADED');
    expect(await seen(id)).toBe('LIVE');
    await bench.server.exec('docker', 'stop', '--time', '0', `slipway-${release}`);
    expect(await seen(id)).toBe('DOWN');
    await bench.server.exec('docker', 'start', `slipway-${release}`);
    await eventually(async () => (await bench.page(id).catch(() => '')) === '200 one', RUN_MS);
    expect(await seen(id)).toBe('LIVE');
  });

  test('moves to another server, serving all the way, and leaves nothing but its port', async () => {
    const { url } = await bench.get(id);
    const moved = await bench.rest<{ latestDeploymentId: string }>('PATCH', `/environments/${id}/server`, {
      serverId: secondId,
    });
    expect(moved.status).toBe(202);
    expect(await (await fetch(url ?? '')).text()).toBe('one');
    expect(await bench.finished(id, moved.body.latestDeploymentId)).toMatchObject({ status: 'LIVE', trigger: 'MOVE' });
    expect(await bench.get(id)).toMatchObject({ serverId: secondId, status: 'LIVE', needsDeploy: false });
    expect((await bench.get(id)).url).toContain(second.address);
    expect(await bench.page(id)).toBe('200 one');
    expect(await bench.remains(id)).toBe('');
    bench.git.push(path, webApp('two'), 'second');
    expect(await bench.deploy(id)).toMatchObject({ status: 'LIVE' });
    expect(await bench.page(id)).toBe('200 two');
  });

  test('a server that is gone fails a deletion; by force all but what is there is gone', async () => {
    await second.switchOff();
    expect(await seen(id)).toBe('LIVE');
    expect((await bench.get(id)).statusReason).toMatch(/cannot be reached/);
    expect(await done('DELETE', `/environments/${id}`)).toMatchObject({
      status: 'FAILED',
      error: { code: 'SERVER_UNREACHABLE' },
    });
    await eventually(async () => (await bench.get(id)).status === 'DELETE_FAILED');
    const forced = await done('DELETE', `/environments/${id}?force=true`);
    expect(forced).toMatchObject({ status: 'SUCCEEDED' });
    expect(forced.leftBehind.join('\n')).toMatch(/^second: container slipway-/);
    expect(await bench.rest('GET', `/environments/${id}`)).toMatchObject({ status: 404 });
  });
});

test('an environment whose server is gone goes on elsewhere by force', async () => {
  const third = await startServer('third');
  const { id } = await bench.environment('store', webApp('here'), { serverId: third.serverId });
  await bench.deploy(id).finally(() => third.server.stop());
  const asked = { serverId: bench.serverId, force: true };
  const moved = await bench.rest<{ latestDeploymentId: string }>('PATCH', `/environments/${id}/server`, asked);
  expect(moved).toMatchObject({ status: 202, body: { serverId: bench.serverId, status: 'IDLE' } });
  expect(moved.headers.get('x-warnings')).toMatch(/Left behind on third/);
  expect(await bench.finished(id, moved.body.latestDeploymentId)).toMatchObject({ status: 'LIVE' });
  expect(await bench.page(id)).toBe('200 here');
});
