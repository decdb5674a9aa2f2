import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { outcomes, type RunAnswer, ServerBench, type StepMessage } from '../support/servers.ts';
import { SseClient } from '../support/sse-client.ts';
import { LabServer } from './support/lab-server.ts';

const ALL_GOOD = ['RESOLVE', 'TCP', 'HOST_KEY', 'AUTH', 'SHELL', 'SUDO', 'DOCKER', 'DISK', 'DONE'].map(
  name => `${name} OK`,
);

let bench: ServerBench;
beforeAll(async () => {
  bench = await ServerBench.start();
});
afterAll(() => bench.stop());

const placeOf = ({ address }: LabServer) => ({ name: 'lab', host: address, username: 'deploy' });

/** As whoever sits at the machine reads it. */
const fingerprintOf = async (server: LabServer): Promise<string> =>
  (await server.exec('ssh-keygen', '-lf', '/etc/ssh/ssh_host_ed25519_key.pub')).split(' ')[1] ?? '';

const restartSshd = 'service ssh restart >/dev/null';

describe('a machine with Docker', () => {
  let server: LabServer;
  beforeAll(async () => {
    server = await LabServer.start({ hasDocker: true });
  });
  afterAll(() => server?.stop());

  const letIn = (publicKey: string | null) =>
    server.exec('sh', '-c', 'echo "$0" >> /home/deploy/.ssh/authorized_keys', publicKey ?? '');

  async function addReady(): Promise<string> {
    const { id } = (await bench.add({ ...placeOf(server), privateKey: server.privateKey })).body;
    await bench.until(id, 'READY');
    return id;
  }

  test('lets in the key that was made for it, once that stands in authorized_keys', async () => {
    const added = await bench.add(placeOf(server));
    expect(added.status).toBe(201);
    const { id, publicKey } = added.body;
    const refused = await eventually(async () => {
      const seen = await bench.get(id);
      return seen.statusReason !== null && seen;
    });
    expect(refused).toMatchObject({ status: 'PENDING', statusReason: expect.stringContaining('authorized_keys') });
    await letIn(publicKey);
    await bench.look(id);
    expect(await bench.get(id)).toMatchObject({
      status: 'READY',
      hostKeys: [{ fingerprint: await fingerprintOf(server) }],
      facts: { os: expect.stringContaining('Debian GNU/Linux 12'), docker: expect.stringMatching(/^\d+\./) },
    });
  });

  test('is ready with a key of yours, and goes through every step of the test, by REST and by subscription', async () => {
    const id = await addReady();
    expect(outcomes(await bench.test({ serverId: id }))).toEqual(ALL_GOOD);
    expect(await subscribed(id)).toEqual(ALL_GOOD);
  });

  test('where Docker runs already, installing it says so and does nothing', async () => {
    const before = await server.shell('stat -c %Y /var/lib/dpkg/status; pgrep -x dockerd');
    const run = await bench.ended(await askForDocker(await addReady()));
    expect(run).toMatchObject({ status: 'SUCCEEDED' });
    expect(run.steps[0]?.message).toContain('is installed already');
    expect(await server.shell('stat -c %Y /var/lib/dpkg/status; pgrep -x dockerd')).toBe(before);
  });

  test.each([
    ['by the password method', 'PasswordAuthentication yes\nKbdInteractiveAuthentication no'],
    ['by a prompt of PAM', 'PasswordAuthentication no\nKbdInteractiveAuthentication yes'],
  ])('takes a password %s, from us only where its fingerprint is known', async (_, settings) => {
    const password = randomUUID();
    await server.exec('sh', '-c', 'echo "deploy:$0" | chpasswd', password);
    await server.exec('sh', '-c', 'printf "$0\\n" > /etc/ssh/sshd_config.d/lab.conf', settings);
    await server.shell(restartSshd);
    const place = { ...placeOf(server), password };
    expect(await bench.add<{ code: string }>(place)).toMatchObject({
      status: 400,
      body: { code: 'FINGERPRINT_REQUIRED' },
    });
    const known = { ...place, hostKeyFingerprint: await fingerprintOf(server) };
    const { id } = (await bench.add(known)).body;
    expect(await bench.until(id, 'READY')).toMatchObject({ hostKeys: [{ type: 'ssh-ed25519' }] });
    const { name, ...described } = known;
    expect(outcomes(await bench.test({ ...described, password: 'wrong' })).slice(-2)).toEqual([
      'AUTH FAILED',
      'DONE FAILED',
    ]);
    expect(await server.shell('cat /var/log/auth.log')).toMatch(
      /Accepted (password|keyboard-interactive\/pam) for deploy/,
    );
  });

  test('with another host key is UNTRUSTED, sees no credential, and is trusted again by its new key', async () => {
    const id = await addReady();
    const { token } = bench.ann;
    const events = await SseClient.open(`${bench.app.url}/api/v1/events?kinds=server_updated`, { token });
    await server.shell(
      `rm /etc/ssh/ssh_host_*; ssh-keygen -qA; echo LogLevel VERBOSE >> /etc/ssh/sshd_config.d/lab.conf`,
    );
    await server.shell(`${restartSshd}; : > /var/log/auth.log`);
    const contact = performance.now();
    const looking = bench.look(id);
    await toldOf(events, id, 'UNTRUSTED');
    expect(performance.now() - contact).toBeLessThan(10_000);
    await looking;
    await bench.test({ serverId: id });
    await eventually(async () => /Connection from/.test(await authLog()));
    expect(await authLog()).not.toMatch(/Accepted|Failed|Postponed|publickey|password|userauth/i);
    const body = { hostKeyFingerprint: await fingerprintOf(server) };
    expect(await bench.app.rest('POST', `/servers/${id}/trust`, { token, body })).toMatchObject({ status: 200 });
    await bench.until(id, 'READY');
    expect(await authLog()).toMatch(/Accepted publickey for deploy/);
    await events.cut();
  });

  test('switched off is UNREACHABLE, switched on is READY, and both are told', async () => {
    const id = await addReady();
    const events = await SseClient.open(`${bench.app.url}/api/v1/events?kinds=server_updated`, {
      token: bench.ann.token,
    });
    await server.switchOff();
    await bench.look(id);
    expect(await bench.get(id)).toMatchObject({ status: 'READY' });
    await bench.look(id);
    expect(await bench.get(id)).toMatchObject({ status: 'UNREACHABLE', statusReason: expect.any(String) });
    await toldOf(events, id, 'UNREACHABLE');
    await server.switchOn();
    await bench.look(id);
    expect(await bench.get(id)).toMatchObject({ status: 'READY', statusReason: null });
    await toldOf(events, id, 'READY');
    await events.cut();
  });

  const authLog = () => server.shell('cat /var/log/auth.log');
});

