import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { AppMachine } from '../support/app-machine.ts';
import { payloadsOf } from '../support/attacks.ts';
import { EnvironmentBench } from '../support/environments.ts';

const PATIENCE = 120_000;
const folder = mkdtempSync(join(tmpdir(), 'slipway-payloads-'));
const sentinel = join(folder, 'was-here');

let bench: EnvironmentBench;
let machine: AppMachine;
let projectId: string;
let serverId: string;
let usual: Set<string>;

beforeAll(async () => {
  bench = await EnvironmentBench.start();
  machine = await AppMachine.start();
  projectId = await bench.project();
  serverId = await bench.server(machine.place);
  usual = await live(async () => undefined);
  expect(usual.size).toBeGreaterThan(1);
}, PATIENCE);
afterAll(async () => {
  await bench.stop();
  await machine.stop();
  rmSync(folder, { recursive: true, force: true });
});

const ids = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** All that was said to the machine since the last time, whatever ids there are in it. */
const takeCommands = (): string[] => machine.machine.commands.splice(0).map(command => command.replace(ids, 'ID'));

/** Everything that is ever done with an environment besides deploying it. What the server itself is asked now and then is left out. */
async function live(change: (path: string) => Promise<void>): Promise<Set<string>> {
  const { id } = await machine.release(bench, projectId, serverId);
  const path = `/environments/${id}`;
  const { token } = bench.ann;
  await change(path);
  const before = takeCommands();
  for (const verb of ['restart', 'stop', 'start'])
    await bench.ended((await bench.app.rest<{ id: string }>('POST', `${path}/${verb}`, { token })).body);
  await bench.look();
  await bench.ended((await bench.app.rest<{ id: string }>('DELETE', path, { token })).body);
  return new Set([...before, ...takeCommands()].filter(command => /dial-stdio|command -v docker|ufw/.test(command)));
}

type Wish = [method: 'PATCH' | 'POST', path: string, body: (value: string) => object];

const FIELDS: [name: string, good: string, Wish][] = [
  ['name', 'production', ['PATCH', '', name => ({ name })]],
  ['preDeployCommand', 'npm run migrate', ['PATCH', '', preDeployCommand => ({ preDeployCommand })]],
  ['healthCheck.path', '/up', ['PATCH', '', path => ({ healthCheck: { path } })]],
  ['build.startCommand', 'node .', ['PATCH', '', startCommand => ({ build: { startCommand } })]],
  ['build.dockerfile', 'Dockerfile', ['PATCH', '', dockerfile => ({ build: { dockerfile } })]],
  ['branch', 'main', ['PATCH', '/branch', branch => ({ branch })]],
  ['service.name', 'db', ['POST', '/services', name => ({ services: [{ name, kind: 'REDIS' }] })]],
  ['service.version', '8', ['POST', '/services', version => ({ services: [{ name: 'db', kind: 'REDIS', version }] })]],
  ['confirm', 'shop/production', ['POST', '/services', confirm => ({ services: [], confirm })]],
  ['hostname', 'a.example.org', ['POST', '/domain', hostname => ({ hostname })]],
  ['certificate', '-----BEGIN CERTIFICATE-----', ['POST', '/domain', own('certificate')]],
  ['privateKey', '-----BEGIN PRIVATE KEY-----', ['POST', '/domain', own('privateKey')]],
  ['variable.key', 'KEY', ['POST', '/variables', key => ({ variables: [{ key, value: '' }] })]],
  ['variable.value', 'value', ['POST', '/variables', value => ({ variables: [{ key: 'KEY', value }] })]],
  ['dotenv', 'KEY=value', ['POST', '/variables', dotenv => ({ dotenv })]],
];

function own(field: string): (value: string) => object {
  return value => ({ hostname: 'b.example.org', ssl: 'CUSTOM', certificate: 'x', privateKey: 'x', [field]: value });
}

/** Of those that are taken a few go all the way to the machine, all fields at once: each is a whole life. */
const FEW = 4;
const taken = new Map<Wish, string[]>();

test.each(FIELDS)(
  'no %s of an environment breaks anything',
  async (_, good, wish) => {
    const [method, place, body] = wish;
    const { id } = await bench.environment({ projectId });
    const payloads = payloadsOf(good, sentinel);
    expect(payloads.length).toBeGreaterThanOrEqual(300);
    const accepted: string[] = [];
    for (const payload of payloads) {
      const request = { token: bench.ann.token, body: body(payload) };
      const { status } = await bench.app.rest(method, `/environments/${id}${place}`, request);
      if (![200, 400, 404, 409].includes(status)) throw new Error(`${status} for ${JSON.stringify(payload)}`);
      if (status === 200) accepted.push(payload);
    }
    taken.set(wish, accepted);
    expect(existsSync(sentinel)).toBe(false);
  },
  PATIENCE,
);

test(
  'whatever an environment was given, nothing of it becomes a word of a command',
  async () => {
    expect([...taken.values()].filter(payloads => payloads.length > 50).length).toBeGreaterThan(3);
    for (let index = 0; index < FEW; index += 1) {
      const odd = await live(async path => {
        for (const [[method, place, body], payloads] of taken) {
          const payload = payloads[Math.floor((payloads.length * index) / FEW)];
          if (payload === undefined) continue;
          await bench.app.rest(method, path + place, { token: bench.ann.token, body: body(payload) });
        }
      });
      expect([...odd].filter(command => !usual.has(command))).toEqual([]);
    }
    expect(existsSync(sentinel)).toBe(false);
  },
  PATIENCE,
);
