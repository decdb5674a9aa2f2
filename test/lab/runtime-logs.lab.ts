import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { SseClient } from '../support/sse-client.ts';
import { type DeploymentAnswer, LocalBench, webApp } from './support/deploy-bench.ts';

interface Line {
  at: string;
  stream: string | null;
  message: string;
}

const PATIENCE_MS = 60_000;
const SECRET = 'correct-horse-"battery"-$staple';

/** Says at its start who it is, at each request what was asked for, and its secret as a complaint. */
const talkative = (name: string) =>
  webApp(name, {
    'server.js': `
      console.log('${name} listens');
      console.error('with ' + process.env.PASSWORD);
      const server = require('http').createServer((q, s) => {
        console.log('${name} was asked for ' + q.url);
        if (q.url === '/die') process.exit(1);
        s.end('${name}');
      });
      process.on('SIGTERM', () => { console.log('${name} leaves'); process.exit(0); });
      server.listen(8080)`,
  });

let bench: LocalBench;
let id: string;
let path: string;
let first: DeploymentAnswer;
beforeAll(async () => {
  bench = await LocalBench.start();
  const variables = [{ key: 'PASSWORD', value: SECRET }];
  ({ id, path } = await bench.environment('talk', talkative('one'), { variables }));
  first = await bench.deploy(id);
  expect(first).toMatchObject({ status: 'LIVE' });
});
afterAll(() => bench?.stop());

const follow = (query = '') =>
  SseClient.open(`${bench.app.url}/api/v1/environments/${id}/logs?follow=true${query}`, { token: bench.ann.token });

/** Reads on until somebody says this. */
async function heard(reader: SseClient, message: string): Promise<void> {
  const others: string[] = [];
  const waited = AbortSignal.timeout(PATIENCE_MS);
  const late = new Promise<never>((_, reject) => {
    waited.onabort = () => reject(new Error(`nobody said "${message}", but ${JSON.stringify(others)}`));
  });
  for (;;) {
    const [line] = await Promise.race([reader.read<Line>(1), late]);
    if (line?.message === message) return;
    others.push(line?.message ?? '');
  }
}

test('the last lines of what runs, with their moments, without secrets', async () => {
  await bench.page(id, '/hello');
  const { body } = await bench.rest<Line[]>('GET', `/environments/${id}/logs?tail=50`);
  const messages = body.map(({ stream, message }) => `${stream} ${message}`);
  // Two streams have no order but that in which Docker heard of them.
  expect(messages.slice(0, 2).sort()).toEqual(['STDERR with [secret]', 'STDOUT one listens']);
  expect(messages.at(-1)).toBe('STDOUT one was asked for /hello');
  const since = body.at(-1)?.at ?? '';
  expect(Math.abs(Date.parse(since) - Date.now())).toBeLessThan(60_000);
  const later = await bench.rest<Line[]>('GET', `/environments/${id}/logs?since=${since}`);
  expect(later.body.at(-1)?.message).toBe('one was asked for /hello');
});

test('followed over a restart and over the next release, to the last word of the old one', async () => {
  const reader = await follow('&tail=0');
  await bench.page(id, '/followed');
  await heard(reader, 'one was asked for /followed');
  await bench.page(id, '/die').catch(() => undefined);
  await heard(reader, 'one listens');
  bench.git.push(path, talkative('two'), 'second');
  const second = await bench.deploy(id);
  expect(second).toMatchObject({ status: 'LIVE', number: 2 });
  await heard(reader, 'Deployment 2 serves now');
  await bench.page(id, '/again');
  const rest: string[] = [];
  while (!rest.includes('Deployment 1 has ended') || !rest.includes('two was asked for /again'))
    rest.push(...(await reader.read<Line>(1)).map(({ message }) => message));
  expect(rest).toContain('two listens');
  expect(rest).toContain('one leaves');
  expect(rest.filter(message => message === 'two listens')).toHaveLength(1);
  await reader.cut();
  // Nothing stays behind on the server for one who left.
  await eventually(async () => (await bench.server.shell('pgrep -fc "dial-stdi[o]" || true')) === '0', PATIENCE_MS);
});

test('what is gone from the server is said to be', async () => {
  const { currentDeploymentId } = await bench.get(id);
  const reader = await follow('&tail=0');
  await bench.server.exec('docker', 'rm', '--force', `slipway-${currentDeploymentId}`);
  await heard(reader, 'Deployment 2 has ended');
  await reader.ended;
  expect((await bench.rest<{ code: string }>('GET', `/environments/${id}/logs`)).body.code).toBe('NOT_DEPLOYED');
});
