import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { type DeploymentAnswer, LocalBench } from './support/deploy-bench.ts';

let bench: LocalBench;
beforeAll(async () => {
  bench = await LocalBench.start();
});
afterAll(() => bench?.stop());

const NODE = 'FROM node:24-bookworm-slim\nWORKDIR /app\nCOPY . .\n';

/** Notes each of its starts in its data, and says them on and on. */
const bot = (text: string): string => `
const fs = require('fs');
fs.appendFileSync('/data/starts', '${text} ');
setInterval(() => console.log('started:', fs.readFileSync('/data/starts', 'utf8')), 300);
process.on('SIGTERM', () => process.exit(0));`;

const outputOf = (container: string): Promise<string> => bench.server.shell(`docker logs --tail 1 ${container} 2>&1`);

const list = (id: string, ...words: string[]): Promise<string> =>
  bench.server.exec('docker', ...words, '--filter', `label=slipway.environment=${id}`);

/** With one Dockerfile at the root a repository would be built from that alone. */
async function composed(name: string, files: Record<string, string>): Promise<{ id: string; path: string }> {
  const made = await bench.environment(name, files);
  await bench.rest('PATCH', `/environments/${made.id}`, { build: { builder: 'COMPOSE' } });
  return made;
}

describe('a program with data that does not listen', () => {
  let id: string;
  let path: string;
  const files = (text: string, more = '') => ({
    'compose.yaml': `services: {bot: {build: ., volumes: [data:/data]${more}}}\nvolumes: {data: }`,
    Dockerfile: `${NODE}CMD ["node", "bot.js"]`,
    'bot.js': bot(text),
  });
  beforeAll(async () => {
    ({ id, path } = await composed('bot', files('one')));
  });

  test('goes live, alone', async () => {
    expect(await bench.deploy(id)).toMatchObject({ status: 'LIVE', error: null });
    expect(await bench.get(id)).toMatchObject({ status: 'LIVE', url: null });
    expect(await outputOf(`slipway-${id}-bot`)).toBe('started: one');
  });

  test('is replaced by another version, never beside it, on the same data', async () => {
    bench.git.push(path, files('two'), 'second');
    expect(await bench.deploy(id)).toMatchObject({ status: 'LIVE' });
    expect(await list(id, 'ps', '--all', '--format', '{{.Names}}')).toBe(`slipway-${id}-bot`);
    await eventually(async () => (await outputOf(`slipway-${id}-bot`)) === 'started: one two');
  });

  test('stays as it is where nothing has changed', async () => {
    const ignored = (text: string) => ({
      ...files('two'),
      'README.md': text,
      '.dockerignore': 'README.md\n.dockerignore',
    });
    bench.git.push(path, ignored('not in the image'), 'third');
    expect(await bench.deploy(id)).toMatchObject({ status: 'LIVE' });
    const before = await list(id, 'ps', '--quiet');
    bench.git.push(path, ignored('other words'), 'fourth');
    expect(await bench.deploy(id)).toMatchObject({ status: 'LIVE' });
    expect(await list(id, 'ps', '--quiet')).toBe(before);
  });

  test('comes back with its old version where the new one cannot be started', async () => {
    const before = await list(id, 'ps', '--quiet');
    bench.git.push(path, files('three', ', command: [no-such-program]'), 'broken');
    expect(await bench.deploy(id)).toMatchObject({ status: 'FAILED', error: { code: 'START_FAILED' } });
    expect(await list(id, 'ps', '--quiet')).toBe(before);
    expect(await list(id, 'ps', '--all', '--format', '{{.Names}}')).toBe(`slipway-${id}-bot`);
  });

  test('is restarted and stopped as others are', async () => {
    for (const verb of ['restart', 'stop', 'start']) {
      const run = await bench.rest<{ id: string }>('POST', `/environments/${id}/${verb}`);
      await eventually(async () => {
        const { body } = await bench.rest<{ status: string }>('GET', `/runs/${run.body.id}`);
        return body.status === 'SUCCEEDED';
      }, 60_000);
      expect((await bench.get(id)).status).toBe(verb === 'stop' ? 'STOPPED' : 'LIVE');
    }
  });
});

