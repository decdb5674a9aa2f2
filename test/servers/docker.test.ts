import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { type RunAnswer, ServerBench } from '../support/servers.ts';
import { makePrivateKey } from '../support/ssh-keys.ts';
import { SshMachine } from '../support/ssh-machine.ts';

const privateKey = makePrivateKey();

let bench: ServerBench;
let machine: SshMachine;
beforeAll(async () => {
  bench = await ServerBench.start();
});
afterAll(() => bench.stop());

/** A machine of a distribution with apt, whose programs write down that they were called and do nothing else. */
beforeEach(async () => {
  machine = await SshMachine.start();
  const folder = machine.folder;
  const note = `printf '%s ' "$(basename "$0")" "$@" >> ${folder}/log; echo >> ${folder}/log`;
  machine.program('id', 'echo 1000');
  machine.program('sudo', `${note}; [ "$1 $2" = "-n --" ] || exit 1; shift 2; AS_ROOT=1 exec "$@"`);
  machine.program(
    'apt-get',
    `${note}; [ -n "$AS_ROOT" ] || exit 100; case "$*" in *install*) touch ${folder}/installed;; esac`,
  );
  machine.program('apt-cache', 'exit 100');
  machine.program('dpkg', note);
  machine.program('systemctl', `${note}; touch ${folder}/started`);
  machine.program('service', `${note}; touch ${folder}/started`);
  machine.program('dockerd', `[ -e ${folder}/installed ] || exit 127`);
  machine.program(
    'docker',
    `[ "$1" = --version ] || { [ -e ${folder}/started ] && [ -n "$AS_ROOT" ]; } && echo 26.1.5`,
  );
});
afterEach(() => machine.stop());

async function add(): Promise<string> {
  const place = { name: 'bare', host: '127.0.0.1', port: machine.port, username: 'deploy', privateKey };
  const { id } = (await bench.add(place)).body;
  await bench.until(id, 'READY');
  return id;
}

async function install(id: string): Promise<RunAnswer> {
  const asked = await bench.app.rest<{ id: string }>('POST', `/servers/${id}/docker`, { token: bench.ann.token });
  expect(asked).toMatchObject({ status: 202, body: { kind: 'INSTALL_DOCKER', subject: `Server:${id}` } });
  expect(asked.headers.get('location')).toMatch(new RegExp(`/runs/${asked.body.id}$`));
  return bench.ended(`/runs/${asked.body.id}`);
}

const log = () => (existsSync(join(machine.folder, 'log')) ? readFileSync(join(machine.folder, 'log'), 'utf8') : '');

test("Docker is installed from the distribution's packages, and said to be there only when it answers", async () => {
  const id = await add();
  expect((await bench.get(id)).facts?.docker).toBe(null);
  const run = await install(id);
  expect(run).toMatchObject({ status: 'SUCCEEDED', error: null });
  expect(run.steps.map(({ name, status }) => [name, status])).toEqual(
    ['look', 'install', 'start', 'verify'].map(name => [name, 'SUCCEEDED']),
  );
  expect(log()).toMatch(/apt-get .* install --no-install-recommends docker\.io $/m);
  expect((await bench.get(id)).facts?.docker).toBe('26.1.5');
});

test('where the client is a package of its own, it is installed, too', async () => {
  machine.program('apt-cache', 'exit 0');
  expect(await install(await add())).toMatchObject({ status: 'SUCCEEDED' });
  expect(log()).toMatch(/apt-get .* install --no-install-recommends docker\.io docker-cli docker-buildx $/m);
});

test('where it is installed already, that is said and nothing is done', async () => {
  machine.program('docker', 'echo 27.0.3');
  const run = await install(await add());
  expect(run.status).toBe('SUCCEEDED');
  expect(run.steps[0]?.message).toContain('27.0.3 is installed already');
  expect(log()).not.toMatch(/apt-get|service|systemctl/);
});

test.each([
  ['no sudo', 'sudo', 'echo sudo: a password is required >&2; exit 1', 'look', 'a password is required'],
  [
    'packages that cannot be had',
    'apt-get',
    'echo E: Unable to locate package docker.io >&2; exit 100',
    'install',
    'locate',
  ],
])('%s is told as the machine told it', async (_, program, script, step, said) => {
  const id = await add();
  machine.program(program, script);
  const run = await install(id);
  expect(run).toMatchObject({
    status: 'FAILED',
    error: { code: 'UPSTREAM_FAILED', message: expect.stringContaining(said) },
  });
  expect(run.steps.at(-1)).toMatchObject({ name: step, status: 'FAILED' });
  expect((await bench.get(id)).facts?.docker).toBe(null);
});

