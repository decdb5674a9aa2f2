import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ServerBench } from '../support/servers.ts';
import { SseClient } from '../support/sse-client.ts';
import { makePrivateKey } from '../support/ssh-keys.ts';
import { SshMachine } from '../support/ssh-machine.ts';

const makeKey = () => makePrivateKey();
const PASSWORD = 'the first of many';

let bench: ServerBench;
let machine: SshMachine;
beforeAll(async () => {
  bench = await ServerBench.start();
});
afterAll(() => bench.stop());
beforeEach(async () => {
  machine = await SshMachine.start({ password: PASSWORD });
});
afterEach(() => machine.stop());

async function ready(): Promise<string> {
  const place = { name: 'web', host: '127.0.0.1', port: machine.port, username: 'root' };
  const body = { ...place, password: PASSWORD, hostKeyFingerprint: machine.fingerprint };
  const { id } = (await bench.add(body)).body;
  await bench.until(id, 'READY');
  return id;
}

const stored = async (id: string) =>
  (
    await bench.app.sql<object>(
      'select host, port, username, password, private_key, version from server where id = $1',
      [id],
    )
  )[0];

test('what does not lead to the machine is refused, and nothing is changed by it', async () => {
  const id = await ready();
  const before = await stored(id);
  const wrong: [object, number, string][] = [
    [{ password: 'wrong' }, 400, 'CREDENTIAL_REJECTED'],
    [{ privateKey: makeKey() }, 400, 'CREDENTIAL_REJECTED'],
    [{ privateKey: 'none' }, 400, 'BAD_INPUT'],
    [{ privateKey: makeKey(), password: PASSWORD }, 400, 'BAD_INPUT'],
    [{ passphrase: 'of nothing' }, 400, 'BAD_INPUT'],
    [{ port: 1 }, 502, 'SERVER_UNREACHABLE'],
    [{ host: 'server.invalid' }, 502, 'SERVER_UNREACHABLE'],
    [{ host: '169.254.169.254' }, 400, 'BAD_INPUT'],
    [{ host: null }, 400, 'BAD_INPUT'],
    [{ name: 'other', password: 'wrong' }, 400, 'CREDENTIAL_REJECTED'],
  ];
  for (const [body, status, code] of wrong)
    expect([body, await bench.change(id, body)]).toMatchObject([body, { status, body: { code } }]);
  expect(await stored(id)).toEqual(before);
  await bench.look(id);
  expect(await bench.get(id)).toMatchObject({ status: 'READY', version: 1, name: 'web' });
});

test('what leads to the machine takes the place of the old, and is told', async () => {
  const id = await ready();
  await bench.untilJudged(id);
  const { token } = bench.ann;
  const events = await SseClient.open(`${bench.app.url}/api/v1/events?kinds=server_updated`, { token });
  const twin = await SshMachine.start();
  try {
    const fingerprint = twin.fingerprint;
    const moved = await bench.change(id, { port: twin.port, privateKey: makeKey(), hostKeyFingerprint: fingerprint });
    expect(moved).toMatchObject({
      status: 200,
      body: { status: 'READY', version: 2, port: twin.port, hostKeys: [{ type: 'ssh-ed25519', fingerprint }] },
    });
    expect(moved.body.publicKey).toMatch(/^ssh-ed25519 /);
    expect(await stored(id)).toMatchObject({ password: null, private_key: expect.stringMatching(/^v1\./) });
    const [told] = await events.read<{ actor: string; data: object }>(1);
    expect(told).toMatchObject({ actor: bench.ann.id, data: { port: twin.port, version: 2 } });
    expect(JSON.stringify(told)).not.toMatch(/PRIVATE|password|v1\./);
  } finally {
    await twin.stop();
  }
});

test('another machine at the new address needs its fingerprint to be given', async () => {
  const id = await ready();
  const other = await SshMachine.start({ password: PASSWORD });
  try {
    const moved = await bench.change(id, { port: other.port });
    expect(moved).toMatchObject({ status: 409, body: { code: 'SERVER_UNTRUSTED' } });
    expect(other.attempts).toEqual([]);
    // The server itself did nothing wrong.
    expect(await bench.get(id)).toMatchObject({ status: 'READY', port: machine.port });
    const told = await bench.change(id, { port: other.port, hostKeyFingerprint: other.fingerprint });
    expect(told).toMatchObject({ status: 200, body: { status: 'READY' } });
  } finally {
    await other.stop();
  }
});

test('one that nobody was ever signed in on may be mended without proof', async () => {
  const { id } = (await bench.add({ name: 'new', host: 'server.invalid', username: 'root' })).body;
  const mended = await bench.change(id, { host: '127.0.0.1', port: machine.port, username: 'deploy' });
  expect(mended).toMatchObject({ status: 200, body: { status: 'PENDING', host: '127.0.0.1', version: 2 } });
  expect(await bench.change(id, { password: PASSWORD })).toMatchObject({
    status: 400,
    body: { code: 'FINGERPRINT_REQUIRED' },
  });
  expect(machine.attempts.includes('password')).toBe(false);
});

test('of two changes at once that know the same version, one is made', async () => {
  const id = await ready();
  const change = (name: string) =>
    bench.app.rest('PATCH', `/servers/${id}`, {
      token: bench.ann.token,
      body: { name, password: PASSWORD },
      headers: { 'if-match': '"1"' },
    });
  const statuses = (await Promise.all(['a', 'b', 'c'].map(change))).map(({ status }) => status);
  expect(statuses.sort()).toEqual([200, 412, 412]);
  expect(await bench.get(id)).toMatchObject({ version: 2 });
});

test('one that environments are on stays, and they are named', async () => {
  const id = await ready();
  const { app, ann } = bench;
  const { token } = ann;
  const repository = 'https://git.invalid/ann/shop.git';
  const project = await app.rest<{ id: string }>('POST', '/projects', { token, body: { name: 'Shop', repository } });
  await app.sql(`update project set status = 'ANALYZED', analysis_id = null where id = $1`, [project.body.id]);
  const path = `/projects/${project.body.id}/finalize`;
  const eve = await app.register();
  const theirs = await app.rest<{ id: string }>('POST', '/servers', {
    token: eve.token,
    body: { name: 'theirs', host: 'server.invalid', username: 'root' },
  });
  const finalize = (serverId: string) =>
    app.rest('POST', path, { token, body: { environment: { name: 'production', serverId } } });
  expect(await finalize(theirs.body.id)).toMatchObject({ status: 404 });
  expect(await finalize(id)).toMatchObject({ status: 200, body: { environment: { serverId: id } } });
  const query = '{ servers { id environments { name server { id name } } } }';
  const { data } = await app.graphql<{ servers: { id: string }[] }>(query, {}, token);
  expect(data.servers.find(server => server.id === id)).toMatchObject({
    environments: [{ name: 'production', server: { id, name: 'web' } }],
  });

  const refused = await app.rest('DELETE', `/servers/${id}`, { token });
  expect(refused).toMatchObject({ status: 409, body: { code: 'IN_USE', usedBy: ['production'] } });
  await app.sql('delete from environment where server_id = $1', [id]);
  expect(await app.rest('DELETE', `/servers/${id}`, { token })).toMatchObject({ status: 200, body: { id } });
  expect(await app.rest('GET', `/servers/${id}`, { token })).toMatchObject({ status: 404 });
  await machine.empty();
});