describe('a machine without Docker', () => {
  let server: LabServer;
  beforeEach(async () => {
    server = await LabServer.start({ isBare: true });
  });
  afterEach(() => server?.stop());

  async function addBare(): Promise<string> {
    const { id } = (await bench.add({ ...placeOf(server), privateKey: server.privateKey })).body;
    expect((await bench.until(id, 'READY')).facts?.docker).toBe(null);
    return id;
  }

  const isInstalling = () => server.shell('pgrep -x "apt-get|dpkg"').catch(() => '');

  test('gets it from the packages of Debian, also if the connection is cut on the way, and it stays', async () => {
    const id = await addBare();
    const path = await askForDocker(id);
    await eventually(async () => (await isInstalling()) !== '', 30_000);
    await server.shell('pkill -KILL -u deploy sshd');
    const run = await ended(path);
    expect(run).toMatchObject({ status: 'SUCCEEDED', error: null });
    expect(run.steps.map(({ name, status }) => `${name} ${status}`)).toEqual(
      ['look', 'install', 'start', 'verify'].map(name => `${name} SUCCEEDED`),
    );
    expect(await server.shell('grep -c "^Commandline: apt-get.* docker.io" /var/log/apt/history.log')).toBe('1');
    const version = await server.shell('docker version --format {{.Server.Version}}');
    expect((await bench.get(id)).facts?.docker).toBe(version);
    expect(await server.shell('cat /etc/default/docker')).toContain('ulimit()');
    expect(await server.shell('ls -A /var/tmp/slipway-0')).toBe('');
  });

  test('is left alone when the installation is cancelled, and can be asked again', async () => {
    const id = await addBare();
    const path = await askForDocker(id);
    await eventually(async () => (await isInstalling()) !== '', 30_000);
    await bench.app.rest('POST', `${path}/cancel`, { token: bench.ann.token });
    expect(await ended(path)).toMatchObject({ status: 'CANCELLED' });
    expect(await isInstalling()).toBe('');
    expect(await ended(await askForDocker(id))).toMatchObject({ status: 'SUCCEEDED' });
  });
});

async function askForDocker(id: string): Promise<string> {
  const asked = await bench.app.rest<{ id: string }>('POST', `/servers/${id}/docker`, { token: bench.ann.token });
  expect(asked.status).toBe(202);
  return `/runs/${asked.body.id}`;
}

/** Packages take their time. */
const ended = (path: string): Promise<RunAnswer> =>
  eventually(async () => {
    const { body } = await bench.app.rest<RunAnswer>('GET', path, { token: bench.ann.token });
    return body.finishedAt !== null && body;
  }, 120_000);

async function toldOf(events: SseClient, id: string, status: string): Promise<void> {
  for (let message = await events.next(); message !== undefined; message = await events.next()) {
    const { resourceId, data } = JSON.parse(message.data) as { resourceId: string; data: { status: string } };
    if (resourceId === id && data.status === status) return;
  }
  throw new Error(`nobody told that it is ${status}`);
}

async function subscribed(serverId: string): Promise<string[]> {
  const query = 'subscription ($id: ID) { testConnection(serverId: $id) { step status } }';
  const options = { token: bench.ann.token, body: { query, variables: { id: serverId } } };
  const stream = await SseClient.open(`${bench.app.url}/graphql/stream`, options);
  const messages: StepMessage[] = [];
  for (let message = await stream.next(); message?.event === 'next'; message = await stream.next())
    messages.push((JSON.parse(message.data) as { data: { testConnection: StepMessage } }).data.testConnection);
  return outcomes(messages);
}
