import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DeafPort } from '../support/deaf-port.ts';
import { eventually } from '../support/eventually.ts';
import { ServerBench } from '../support/servers.ts';
import { SseClient } from '../support/sse-client.ts';
import { SshDaemon } from '../support/ssh-daemon.ts';
import { makePrivateKey } from '../support/ssh-keys.ts';
import { SshMachine } from '../support/ssh-machine.ts';

const privateKey = makePrivateKey();

let bench: ServerBench;
beforeAll(async () => {
  bench = await ServerBench.start();
});
afterAll(() => bench.stop());

/** What the clock sends every minute. */
async function watch(): Promise<void> {
  await bench.app.sql('update server set looked_at = null');
  const { boss } = bench.app.app.queue;
  const id = await boss.send('servers.watch', {});
  await eventually(
    async () => (await boss.findJobs('servers.watch', { id: id ?? '' }))[0]?.state === 'completed',
    40_000,
  );
}

(SshDaemon.isInstalled ? test : test.skip)(
  'one that goes away is UNREACHABLE after two looks, READY when it is back, and each is told once',
  async () => {
    const daemon = await SshDaemon.start();
    try {
      const place = { name: 'real', host: 'localhost', port: daemon.port, username: daemon.user };
      const { id } = (await bench.add({ ...place, privateKey: daemon.key })).body;
      await bench.until(id, 'READY');
      const { token } = bench.ann;
      const events = await SseClient.open(`${bench.app.url}/api/v1/events?kinds=server_updated`, { token });
      await watch();
      await daemon.pause();
      await watch();
      expect(await bench.get(id)).toMatchObject({ status: 'READY' });
      await bench.look(id);
      const gone = await bench.get(id);
      expect(gone).toMatchObject({ status: 'UNREACHABLE', statusReason: expect.stringContaining('Nothing listens') });
      await watch();
      await daemon.resume();
      await watch();
      expect(await bench.get(id)).toMatchObject({ status: 'READY', statusReason: null, version: 1 });
      const told = await events.read<{ data: { status: string } }>(2);
      expect(told.map(({ data }) => data.status)).toEqual(['UNREACHABLE', 'READY']);
      expect(events.drain()).toEqual([]);
    } finally {
      await daemon.stop();
    }
  },
  60_000,
);

test('one that hangs holds up nobody', async () => {
  const deaf = await DeafPort.start();
  const machine = await SshMachine.start();
  try {
    const place = { host: '127.0.0.1', username: 'root', privateKey };
    for (let count = 0; count < 5; count += 1) await bench.add({ ...place, name: `deaf ${count}`, port: deaf.port });
    const { id } = (await bench.add({ ...place, name: 'sound', port: machine.port })).body;
    await bench.until(id, 'READY');
    const before = (await bench.get(id)).lastSeenAt;
    let isOver = false;
    const watching = watch().finally(() => {
      isOver = true;
    });
    await eventually(async () => (await bench.get(id)).lastSeenAt !== before);
    expect(isOver).toBe(false);
    await watching;
  } finally {
    await deaf.stop();
    await machine.stop();
  }
}, 90_000);

test('what a look finds about what was configured before is not written', async () => {
  const machine = await SshMachine.start();
  try {
    const place = { name: 'moving', host: '127.0.0.1', port: machine.port, username: 'root', privateKey };
    const { id } = (await bench.add(place)).body;
    await bench.until(id, 'READY');
    machine.program('df', 'sleep 1; echo Filesystem; echo /dev/vda 40000 10000 7777 25% /');
    machine.commands.length = 0;
    const looking = bench.look(id);
    await machine.said(/df -Pm/);
    expect(await bench.change(id, { name: 'moved' })).toMatchObject({ status: 200, body: { version: 2 } });
    await looking;
    const { facts } = await bench.get(id);
    expect(facts).not.toMatchObject({ diskFreeMb: 7777 });
  } finally {
    await machine.stop();
  }
});