test('what is there but does not run is started, and no package gets in its way', async () => {
  machine.program('dockerd', 'echo Docker version 27.0.3');
  const id = await add();
  const run = await install(id);
  expect(run.status).toBe('SUCCEEDED');
  expect(log()).toMatch(/docker/);
  expect(log()).not.toMatch(/^apt-get/m);
  expect((await bench.get(id)).facts?.docker).toBe('26.1.5');
});

test('what was installed but does not run is a failure', async () => {
  const id = await add();
  // It is waited for.
  machine.program('sleep', 'exec /bin/sleep 0.02');
  machine.program('systemctl', 'exit 0');
  machine.program('service', 'exit 0');
  const run = await install(id);
  expect(run).toMatchObject({ status: 'FAILED', error: { message: expect.stringContaining('does not answer') } });
});

test('asked for twice at once, it is done once', async () => {
  const id = await add();
  machine.program('df', 'sleep 1; echo Filesystem; echo /dev/vda 40000 10000 30000 25% /');
  const ask = () => bench.app.rest<{ id: string }>('POST', `/servers/${id}/docker`, { token: bench.ann.token });
  const [first, second] = await Promise.all([ask(), ask()]);
  expect(second.body.id).toBe(first.body.id);
  await bench.ended(`/runs/${first.body.id}`);
});

const SLOW = 'echo Unpacking docker.io; n=0; while [ ! -e %/go ]; do sleep 0.1; done; touch %/installed';

/** apt-get that waits for the test to let it go on, and counts how often it was begun. */
function slowPackages(): void {
  const { folder } = machine;
  const script = SLOW.replaceAll('%', folder);
  machine.program('apt-get', `case "$*" in *install*) echo begun >> ${folder}/begun; ${script};; esac`);
}

const timesBegun = () => readFileSync(join(machine.folder, 'begun'), 'utf8').trim().split('\n').length;

async function begin(id: string): Promise<string> {
  const asked = await bench.app.rest<{ id: string }>('POST', `/servers/${id}/docker`, { token: bench.ann.token });
  await eventually(() => existsSync(join(machine.folder, 'begun')));
  return asked.body.id;
}

test('a lost connection ends nothing: the same installation is followed over the next one', async () => {
  const id = await add();
  slowPackages();
  const runId = await begin(id);
  await machine.cut();
  await machine.said(/slipway/);
  writeFileSync(join(machine.folder, 'go'), '');
  expect(await bench.ended(`/runs/${runId}`)).toMatchObject({ status: 'SUCCEEDED' });
  expect(timesBegun()).toBe(1);
});

test('what apt-get is at is told while it is', async () => {
  const id = await add();
  slowPackages();
  const runId = await begin(id);
  await eventually(async () => {
    const { body } = await bench.app.rest<RunAnswer>('GET', `/runs/${runId}`, { token: bench.ann.token });
    return body.steps.at(-1)?.message === 'Unpacking docker.io';
  });
  writeFileSync(join(machine.folder, 'go'), '');
  expect(await bench.ended(`/runs/${runId}`)).toMatchObject({ status: 'SUCCEEDED' });
});

test('cancelled under way, it is CANCELLED when nothing of it runs on the machine any more', async () => {
  const id = await add();
  slowPackages();
  const runId = await begin(id);
  const cancel = () => bench.app.rest('POST', `/runs/${runId}/cancel`, { token: bench.ann.token });
  expect(await cancel()).toMatchObject({ status: 200, body: { status: 'RUNNING', cancelAskedAt: expect.any(String) } });
  const run = await bench.ended(`/runs/${runId}`);
  expect(run).toMatchObject({ status: 'CANCELLED', error: null });
  expect(run.steps.at(-1)).toMatchObject({ name: 'install', status: 'CANCELLED' });
  expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain(`${machine.folder}/apt-get`);
  expect(existsSync(join(machine.folder, 'installed'))).toBe(false);
  expect(await cancel()).toMatchObject({ status: 409, body: { code: 'RUN_FINISHED' } });
  expect((await bench.get(id)).facts?.docker).toBe(null);
});
