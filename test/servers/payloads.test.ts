import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { payloadsOf } from '../support/attacks.ts';
import { ServerBench } from '../support/servers.ts';
import { SseClient } from '../support/sse-client.ts';
import { makePrivateKey } from '../support/ssh-keys.ts';
import { SshMachine } from '../support/ssh-machine.ts';

const PATIENCE = 120_000;
const folder = mkdtempSync(join(tmpdir(), 'slipway-payloads-'));
const sentinel = join(folder, 'was-here');
const PASSWORD = 'a good one';

let bench: ServerBench;
let machine: SshMachine;
/** What is said to a machine of which nothing is odd. */
let usual: Set<string>;
let good: Record<string, unknown>;

beforeAll(async () => {
  bench = await ServerBench.start();
  machine = await SshMachine.start();
  machine.program('docker', 'echo 27.1.0');
  const privateKey = makePrivateKey();
  good = { name: 'web', host: '127.0.0.1', port: machine.port, username: 'root', privateKey };
  const { id } = (await bench.add(good)).body;
  await bench.until(id, 'READY');
  await bench.test({ serverId: id });
  await bench.untilJudged(id);
  usual = new Set(machine.commands.map(withoutId));
}, PATIENCE);
afterAll(async () => {
  await bench.stop();
  await machine.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Each call has an id of its own, by which it can be ended; whatever is no id of ours stays to be seen. */
const withoutId = (command: string): string => command.replace(/^env SLIPWAY_CALL=[0-9a-f-]{36} /, '');

/** Every word that reached the machine is one that reaches every machine. */
function expectNothingElse(): void {
  expect(machine.commands.map(withoutId).filter(command => !usual.has(command))).toEqual([]);
  expect(existsSync(sentinel)).toBe(false);
}

const FIELDS: [field: string, good: string][] = [
  ['name', 'web'],
  ['host', '127.0.0.1'],
  ['username', 'deploy'],
  ['hostKeyFingerprint', `SHA256:${'A'.repeat(43)}`],
  ['privateKey', '-----BEGIN OPENSSH PRIVATE KEY-----'],
  ['passphrase', 'opens it'],
  ['password', PASSWORD],
];

/** With a password the machine has to be known. */
const beside = (field: string): object =>
  field === 'password' ? { privateKey: null, hostKeyFingerprint: machine.fingerprint } : {};

/** Of those that are taken a few go all the way to the machine: each is a whole conversation. */
const FEW = 8;
const some = (payloads: string[]): string[] =>
  payloads.filter((_, index) => index % Math.ceil(payloads.length / FEW) === 0);

test.each(FIELDS)(
  'no %s of a server becomes a word of a command',
  async (field, sound) => {
    const payloads = payloadsOf(sound, sentinel);
    expect(payloads.length).toBeGreaterThanOrEqual(300);
    const taken: string[] = [];
    for (const payload of payloads) {
      // Nobody listens there: what is taken is found out first.
      const { status } = await bench.add({ ...good, ...beside(field), port: 1, [field]: payload });
      expect([201, 400]).toContain(status);
      if (status === 201) taken.push(payload);
    }
    await bench.app.sql('delete from server where port = 1');
    for (const payload of some(taken)) {
      const { id } = (await bench.add({ ...good, ...beside(field), [field]: payload })).body;
      await bench.look(id);
    }
    expectNothingElse();
  },
  PATIENCE,
);

test.each(FIELDS.filter(([field]) => field !== 'name'))(
  'no %s of a test becomes a word of a command',
  async (field, sound) => {
    const { name: _, ...place } = good;
    const url = `${bench.app.url}/api/v1/servers/test-connection`;
    const open = (payload: string, port: number) =>
      SseClient.open(url, { token: bench.ann.token, body: { ...place, ...beside(field), port, [field]: payload } });
    const taken: string[] = [];
    for (const payload of payloadsOf(sound, sentinel)) {
      const stream = await open(payload, 1);
      expect([200, 400]).toContain(stream.status);
      if (stream.status === 200) taken.push(payload);
      await stream.ended;
    }
    for (const payload of some(taken)) await (await open(payload, machine.port)).ended;
    expectNothingElse();
  },
  PATIENCE,
);

test('what a machine says of itself is a text and nothing more', async () => {
  const odd = await SshMachine.start();
  try {
    odd.program('uname', `printf '$(touch ${sentinel})\\0\\033[2J<script>'; head -c 5000 /dev/zero | tr '\\0' x`);
    odd.program('getconf', 'echo -7e99; echo cpus=99999999999999');
    odd.program('docker', 'printf "27\\0.1\\n{{evil}}"');
    const { id } = (await bench.add({ ...good, name: 'odd', port: odd.port })).body;
    const { facts } = await bench.until(id, 'READY');
    expect(facts).toMatchObject({ cpus: 2 ** 31 - 1 });
    const text = JSON.stringify(facts);
    expect(text).not.toMatch(/\\u00/);
    expect(text.length).toBeLessThan(1000);
    expect(existsSync(sentinel)).toBe(false);
  } finally {
    await odd.stop();
  }
});
