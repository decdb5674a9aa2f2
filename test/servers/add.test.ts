import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ServerBench } from '../support/servers.ts';
import { SshDaemon } from '../support/ssh-daemon.ts';
import { makePrivateKey } from '../support/ssh-keys.ts';
import { SshMachine } from '../support/ssh-machine.ts';

const PASSPHRASE = 'opens the key';
const PASSWORD = 'nobody shall read this';
const whereSshdIs = SshDaemon.isInstalled ? describe : describe.skip;

let bench: ServerBench;
beforeAll(async () => {
  bench = await ServerBench.start();
});
afterAll(() => bench.stop());

const away = { name: 'web', host: 'server.invalid', username: 'deploy' };

whereSshdIs('with a real sshd', () => {
  let daemon: SshDaemon;
  let place: { name: string; host: string; port: number; username: string };
  beforeAll(async () => {
    daemon = await SshDaemon.start();
    place = { name: 'web', host: 'localhost', port: daemon.port, username: daemon.user };
  });
  afterAll(() => daemon.stop());

  test('without a credential a key pair is made, and once its public half is on the machine, it is ready', async () => {
    const made = await bench.add(place);
    expect(made).toMatchObject({ status: 201, body: { ...place, status: 'PENDING', hostKeys: [], facts: null } });
    const { id, publicKey } = made.body;
    expect(made.headers.get('location')).toMatch(new RegExp(`/servers/${id}$`));
    expect(publicKey).toMatch(/^ssh-ed25519 [A-Za-z0-9+/=]+ slipway$/);
    await bench.look(id);
    expect(await bench.get(id)).toMatchObject({
      status: 'PENDING',
      statusReason: expect.stringContaining('does not accept'),
    });
    daemon.authorize(publicKey ?? '');
    await bench.look(id);
    expect(await bench.get(id)).toMatchObject({
      status: 'READY',
      statusReason: null,
      hostKeys: [{ type: 'ssh-ed25519', fingerprint: daemon.fingerprint }],
      facts: { cpus: expect.any(Number), os: expect.any(String) },
      lastSeenAt: expect.any(String),
    });
  });

  test('with a key it is ready by itself, and the same in GraphQL', async () => {
    const query = `mutation ($name: String!, $host: String!, $port: Int, $username: String!, $privateKey: String) {
      createServer(name: $name, host: $host, port: $port, username: $username, privateKey: $privateKey) { id status } }`;
    const variables = { ...place, privateKey: daemon.key };
    const { data } = await bench.app.graphql<{ createServer: { id: string } }>(query, variables, bench.ann.token);
    const { id } = data.createServer;
    const ready = await bench.until(id, 'READY');
    expect(ready.publicKey).toMatch(/^ssh-ed25519 /);
    const read = '{ servers { id status hostKeys { type fingerprint } facts { os } environments { id } } }';
    expect((await bench.app.graphql<{ servers: object[] }>(read, {}, bench.ann.token)).data.servers).toContainEqual({
      id,
      status: 'READY',
      hostKeys: ready.hostKeys,
      facts: { os: ready.facts?.os },
      environments: [],
    });
  });

  test('with an encrypted key and its passphrase it is ready; without, or with a wrong one, it is refused at once', async () => {
    const words = ['-N', PASSPHRASE];
    const privateKey = daemon.makeOtherKey(...words);
    const refused = async (extra: object) => bench.add({ ...place, privateKey, ...extra });
    expect(await refused({})).toMatchObject({ status: 400, body: { fields: [{ field: 'passphrase' }] } });
    expect(await refused({ passphrase: 'wrong' })).toMatchObject({
      status: 400,
      body: { fields: [{ field: 'passphrase' }] },
    });
    const { id, publicKey } = (await refused({ passphrase: PASSPHRASE })).body;
    daemon.authorize(publicKey ?? '');
    await bench.look(id);
    expect(await bench.get(id)).toMatchObject({ status: 'READY' });
  });
});

