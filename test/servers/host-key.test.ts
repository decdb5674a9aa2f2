import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { outcomes, ServerBench } from '../support/servers.ts';
import { SseClient } from '../support/sse-client.ts';
import { SshDaemon } from '../support/ssh-daemon.ts';
import { makePrivateKey } from '../support/ssh-keys.ts';
import { SshMachine } from '../support/ssh-machine.ts';

interface Told {
  action: string;
  resourceId: string;
  data: { status: string; statusReason: string | null };
}

const privateKey = makePrivateKey();
const STRANGE = `SHA256:${'A'.repeat(43)}`;

let bench: ServerBench;
let machine: SshMachine;
beforeAll(async () => {
  bench = await ServerBench.start();
});
afterAll(() => bench.stop());
beforeEach(async () => {
  machine = await SshMachine.start();
});
afterEach(() => machine.stop());

async function ready(): Promise<string> {
  const place = { name: 'web', host: '127.0.0.1', port: machine.port, username: 'root', privateKey };
  const { id } = (await bench.add(place)).body;
  await bench.until(id, 'READY');
  return id;
}

/** The same place, another machine, and nobody has tried to sign in on it. */
async function replace(): Promise<void> {
  await machine.changeHostKey();
  machine.attempts.length = 0;
  machine.commands.length = 0;
}

const trust = <Body = { status: string }>(id: string, hostKeyFingerprint: string) =>
  bench.app.rest<Body>('POST', `/servers/${id}/trust`, { token: bench.ann.token, body: { hostKeyFingerprint } });

/** A look at its security that began before may still be told of on the way. */
async function nextAbout(events: SseClient, status: string): Promise<Told | undefined> {
  for (;;) {
    const [told] = await events.read<Told>(1);
    if (told?.data.status === status) return told;
  }
}

describe('another machine in the place of a known one', () => {
  const contacts: [string, (id: string) => Promise<unknown>][] = [
    ['a look', id => bench.look(id)],
    ['a test of the connection', id => bench.test({ serverId: id })],
    ['a change of the user', id => bench.change(id, { username: 'admin' }).then(() => bench.look(id))],
    ['a change of the credential', id => bench.change(id, { privateKey })],
  ];

  test.each(contacts)('is sent no credential by %s, is told of, and stops all work', async (_, contact) => {
    const id = await ready();
    const { token } = bench.ann;
    const events = await SseClient.open(`${bench.app.url}/api/v1/events?kinds=server_updated`, { token });
    await replace();
    const since = performance.now();
    await contact(id);
    const told = await nextAbout(events, 'UNTRUSTED');
    expect(performance.now() - since).toBeLessThan(10_000);
    await events.cut();
    expect(told).toMatchObject({ action: 'UPDATED', resourceId: id, data: { status: 'UNTRUSTED' } });
    expect(told?.data.statusReason).toContain(machine.fingerprint);
    expect(await bench.get(id)).toMatchObject({ status: 'UNTRUSTED' });

    const refused = await bench.app.rest('POST', `/servers/${id}/docker`, { token });
    expect(refused).toMatchObject({ status: 409, body: { code: 'SERVER_UNTRUSTED' } });
    await bench.look(id);
    expect(machine.attempts).toEqual([]);
    expect(machine.commands).toEqual([]);
  });

  test('is trusted by the fingerprint that it shows now, and by no other', async () => {
    const id = await ready();
    const before = machine.fingerprint;
    await replace();
    await bench.look(id);
    for (const fingerprint of [STRANGE, before])
      expect(await trust(id, fingerprint)).toMatchObject({
        status: 400,
        body: { fields: [{ field: 'hostKeyFingerprint' }] },
      });
    expect(await bench.get(id)).toMatchObject({ status: 'UNTRUSTED', hostKeys: [{ fingerprint: before }] });
    expect(machine.attempts).toEqual([]);
    expect(await trust(id, machine.fingerprint)).toMatchObject({ status: 200, body: { status: 'PENDING' } });
    expect((await bench.until(id, 'READY')).hostKeys).toEqual([
      { type: 'ssh-ed25519', fingerprint: machine.fingerprint },
    ]);
  });

  test('that goes away again leaves the server untrusted, until somebody says so', async () => {
    const id = await ready();
    const { port } = machine;
    const known = machine.keys;
    await replace();
    await bench.look(id);
    await machine.changeHostKey(known);
    expect(machine.port).toBe(port);
    expect(outcomes(await bench.test({ serverId: id })).slice(-2)).toEqual(['HOST_KEY FAILED', 'DONE FAILED']);
    expect(machine.attempts).toEqual([]);
    expect(await trust(id, machine.fingerprint)).toMatchObject({ status: 200 });
    await bench.until(id, 'READY');
  });

  test('leaves a server on which nothing is tried by a change either, be the old machine back or not', async () => {
    const id = await ready();
    const known = machine.keys;
    await replace();
    await bench.look(id);
    await machine.changeHostKey(known);
    const refused = { status: 409, body: { code: 'SERVER_UNTRUSTED' } };
    for (const change of [{ privateKey }, { username: 'admin' }, { host: 'localhost' }, { port: 1 }])
      expect([change, await bench.change(id, change)]).toMatchObject([change, refused]);
    expect(machine.attempts).toEqual([]);
    expect(await bench.change(id, { name: 'doubtful' })).toMatchObject({ body: { name: 'doubtful', version: 2 } });
    expect(await bench.get(id)).toMatchObject({ status: 'UNTRUSTED', username: 'root', host: '127.0.0.1' });
    const told = await bench.change(id, { username: 'admin', hostKeyFingerprint: machine.fingerprint });
    expect(told).toMatchObject({ status: 200, body: { status: 'READY', username: 'admin' } });
  });

  test('is given to a change together with its fingerprint', async () => {
    const id = await ready();
    await replace();
    const wrong = await bench.change(id, { privateKey, hostKeyFingerprint: STRANGE });
    expect(wrong).toMatchObject({ status: 400, body: { fields: [{ field: 'hostKeyFingerprint' }] } });
    const right = await bench.change(id, { hostKeyFingerprint: machine.fingerprint });
    expect(right).toMatchObject({ status: 200, body: { status: 'READY', version: 2 } });
  });
});

