import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { LocalHost } from '../../src/remote/local-host.ts';
import { RemoteWork } from '../../src/remote/remote-work.ts';
import { restCall } from '../support/doors.ts';
import { eventually } from '../support/eventually.ts';
import type { RunAnswer, ServerAnswer } from '../support/servers.ts';
import { Service } from '../support/service.ts';
import { makePrivateKey } from '../support/ssh-keys.ts';
import { SshMachine } from '../support/ssh-machine.ts';
import { cloneDatabase, dropDatabase, forgetHeartbeats } from '../support/test-database.ts';

const KEY = 'a test key that is long enough to be one';
const open: (() => Promise<void> | void)[] = [];
let machine: SshMachine;
let env: Record<string, string>;

/** A machine whose apt-get waits for the test to let it go on, and an installation that can be started again and again. */
beforeEach(async () => {
  machine = await SshMachine.start();
  open.push(() => machine.stop());
  const { folder } = machine;
  const wait = `echo begun >> ${folder}/begun; while [ ! -e ${folder}/go ]; do sleep 0.1; done; touch ${folder}/installed`;
  machine.program('id', 'echo 0');
  machine.program('dpkg', 'exit 0');
  machine.program('apt-get', `case "$*" in *install*) ${wait};; esac`);
  machine.program('dockerd', `[ -e ${folder}/installed ] || exit 127`);
  machine.program('docker', `[ -e ${folder}/installed ] && echo 26.1.5`);
  const DATABASE_URL = await cloneDatabase();
  open.push(() => dropDatabase(DATABASE_URL));
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'slipway-killed-'));
  open.push(() => rmSync(DATA_DIR, { recursive: true, force: true }));
  env = { DATABASE_URL, DATA_DIR, MASTER_KEY: KEY, JWT_SECRET: KEY };
});
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function startService(): Promise<Service> {
  const service = await Service.start(env);
  open.push(() => service.kill());
  return service;
}

async function beginAt(service: Service, token: string): Promise<string> {
  const api = `${service.url}/api/v1`;
  const body = {
    ...{ name: 'bare', host: '127.0.0.1', port: machine.port, username: 'root' },
    privateKey: makePrivateKey(),
  };
  const { id } = (await restCall<ServerAnswer>(`${api}/servers`, 'POST', { token, body })).body;
  const asked = await restCall<{ id: string }>(`${api}/servers/${id}/docker`, 'POST', { token });
  await eventually(() => existsSync(join(machine.folder, 'begun')));
  return asked.body.id;
}

const endedAt = (service: Service, token: string, runId: string) =>
  eventually(async () => {
    const url = `${service.url}/api/v1/runs/${runId}`;
    const { body } = await restCall<RunAnswer>(url, 'GET', { token });
    return body.finishedAt !== null && body;
  }, 60_000);

const letGo = () => writeFileSync(join(machine.folder, 'go'), '');
const timesBegun = () => readFileSync(join(machine.folder, 'begun'), 'utf8').trim().split('\n').length;

test.each([
  ['killed', (service: Service) => service.kill()],
  ['stopped', (service: Service) => service.stop()],
])(
  'a service that is %s on the way: the next one follows the same installation to its end',
  async (_, end) => {
    const first = await startService();
    const token = await first.signIn();
    const runId = await beginAt(first, token);
    await end(first);
    await forgetHeartbeats(env.DATABASE_URL ?? '');
    machine.commands.length = 0;
    const second = await startService();
    await eventually(() => machine.commands.some(command => command.includes(runId)), 60_000);
    letGo();
    expect(await endedAt(second, token, runId)).toMatchObject({ status: 'SUCCEEDED', error: null });
    expect(timesBegun()).toBe(1);
  },
  120_000,
);

test('what the machine has ended meanwhile is begun anew', async () => {
  const first = await startService();
  const token = await first.signIn();
  const runId = await beginAt(first, token);
  await first.kill();
  await forgetHeartbeats(env.DATABASE_URL ?? '');
  await new RemoteWork(new LocalHost(`${machine.folder}:${process.env.PATH}`)).cancel(runId);
  const second = await startService();
  await eventually(() => timesBegun() === 2, 60_000);
  letGo();
  expect(await endedAt(second, token, runId)).toMatchObject({ status: 'SUCCEEDED', error: null });
}, 120_000);
