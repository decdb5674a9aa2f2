import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/create-app.ts';

const TOKEN = 'a token for the metrics alone';

let open: TestApp;
let guarded: TestApp;
let proxied: TestApp;
beforeAll(async () => {
  open = await TestApp.start();
  guarded = await TestApp.start({ METRICS_TOKEN: TOKEN, TRUST_PROXY: '127.0.0.1' });
  proxied = await TestApp.start({ TRUST_PROXY: '127.0.0.1' });
});
afterAll(async () => {
  for (const app of [open, guarded, proxied]) await app.stop();
});

const metricsOf = ({ url }: { url: string }, headers: Record<string, string> = {}) =>
  fetch(`${url}/metrics`, { headers });

interface Family {
  type: string;
  samples: { name: string; labels: Record<string, string>; value: number }[];
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;

/** Prometheus's text format, strictly: each sample below the HELP and TYPE of its family. */
function parse(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  let current = '';
  for (const line of text.split('\n').filter(each => each !== '')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind === 'HELP') current = name;
    else if (kind === 'TYPE') {
      if (name !== current || families.has(name)) throw new Error(`${name} has no HELP, or two TYPEs`);
      families.set(name, { type: rest, samples: [] });
    } else addSample(families, current, line);
  }
  return families;
}

function addSample(families: Map<string, Family>, current: string, line: string): void {
  const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
  const family = families.get(current);
  if (family === undefined || !name.startsWith(current)) throw new Error(`${line} belongs to no family`);
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\\n]|\\.)*)"/g)].map(([, key = '', text = '']) => [key, text]);
  if (Number.isNaN(Number(value.replace('+Inf', 'Infinity')))) throw new Error(`${line} has no value`);
  family.samples.push({ name, labels: Object.fromEntries(pairs), value: Number(value) });
}

describe('what is measured', () => {
  test('is text that Prometheus reads, with the process, the event loop and the requests by door', async () => {
    const { token } = await open.register();
    await open.graphql('{ me { id } }', {}, token);
    await open.rest('GET', '/nowhere', { token });
    const response = await metricsOf(open);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const families = parse(await response.text());
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'nodejs_eventloop_lag_p99_seconds',
    ])
      expect(families.get(name)?.samples).toHaveLength(1);
    const { type, samples } = families.get('slipway_http_request_seconds') as Family;
    expect(type).toBe('histogram');
    const counts = samples.filter(({ name }) => name.endsWith('_count'));
    const count = (door: string, status: string) =>
      counts
        .filter(({ labels }) => labels.door === door && labels.status === status)
        .reduce((sum, { value }) => sum + value, 0);
    expect(count('graphql', '200')).toBe(1);
    expect(count('rest', '404')).toBe(1);
    expect(count('rest', '201')).toBe(1);
    for (const { labels, value } of counts) {
      const buckets = samples.filter(
        each =>
          each.name.endsWith('_bucket') &&
          each.labels.door === labels.door &&
          each.labels.status === labels.status &&
          each.labels.method === labels.method,
      );
      const values = buckets.map(bucket => bucket.value);
      expect(values).toEqual([...values].sort((a, b) => a - b));
      expect(buckets.find(bucket => bucket.labels.le === '+Inf')?.value).toBe(value);
    }
  });

  test('does not grow with what callers send: no path, id or method of theirs is a label', async () => {
    for (const method of ['GET', 'PROPFIND', 'REPORT']) await fetch(`${open.url}/api/v1/${method}-made-up`, { method });
    const text = await (await metricsOf(open)).text();
    expect(text).not.toContain('made-up');
  });
});

describe('who may read it', () => {
  test('with METRICS_TOKEN whoever shows it, from wherever and behind a proxy too, and nobody else', async () => {
    expect((await metricsOf(guarded, { authorization: `Bearer ${TOKEN}` })).status).toBe(200);
    const { token } = await guarded.register();
    const refused: Record<string, string>[] = [
      {},
      { authorization: 'Bearer ' },
      { authorization: `Bearer ${TOKEN}x` },
      { authorization: `Bearer ${token}` },
    ];
    for (const headers of refused) {
      const answer = await metricsOf(guarded, headers);
      expect(answer.status).toBe(401);
      expect(await answer.json()).toMatchObject({ code: 'UNAUTHENTICATED' });
    }
  });

  test('without it nobody while TRUST_PROXY is set: there everyone looks like this machine', async () => {
    expect((await metricsOf(proxied)).status).toBe(404);
    expect((await metricsOf(proxied, { authorization: `Bearer ${TOKEN}` })).status).toBe(404);
  });

  const external = Object.values(networkInterfaces())
    .flat()
    .find(each => each?.family === 'IPv4' && !each.internal)?.address;
  const whereThereIsANetwork = external === undefined ? test.skip : test;

  whereThereIsANetwork('without it this machine alone, and a header does not make anybody this machine', async () => {
    expect((await metricsOf(open)).status).toBe(200);
    const door = createServer(socket => open.app.server.emit('connection', socket));
    await new Promise<void>(resolve => door.listen(0, external, resolve));
    const { port } = door.address() as { port: number };
    const claims: Record<string, string>[] = [{}, { 'x-forwarded-for': '127.0.0.1' }];
    const answers = claims.map(headers => metricsOf({ url: `http://${external}:${port}` }, headers));
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([404, 404]);
    door.close();
  });
});