test('work that is under way is ended on every instance when one learns that the machine is another', async () => {
  const id = await ready();
  const twin = await bench.app.twin();
  try {
    machine.program('docker', 'exit 1');
    machine.program('command', 'exit 0');
    machine.program('df', 'sleep 5; echo Filesystem; echo /dev/vda 4 1 3000 25% /');
    const { token } = bench.ann;
    const run = await bench.app.rest<{ id: string }>('POST', `/servers/${id}/docker`, { token });
    await machine.said(/df -Pm/);
    await bench.app.sql(`update server set status = 'UNTRUSTED' where id = $1`, [id]);
    await bench.app.sql(`select pg_notify('slipway_rows', 'servers stopped')`);
    await machine.empty();
    const path = `/runs/${run.body.id}`;
    const ended = await bench.ended(path);
    expect(ended).toMatchObject({ status: 'FAILED' });
  } finally {
    await twin.stop();
  }
}, 30_000);

(SshDaemon.isInstalled ? test : test.skip)('a real sshd with another key sees no attempt to sign in', async () => {
  const daemon = await SshDaemon.start();
  try {
    const place = { name: 'real', host: 'localhost', port: daemon.port, username: daemon.user };
    const { id } = (await bench.add({ ...place, privateKey: daemon.key })).body;
    await bench.until(id, 'READY');
    expect(daemon.log).toMatch(/Accepted publickey/);
    await daemon.changeHostKey();
    await bench.look(id);
    expect(await bench.get(id)).toMatchObject({ status: 'UNTRUSTED' });
    await bench.test({ serverId: id });
    expect(daemon.log).toMatch(/Connection from/);
    expect(daemon.log).not.toMatch(/Accepted|Failed|Postponed|publickey|userauth/i);
  } finally {
    await daemon.stop();
  }
});
