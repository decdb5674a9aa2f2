import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Command } from '../../src/commands/command.ts';
import type { SshHost } from '../../src/remote/ssh-host.ts';
import { SshPool } from '../../src/remote/ssh-pool.ts';
import type { SshTarget } from '../../src/remote/ssh-target.ts';
import { eventually } from '../support/eventually.ts';
import { hasSshd, SshServer } from '../support/ssh-server.ts';

const whereSshdIs = hasSshd() ? describe : describe.skip;

whereSshdIs('a pool of connections', () => {
  let server: SshServer;
  let pool: SshPool;
  let target: SshTarget;
  beforeAll(async () => {
    server = await SshServer.start();
    pool = new SshPool();
    target = { ...server.target, trusts: () => true };
  });
  afterAll(async () => {
    pool.closeAll();
    await server.stop();
  });
  const use = <Result>(work: (host: SshHost) => Promise<Result>, key = 'server') =>
    pool.use(key, async () => target, work);

  test('opens one connection for all who ask at once, and answers them all, though sshd allows ten sessions on it', async () => {
    const before = await server.connections();
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => use(host => host.run(Command.of('echo', `${index}`)))),
    );
    expect(answers.map(({ stdout }) => Number(stdout.toString()))).toEqual(Array.from({ length: 40 }, (_, n) => n));
    expect((await server.connections()) - before).toBe(1);
  });

  test('lets whoever waits for a place on it leave', async () => {
    const stop = new AbortController();
    const holding = Array.from({ length: 8 }, () => use(host => host.run(Command.of('sleep', '1'))));
    const waiting = use(host => host.run(Command.of('true'), { signal: stop.signal }));
    waiting.catch(() => undefined);
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ reason: 'ABORTED' });
    await Promise.all(holding);
  });

  test('tells a failure to all who waited for it, and tries again for the next', async () => {
    let asked = 0;
    const nowhere = async () => {
      asked += 1;
      return { ...target, port: 1 };
    };
    const failed = await Promise.allSettled(
      Array.from({ length: 5 }, () => pool.use('mended', nowhere, async () => undefined)),
    );
    expect(failed.map(each => each.status === 'rejected' && each.reason.kind)).toEqual(Array(5).fill('REFUSED'));
    expect(asked).toBe(1);
    expect((await use(host => host.run(Command.of('echo', 'mended')), 'mended')).stdout.toString()).toBe('mended\n');
  });

  test('gives up connecting when the last one who waited for it has left', async () => {
    const silent = await SilentServer.start();
    const stops = [new AbortController(), new AbortController()];
    const waiting = stops.map(({ signal }) =>
      pool.use(
        'silent',
        async () => ({ ...target, port: silent.port }),
        async () => undefined,
        signal,
      ),
    );
    for (const each of waiting) each.catch(() => undefined);
    await eventually(() => silent.sockets.length === 1);
    stops[0]?.abort(new Error('first'));
    await expect(waiting[0]).rejects.toThrow('first');
    expect(silent.sockets[0]?.closed).toBe(false);
    const closed = once(silent.sockets[0] as Socket, 'close');
    stops[1]?.abort(new Error('second'));
    await expect(waiting[1]).rejects.toThrow('second');
    await closed;
    await silent.stop();
  });

  test('closes what nobody uses any more', async () => {
    const brief = new SshPool(10);
    const host = await brief.use(
      'server',
      async () => target,
      async open => open,
    );
    expect(host.isOpen).toBe(true);
    await host.closed;
    expect(brief.keys).toEqual([]);
    brief.closeAll();
  });

  test('closes everything, and opens nothing after that', async () => {
    const silent = await SilentServer.start();
    const ending = new SshPool();
    const running = ending.use(
      'server',
      async () => target,
      host => host.run(Command.of('sleep', '2')),
    );
    const connecting = ending.use(
      'silent',
      async () => ({ ...target, port: silent.port }),
      async () => undefined,
    );
    for (const each of [running, connecting]) each.catch(() => undefined);
    await eventually(() => silent.sockets.length === 1);
    ending.closeAll();
    await expect(running).rejects.toBeInstanceOf(Error);
    await expect(connecting).rejects.toThrow('not needed any more');
    await expect(
      ending.use(
        'server',
        async () => target,
        async () => undefined,
      ),
    ).rejects.toThrow('are closed');
    await silent.stop();
  });

  test('asks for the key it knows where a machine has several', async () => {
    const seen: string[] = [];
    const known = {
      ...target,
      hostKeyTypes: ['ecdsa-sha2-nistp256'],
      trusts: (key: { type: string }) => seen.push(key.type) > 0,
    };
    await pool.use(
      'typed',
      async () => known,
      async () => undefined,
    );
    expect(seen).toEqual(['ecdsa-sha2-nistp256']);
  });
});

/** Takes connections and never says a word. */
class SilentServer {
  readonly sockets: Socket[] = [];
  private constructor(private readonly server: Server) {
    server.on('connection', socket => {
      socket.on('error', () => undefined).resume();
      this.sockets.push(socket);
    });
  }

  static async start(): Promise<SilentServer> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new SilentServer(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise(resolve => this.server.close(resolve));
  }
}
