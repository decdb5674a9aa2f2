import { randomUUID } from 'node:crypto';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Command } from '../../src/commands/command.ts';
import { DialFailure, type Host, RemoteFailure } from '../../src/remote/host.ts';
import { LocalHost } from '../../src/remote/local-host.ts';
import { SshHost } from '../../src/remote/ssh-host.ts';
import { eventually } from '../support/eventually.ts';
import { processesSaying } from '../support/processes.ts';
import { hasSshd, SshServer } from '../support/ssh-server.ts';

const isPossible = hasSshd() && process.platform === 'linux';
const whereSshdIs = isPossible ? describe : describe.skip;

let server: SshServer;
let far: SshHost;
/** Says back what it hears, and closes when it hears the end. */
let echo: Server;
const echoed = new Set<Socket>();
beforeAll(async () => {
  echo = createServer(socket => {
    echoed.add(socket.once('close', () => echoed.delete(socket)).on('error', () => undefined));
    socket.pipe(socket);
  });
  await new Promise<void>(resolve => echo.listen(0, '127.0.0.1', resolve));
  if (!isPossible) return;
  server = await SshServer.start();
  far = await connect();
});
afterAll(async () => {
  far?.close();
  await server?.stop();
  for (const socket of echoed) socket.destroy();
  await new Promise(resolve => echo.close(resolve));
});

const connect = () => SshHost.connect({ ...server.target, trusts: () => true });
const echoPort = () => (echo.address() as AddressInfo).port;
const failureOf = (stream: Duplex) => new Promise<unknown>(resolve => stream.once('error', resolve));
const here = new LocalHost(process.env.PATH ?? '');

const hosts: [string, boolean, () => Host][] = [
  ['this machine', process.platform === 'linux', () => here],
  ['a machine reached by SSH', isPossible, () => far],
];

describe.each(hosts)('talking with %s', (_, isThere, host) => {
  const it = isThere ? test : test.skip;

  it('a program hears what is written and is heard, whatever it is, and ends when it has heard the end', async () => {
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (__, index) => index % 256));
    const cat = await host().converse(Command.of('cat'));
    cat.end(bytes);
    const heard: Buffer[] = [];
    for await (const chunk of cat) heard.push(chunk);
    expect(Buffer.concat(heard).equals(bytes)).toBe(true);
  });

  it('a program that ends badly fails the stream, with what it complained of', async () => {
    const failing = await host().converse(Command.of('sh', '-c', 'echo said; echo no >&2; exit 3'));
    const failed = failureOf(failing);
    failing.resume();
    expect(await failed).toMatchObject({ reason: 'EXIT', exitCode: 3, stderrTail: 'no\n' });
  });

  it('a program that is left ends, whether it listens or not', async () => {
    const mark = `98${Math.floor(Math.random() * 1e6)}`;
    const deaf = await host().converse(Command.of('sh', '-c', `trap '' TERM; sleep ${mark} & sleep ${mark}; :`));
    const polite = await host().converse(Command.of('sh', '-c', `cat; : ${mark}`));
    await eventually(() => processesSaying(mark).length >= 3);
    for (const stream of [deaf, polite]) stream.destroy();
    await eventually(() => processesSaying(mark).length === 0, 10_000);
  });

  it('a program that nobody listens to waits', async () => {
    const loud = await host().converse(Command.of('sh', '-c', 'head -c 100000000 /dev/zero; echo done >&2; exit 4'));
    const failed = failureOf(loud);
    await pause(300);
    expect(loud.readableLength).toBeLessThan(4 * 1024 * 1024);
    loud.resume();
    expect(await failed).toMatchObject({ exitCode: 4, stderrTail: 'done\n' });
  });

  it('a port of its loopback answers, and each end may be the first to leave', async () => {
    const stream = await host().dial(echoPort());
    const heard = text(stream);
    stream.end('hello');
    expect(await heard).toBe('hello');
    const left = await host().dial(echoPort());
    await eventually(() => echoed.size > 0);
    left.destroy();
    await eventually(() => echoed.size === 0);
  });

  it('a port that nobody listens on is told as such', async () => {
    const refused = await host()
      .dial(1)
      .catch(error => error);
    expect(refused).toBeInstanceOf(DialFailure);
    expect(refused).toMatchObject({ reason: 'REFUSED', port: 1 });
  });
});

whereSshdIs('a machine whose connection is lost', () => {
  test('loses programs and ports alike, and what comes after', async () => {
    const host = await connect();
    const streams = [await host.converse(Command.of('cat')), await host.dial(echoPort())];
    const failures = streams.map(failureOf);
    for (const stream of streams) stream.resume();
    server.cutConnections();
    for (const failure of await Promise.all(failures)) {
      expect(failure).toBeInstanceOf(RemoteFailure);
      expect(failure).toMatchObject({ reason: 'LOST' });
    }
    await expect(host.converse(Command.of('cat'))).rejects.toMatchObject({ reason: 'LOST' });
    await expect(host.dial(echoPort())).rejects.toMatchObject({ reason: 'LOST' });
    far = await connect();
  });
});

whereSshdIs('places on a connection', () => {
  test('are taken by conversations, and given back when they end, however they do', async () => {
    const host = await connect();
    const open = await Promise.all(Array.from({ length: 8 }, () => host.converse(Command.of('cat'))));
    let isIn = false;
    const ninth = host.converse(Command.of('echo', 'in')).then(stream => {
      isIn = true;
      return text(stream);
    });
    await pause(300);
    expect(isIn).toBe(false);
    open[0]?.destroy();
    expect(await ninth).toBe('in\n');
    for (const stream of open.slice(1)) stream.end().resume();
    const mark = randomUUID();
    const said = await Promise.all(
      Array.from({ length: 20 }, async () => (await host.run(Command.of('echo', mark))).stdout.toString().trim()),
    );
    expect(said).toEqual(Array.from({ length: 20 }, () => mark));
    expect(host.unfinished).toEqual([]);
    host.close();
  });
});

whereSshdIs('a machine whose sshd passes nothing on', () => {
  test('says so', async () => {
    const strict = await SshServer.start('AllowTcpForwarding no');
    const host = await SshHost.connect({ ...strict.target, trusts: () => true });
    const refused = await host.dial(echoPort()).catch(error => error);
    expect(refused).toBeInstanceOf(DialFailure);
    expect(refused).toMatchObject({ reason: 'FORBIDDEN', message: expect.stringContaining('AllowTcpForwarding') });
    host.close();
    await strict.stop();
  });
});