describe.each([
  ['a password', {}],
  ['a prompt for it', { isPrompting: true }],
])('by %s', (_, options) => {
  let machine: SshMachine;
  beforeAll(async () => {
    machine = await SshMachine.start({ password: PASSWORD, ...options });
  });
  afterAll(() => machine.stop());

  test('the fingerprint is required, and then it is ready', async () => {
    const body = { name: 'old', host: '127.0.0.1', port: machine.port, username: 'admin', password: PASSWORD };
    const blind = await bench.add(body);
    expect(blind).toMatchObject({ status: 400, body: { code: 'FINGERPRINT_REQUIRED' } });
    expect(machine.attempts).toEqual([]);
    const made = await bench.add({ ...body, hostKeyFingerprint: machine.fingerprint });
    expect(made).toMatchObject({ status: 201, body: { publicKey: null } });
    expect(made.body.hostKeys).toEqual([{ type: null, fingerprint: machine.fingerprint }]);
    const ready = await bench.until(made.body.id, 'READY');
    expect(ready.hostKeys).toEqual([{ type: 'ssh-ed25519', fingerprint: machine.fingerprint }]);
  });
});

test('whichever of its keys the fingerprint is of, the machine is recognised by it', async () => {
  const machine = await SshMachine.start({ hostKeyTypes: ['ed25519', 'rsa'] });
  try {
    const [, rsa] = machine.fingerprints;
    const place = { name: 'two keys', host: '127.0.0.1', port: machine.port, username: 'admin' };
    const { id } = (await bench.add({ ...place, hostKeyFingerprint: rsa })).body;
    expect((await bench.until(id, 'READY')).hostKeys).toEqual([{ type: 'ssh-rsa', fingerprint: rsa }]);
  } finally {
    await machine.stop();
  }
});

test('what cannot be used is refused at once, by the name of its field', async () => {
  const fieldOf = async (extra: object) => {
    const { status, body } = await bench.add<{ fields: { field: string }[] }>({ ...away, ...extra });
    return [status, body.fields?.map(({ field }) => field)];
  };
  expect(await fieldOf({ privateKey: 'no key' })).toEqual([400, ['privateKey']]);
  expect(await fieldOf({ privateKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA' })).toEqual([400, ['privateKey']]);
  expect(await fieldOf({ passphrase: 'alone' })).toEqual([400, ['passphrase']]);
  expect(await fieldOf({ port: 0 })).toEqual([400, ['port']]);
  expect(await fieldOf({ hostKeyFingerprint: 'MD5:00' })).toEqual([400, ['hostKeyFingerprint']]);
  expect(await fieldOf({ username: '-root' })).toEqual([400, ['username']]);
});

test.each([
  '169.254.169.254',
  '100.100.100.200',
  '::ffff:169.254.169.254',
  'fd00:ec2::254',
  '2852039166',
  '0xa9.0xfe.0xa9.0xfe',
])('cloud metadata at %s is never a target', async host => {
  expect(await bench.add({ ...away, host })).toMatchObject({ status: 400, body: { fields: [{ field: 'host' }] } });
  const messages = await bench.test({ host, username: 'root' });
  expect(messages.map(({ step, status }) => `${step} ${status}`)).toEqual([
    'RESOLVE RUNNING',
    'RESOLVE FAILED',
    'DONE FAILED',
  ]);
});

test('credentials are sealed, and come back nowhere', async () => {
  const privateKey = makePrivateKey();
  await bench.add({ ...away, name: 'sealed', privateKey });
  const secret = privateKey.split('\n')[2] ?? '';
  const [row] = await bench.app.sql<{ text: string }>(
    "select string_agg(s::text, ' ') || (select string_agg(e::text, ' ') from event e) as text from server s",
  );
  expect(secret.length).toBeGreaterThan(20);
  expect(row?.text).not.toContain(secret);
  const answer = await bench.app.rest<object[]>('GET', '/servers', { token: bench.ann.token });
  expect(JSON.stringify(answer.body)).not.toMatch(/PRIVATE KEY|privateKey|passphrase|password"/);
});

test('owners give credentials, members use them, viewers read', async () => {
  const { app, ann } = bench;
  const { id } = (await bench.add(away)).body;
  const [member, viewer] = [await app.join(ann, 'MEMBER'), await app.join(ann, 'VIEWER')];
  const ask = async (method: string, path: string, token: string, body?: object) =>
    (await app.rest(method, path, { token, ...(body ? { body } : {}) })).status;
  expect(await ask('POST', '/servers', member.token, away)).toBe(403);
  expect(await ask('PATCH', `/servers/${id}`, member.token, { name: 'mine' })).toBe(403);
  expect(await ask('DELETE', `/servers/${id}`, member.token)).toBe(403);
  expect(await ask('POST', `/servers/${id}/docker`, viewer.token)).toBe(403);
  expect(await ask('POST', '/servers/test-connection', viewer.token, { serverId: id })).toBe(403);
  expect(await ask('GET', `/servers/${id}`, viewer.token)).toBe(200);
});