describe('data that only an image declares', () => {
  let id: string;
  let path: string;
  const files = (text: string, more = 'cache: {image: node:24-bookworm-slim, command: [sleep, "9999"]}') => ({
    'compose.yaml': `services:\n  bot: {build: ., stop_grace_period: 2s}\n  ${more}\n`,
    Dockerfile: `${NODE}RUN mkdir /data\nVOLUME /data\nCMD ["node", "bot.js"]`,
    'bot.js': bot(text),
  });
  beforeAll(async () => {
    ({ id, path } = await composed('declared', files('one')));
  });

  test('are kept from release to release', async () => {
    expect(await bench.deploy(id)).toMatchObject({ status: 'LIVE', error: null });
    bench.git.push(path, files('two'), 'second');
    expect(await bench.deploy(id)).toMatchObject({ status: 'LIVE' });
    await eventually(async () => (await outputOf(`slipway-${id}-bot`)) === 'started: one two');
  });

  test('a job that is cancelled leaves nothing, and the release as it was', async () => {
    const before = await list(id, 'ps', '--quiet');
    const slow =
      'job: {image: node:24-bookworm-slim, command: [sleep, "9999"]}\n  late: {image: node:24-bookworm-slim, depends_on: {job: {condition: service_completed_successfully}}}';
    bench.git.push(path, files('three', slow), 'slow');
    const asked = await bench.rest<DeploymentAnswer>('POST', `/environments/${id}/deployments`, {});
    await eventually(async () => (await bench.log(id, asked.body.id)).includes('Running the job'), 60_000);
    await bench.rest('POST', `/environments/${id}/deployments/${asked.body.id}/cancel`);
    expect(await bench.finished(id, asked.body.id)).toMatchObject({ status: 'CANCELLED' });
    expect((await list(id, 'ps', '--all', '--quiet')).split('\n').sort()).toEqual(before.split('\n').sort());
    expect(await bench.server.shell(`(docker images; docker network ls) | grep -c ${asked.body.id} || true`)).toBe('0');
  });

  test('the Dockerfile alone can take over, and the compose file come back with its data', async () => {
    const { currentDeploymentId: before } = await bench.get(id);
    // What was cancelled may have come so far as to start its own.
    const said = await outputOf(`slipway-${id}-bot`);
    await bench.rest('PATCH', `/environments/${id}`, { build: { builder: 'DOCKERFILE' } });
    const plain = await bench.deploy(id, { commit: (await bench.finished(id, before ?? '')).commit?.sha });
    expect(plain).toMatchObject({ status: 'LIVE' });
    expect(await list(id, 'ps', '--all', '--format', '{{.Names}}')).toBe(`slipway-${plain.id}`);
    expect(await list(id, 'network', 'ls', '--format', '{{.Name}}')).toBe(`slipway-${id}`);
    const asked = await bench.rest<DeploymentAnswer>('POST', `/environments/${id}/deployments/${before}/rollback`, {});
    expect(await bench.finished(id, asked.body.id)).toMatchObject({ status: 'LIVE' });
    await eventually(async () => (await outputOf(`slipway-${id}-bot`)) === `${said} two`);
    await bench.rest('PATCH', `/environments/${id}`, { build: { builder: 'COMPOSE' } });
  });

  test('a service that the file no longer has is removed; its data stay until they are deleted, too', async () => {
    const file = 'services: {cache: {image: node:24-bookworm-slim, command: [sleep, "9999"]}}';
    bench.git.push(path, { ...files('four'), 'compose.yaml': file }, 'without');
    const without = await bench.deploy(id);
    expect(without).toMatchObject({ status: 'LIVE' });
    expect(await list(id, 'ps', '--all', '--format', '{{.Names}}')).toBe(`slipway-${without.id}`);
    expect((await list(id, 'volume', 'ls', '--quiet')).split('\n')).toHaveLength(1);
    const confirm = 'declared/production';
    const asked = await bench.rest('DELETE', `/environments/${id}?deleteData=true&confirm=${confirm}`);
    expect(asked.status).toBe(202);
    await eventually(async () => (await bench.rest('GET', `/environments/${id}`)).status === 404, 60_000);
    expect(await bench.remains(id)).toBe('');
  });
});
