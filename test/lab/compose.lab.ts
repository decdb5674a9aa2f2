import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { composeShop } from './support/compose-shop.ts';
import { type DeploymentAnswer, LocalBench } from './support/deploy-bench.ts';

let bench: LocalBench;
beforeAll(async () => {
  bench = await LocalBench.start();
});
afterAll(() => bench?.stop());

/** Containers by their names, with their ids. */
const containers = async (id: string): Promise<string[]> => {
  const format = '{{.Names}} {{.ID}} {{.State}}';
  const label = `label=slipway.environment=${id}`;
  const listed = await bench.server.exec('docker', 'ps', '--all', '--filter', label, '--format', format);
  return listed.split('\n').sort();
};

const store = async (id: string): Promise<string> =>
  (await containers(id)).filter(line => line.includes('store')).join();

const leftOf = (id: string): Promise<string> =>
  bench.server.shell(`(docker ps --all; docker images; docker network ls) | grep -c ${id} || true`);

describe('a compose file on a real server', () => {
  let id: string;
  let path: string;
  let first: DeploymentAnswer;
  let firstStore: string;
  beforeAll(async () => {
    ({ id, path } = await bench.environment('composed', composeShop({ text: 'one' })));
    const variables = [
      { key: 'API_KEY', value: `k$'"\n#1` },
      { key: 'SECRET', value: 'hush hush' },
    ];
    await bench.rest('POST', `/environments/${id}/variables`, { variables });
  });

  test('goes live: its services find each other, the job ran first, variables arrive', async () => {
    first = await bench.deploy(id);
    expect(first).toMatchObject({ status: 'LIVE', error: null });
    expect(await bench.page(id)).toBe(`200 one hello api-one-k$'"\n#1 1`);
    expect(await bench.page(id, '/secret')).toBe('200 hush hush');
    const log = await bench.log(id, first.id);
    for (const line of ['Building the service web', 'Building the service api', 'Running the job count', 'counted'])
      expect(log).toContain(line);
    firstStore = await store(id);
    expect(firstStore).toContain('running');
  });

  test('publishes nothing on the server but the port of its proxy', async () => {
    const ports = await bench.server.exec('docker', 'ps', '--format', '{{.Names}} {{.Ports}}');
    expect(ports.match(/0\.0\.0\.0|::/g)).toBeNull();
    expect(ports.match(/127\.0\.0\.1:\d+->8080/g)).toHaveLength(1);
  });

  test('the next commit takes its place; what has data goes on running', async () => {
    bench.git.push(path, composeShop({ text: 'two' }), 'second');
    expect(await bench.deploy(id)).toMatchObject({ status: 'LIVE' });
    expect(await bench.page(id)).toBe(`200 two hello api-two-k$'"\n#1 2`);
    expect(await store(id)).toBe(firstStore);
    expect(await leftOf(`slipway-${first.id}`)).toBe('0');
  });

  test('a commit that did not change is not built again', async () => {
    const again = await bench.deploy(id);
    expect(again).toMatchObject({ status: 'LIVE' });
    expect(again.phases.map(({ name }) => name)).not.toContain('BUILDING');
    expect(await bench.page(id)).toBe(`200 two hello api-two-k$'"\n#1 3`);
  });

  test.each([
    ['a web service that ends', { isBroken: true }, 'no web', 'web'],
    ['another service that ends', { isApiBroken: true }, 'no api', 'api'],
    ['a job that fails', { isJobBroken: true }, 'cannot migrate', 'count'],
  ])('%s leaves the old release as it was, and nothing of the new one', async (_, fault, said, service) => {
    bench.git.push(path, composeShop({ text: 'never', storeSetting: 'other', ...fault }), 'broken');
    const broken = await bench.deploy(id);
    expect(broken).toMatchObject({ status: 'FAILED', error: { code: 'START_FAILED' } });
    expect(broken.error?.message).toContain(service);
    expect(await bench.log(id, broken.id)).toContain(said);
    expect(await store(id)).toBe(firstStore);
    await eventually(async () => /^200 two hello api-two/.test(await bench.page(id)));
    expect(await leftOf(broken.id)).toBe('0');
  });

  test('a service with data that changed is replaced in its place, with its data', async () => {
    const before = Number((await bench.page(id)).split(' ').at(-1));
    bench.git.push(path, composeShop({ text: 'three', storeSetting: 'other' }), 'third');
    const third = await bench.deploy(id);
    expect(third).toMatchObject({ status: 'LIVE' });
    expect(await bench.page(id)).toBe(`200 three hello api-three-k$'"\n#1 ${before + 1}`);
    expect(await bench.log(id, third.id)).toContain('The service store has changed');
    const now = await store(id);
    expect(now).not.toBe(firstStore);
    expect(now.split(',')).toHaveLength(1);
  });

  test('goes back to a release that is kept, with its variables, without a build or a job', async () => {
    const variables = [
      { key: 'GREETING', value: 'bye' },
      { key: 'SECRET', value: 'changed' },
    ];
    await bench.rest('POST', `/environments/${id}/variables`, { variables });
    const before = (await bench.page(id)).split(' ').at(-1);
    const rollback = `/environments/${id}/deployments/${first.id}/rollback`;
    const done = await bench.finished(id, (await bench.rest<DeploymentAnswer>('POST', rollback, {})).body.id);
    expect(done).toMatchObject({ status: 'LIVE', trigger: 'ROLLBACK' });
    expect(done.phases.map(({ name }) => name)).not.toContain('BUILDING');
    expect(await bench.page(id)).toBe(`200 one hello api-one-k$'"\n#1 ${before}`);
    expect(await bench.page(id, '/secret')).toBe('200 hush hush');
  });

  test('the pre-deploy command finds the services with data', async () => {
    const preDeployCommand = `node -e "fetch('http://store:4000/').then(r => r.text()).then(t => console.log('seen', t, process.env.GREETING))"`;
    await bench.rest('PATCH', `/environments/${id}`, { preDeployCommand });
    const done = await bench.deploy(id);
    expect(done).toMatchObject({ status: 'LIVE' });
    expect(await bench.log(id, done.id)).toMatch(/seen \d+ bye/);
    expect(await bench.page(id)).toMatch(/^200 three bye api-three/);
  });

  test('one that would take the server is refused before anything happens', async () => {
    const hostile = composeShop({ text: 'evil' });
    const file = hostile['compose.yaml'].replace('build: ./web', 'build: ./web\n    privileged: true');
    bench.git.push(path, { ...hostile, 'compose.yaml': file }, 'hostile');
    const refused = await bench.deploy(id);
    expect(refused).toMatchObject({ status: 'FAILED', error: { phase: 'PREPARING', code: 'COMPOSE_REFUSED' } });
    expect(refused.error?.message).toContain('services.web.privileged');
    expect(await bench.page(id)).toMatch(/^200 three/);
  });

  test('deleted, it leaves its volume alone, and nothing else', async () => {
    const asked = await bench.rest('DELETE', `/environments/${id}`);
    expect(asked.status).toBe(202);
    await eventually(async () => (await bench.rest('GET', `/environments/${id}`)).status === 404);
    const label = `label=slipway.environment=${id}`;
    const volume = await bench.server.exec('docker', 'volume', 'ls', '--quiet', '--filter', label);
    expect(volume).toBe(`slipway-${id}-data`);
    expect(await bench.remains(id)).toBe(volume);
  });
});
