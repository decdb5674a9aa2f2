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
  usual = new Set(machine.commands);
}, PATIENCE);
afterAll(async () => {
  await bench.stop();
  await machine.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Every word that reached the machine is one that reaches every machine. */
function expectNothingElse(): void {
  expect(machine.commands.filter(command => !usual.has(command))).toEqual([]);
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

test.each(FIELDS)(
  'no %s of a server becomes a word of a command',
  async (field, sound) => {
    const payloads = payloadsOf(sound, sentinel);
    expect(payloads.length).toBeGreaterThanOrEqual(300);
    const made: string[] = [];
    for (const payload of payloads) {
      const { status, body } = await bench.add<{ id: string }>({ ...good, ...beside(field), [field]: payload });
      expect([201, 400]).toContain(status);
      if (status === 201) made.push(body.id);
    }
    for (const id of made.slice(0, 5)) await bench.look(id);
    expectNothingElse();
    for (const id of made) await bench.app.sql('delete from server where id = $1', [id]);
  },
  PATIENCE,
);

/** Any passphrase is good for a key that has none, and each is a whole test: a tenth of them will do. */
const sparing = (field: string, payloads: string[]): string[] =>
  field === 'passphrase' ? payloads.filter((_, index) => index % 10 === 0) : payloads;

test.each(FIELDS.filter(([field]) => field !== 'name'))(
  'no %s of a test becomes a word of a command',
  async (field, sound) => {
    const { name: _, ...place } = good;
    const url = `${bench.app.url}/api/v1/servers/test-connection`;
    for (const payload of sparing(field, payloadsOf(sound, sentinel))) {
      const body = { ...place, ...beside(field), [field]: payload };
      const stream = await SseClient.open(url, { token: bench.ann.token, body });
      expect([200, 400]).toContain(stream.status);
      await stream.ended;
    }
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
