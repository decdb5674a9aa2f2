import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Command } from '../../src/commands/command.ts';
import { RemoteWork } from '../../src/remote/remote-work.ts';
import { runReattaching } from '../../src/remote/run-reattaching.ts';
import { SshPool } from '../../src/remote/ssh-pool.ts';
import { eventually } from '../support/eventually.ts';
import { abandonAfter, type Fault, reattachAfter, useOf } from '../support/lost-work.ts';
import { processesMarked, processesSaying } from '../support/processes.ts';
import { hasSshd, SshServer } from '../support/ssh-server.ts';

const whereSshdIs = hasSshd() && process.platform === 'linux' ? describe : describe.skip;

/** F4 in small; `npm run faults:f4` is the whole. */
whereSshdIs('work on a server whose connection is lost', () => {
  let server: SshServer;
  let pool: SshPool;
  beforeAll(async () => {
    server = await SshServer.start();
    pool = new SshPool();
  });
  afterAll(async () => {
    pool.closeAll();
    await server.stop();
  });
  const faults: Fault[] = ['cut', 'sshd killed', 'black hole'];

  test.each(faults)('is taken up again after: %s', async fault => {
    const seen = await reattachAfter(server, fault, 100);
    expect(seen).toMatchObject({ missing: 0, repeated: 0, runs: 1 });
    expect(seen.noticedMs).toBeLessThanOrEqual(15_000);
  });

  test.each(faults)('ends by itself when nobody comes back after: %s', async fault => {
    const { left, reason, goneMs } = await abandonAfter(server, fault, 2000);
    expect({ left, reason }).toEqual({ left: 0, reason: 'ABANDONED' });
    expect(goneMs).toBeLessThanOrEqual(15_000);
  });

  test('is put together byte for byte over many connections', async () => {
    const use = useOf(pool, server);
    const id = randomUUID();
    const command = Command.of('sh', '-c', 'n=0; while [ $n -lt 60 ]; do n=$((n+1)); seq 1 5000; sleep 0.05; done');
    const bytes: Buffer[] = [];
    let cuts = 0;
    await runReattaching(
      use,
      { id, command, timeoutMs: 60_000 },
      {
        onOutput: async chunk => {
          bytes.push(chunk);
          if (bytes.length % 5 === 0) cuts += 1;
          if (bytes.length % 5 === 0) server.cutConnections();
          await new Promise(setImmediate);
        },
      },
    );
    const once = Array.from({ length: 5000 }, (_, index) => `${index + 1}\n`).join('');
    expect(Buffer.concat(bytes).toString() === once.repeat(60)).toBe(true);
    expect(cuts).toBeGreaterThan(5);
    await use(host => new RemoteWork(host).remove(id));
  });

  test('is cancelled by its signal, even if the line is lost just then', async () => {
    const use = useOf(pool, server);
    const id = randomUUID();
    const stop = new AbortController();
    const running = runReattaching(
      use,
      { id, command: Command.of('sh', '-c', 'echo up; sleep 900'), timeoutMs: 900_000 },
      {
        signal: stop.signal,
        onOutput: () => {
          server.cutConnections();
          stop.abort();
        },
      },
    );
    await expect(running).rejects.toMatchObject({ reason: 'ABORTED' });
    expect(processesMarked('SLIPWAY_WORK', id)).toEqual([]);
    await use(host => new RemoteWork(host).remove(id));
  });

  test('goes on when whoever followed it leaves, and is followed to its end by the next', async () => {
    const use = useOf(pool, server);
    const order = { id: randomUUID(), command: Command.of('sh', '-c', 'echo up; sleep 2; echo on'), timeoutMs: 60_000 };
    const leaving = new AbortController();
    const reason = new Error('somebody else took it over');
    const left = runReattaching(use, order, { leave: leaving.signal, onOutput: () => leaving.abort(reason) });
    await expect(left).rejects.toBe(reason);
    expect(await use(host => new RemoteWork(host).status(order.id))).toBe('RUNNING');
    let text = '';
    const onOutput = (chunk: Buffer) => {
      text += chunk.toString();
    };
    expect(await runReattaching(use, order, { onOutput })).toEqual({ exitCode: 0, reason: 'EXIT' });
    expect(text).toBe('up\non\n');
    await use(host => new RemoteWork(host).remove(order.id));
  });

  test('fails by its name when it ends badly, and is given up when the server stays away', async () => {
    const use = useOf(pool, server);
    const bad = { id: randomUUID(), command: Command.of('sh', '-c', 'echo no >&2; exit 4'), timeoutMs: 60_000 };
    const failing = runReattaching(use, bad);
    await expect(failing).rejects.toMatchObject({ reason: 'EXIT', exitCode: 4, stderrTail: 'no\n' });
    // Whoever asks for it again is told the same.
    await expect(runReattaching(use, bad)).rejects.toMatchObject({ reason: 'EXIT', exitCode: 4 });
    await use(host => new RemoteWork(host).remove(bad.id));
    const nobody = { ...server.target, port: 1, trusts: () => true };
    const away = runReattaching(
      work => pool.use('nobody', async () => nobody, work),
      { ...bad, id: randomUUID() },
      {
        patienceMs: 500,
      },
    );
    await expect(away).rejects.toMatchObject({ reason: 'LOST', cause: { kind: 'REFUSED' } });
  });

  test('leaves no command behind either: it is ended when the server is reached again', async () => {
    const use = useOf(pool, server);
    const mark = `96${Math.floor(Math.random() * 1e6)}`;
    const lost = use(host => host.run(Command.of('sleep', mark), { timeoutMs: 600_000 }));
    lost.catch(() => undefined);
    await eventually(() => processesSaying(`sleep\0${mark}`).length > 0);
    server.cutConnections();
    await expect(lost).rejects.toMatchObject({ reason: 'LOST' });
    expect(processesSaying(`sleep\0${mark}`)).not.toEqual([]);
    await use(host => host.run(Command.of('true')));
    await eventually(() => processesSaying(`sleep\0${mark}`).length === 0);
  });
});
