import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { ServerBench } from '../support/servers.ts';
import { SseClient } from '../support/sse-client.ts';
import { makePrivateKey } from '../support/ssh-keys.ts';
import { SshMachine } from '../support/ssh-machine.ts';

const privateKey = makePrivateKey();
/** A face of four bytes, of which a cut after so many characters leaves a half. */
const half = (before: number) => `printf '%0${before}d\\360\\237\\230\\200' 0`;

let bench: ServerBench;
let machine: SshMachine;
beforeAll(async () => {
  bench = await ServerBench.start();
});
afterAll(() => bench.stop());
beforeEach(async () => {
  machine = await SshMachine.start();
  machine.program('id', 'echo 0');
  machine.program('docker', 'exit 1');
  machine.program('dpkg', 'exit 0');
  for (const name of ['dockerd', 'systemctl', 'service']) machine.program(name, 'exit 127');
  machine.program('apt-get', 'exit 0');
});
afterEach(() => machine.stop());

async function ready(): Promise<string> {
  const place = { name: 'odd', host: '127.0.0.1', port: machine.port, username: 'root', privateKey };
  const { id } = (await bench.add(place)).body;
  await bench.until(id, 'READY');
  return id;
}

async function install(id: string) {
  const asked = await bench.app.rest<{ id: string }>('POST', `/servers/${id}/docker`, { token: bench.ann.token });
  return bench.ended(`/runs/${asked.body.id}`);
}

test('a fact that is cut in the middle of a character is kept all the same', async () => {
  machine.program('uname', half(199));
  const { facts } = await bench.get(await ready());
  expect(facts).toMatchObject({ kernel: `${'0'.repeat(199)}\ufffd` });
});

test('what a machine complains of is told without what cannot be kept', async () => {
  const id = await ready();
  machine.program('apt-get', `printf 'E: a\\000b\\033[31m ' >&2; ${half(289)} >&2; exit 100`);
  const run = await install(id);
  expect(run.error).toMatchObject({ code: 'UPSTREAM_FAILED', message: expect.stringContaining('E: a b [31m 000') });
  expect(run.steps.at(-1)).toMatchObject({ name: 'install', status: 'FAILED', message: run.error?.message });
});

test('a machine that does not do what it is told fails the run, and it is not said to be our fault', async () => {
  const id = await ready();
  machine.program('sh', 'exit 3');
  expect(await install(id)).toMatchObject({
    status: 'FAILED',
    error: { code: 'UPSTREAM_FAILED', message: expect.stringContaining('does not do what it is told') },
    steps: [{ name: 'look', status: 'FAILED' }],
  });
});

test('a server that is deleted while Docker is installed ends the run', async () => {
  const id = await ready();
  const { token } = bench.ann;
  // Behind the machine's programs are those of this one: it is waited for, and fails, so that nothing reaches them.
  const [begun, stay] = ['begun', 'apt-get'].map(name => join(machine.folder, name)) as [string, string];
  machine.program('apt-get', `touch ${begun}; while [ -e ${stay} ]; do sleep 0.1; done; exit 1`);
  const asked = await bench.app.rest<{ id: string }>('POST', `/servers/${id}/docker`, { token });
  await eventually(() => existsSync(begun));
  expect(await bench.app.rest('DELETE', `/servers/${id}`, { token })).toMatchObject({ status: 200 });
  const run = await bench.ended(`/runs/${asked.body.id}`);
  expect(run).toMatchObject({
    status: 'FAILED',
    error: { code: expect.stringMatching(/SERVER_UNREACHABLE|NOT_FOUND/) },
  });
});

test('another Docker is news, as much memory or disk is not', async () => {
  const id = await ready();
  // The look at its security, which is news too, has been taken.
  await bench.untilJudged(id);
  const { token } = bench.ann;
  const events = await SseClient.open(`${bench.app.url}/api/v1/events?kinds=server_updated`, { token });
  machine.program('df', 'echo Filesystem; echo /dev/vda 40000 39500 500 99% /');
  await bench.look(id);
  machine.program('docker', 'echo 27.0.3');
  await bench.look(id);
  const [told] = await events.read<{ data: object }>(1);
  expect(told?.data).toMatchObject({ id, status: 'READY', facts: { docker: '27.0.3', diskFreeMb: 500 } });
  await events.cut();
});
