import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Command } from '../../src/commands/command.ts';
import type { HostKey } from '../../src/remote/host-key.ts';
import { SshHost } from '../../src/remote/ssh-host.ts';
import { SshPool } from '../../src/remote/ssh-pool.ts';
import type { SshTarget } from '../../src/remote/ssh-target.ts';
import { hasSshd, SshServer } from '../support/ssh-server.ts';

const whereSshdIs = hasSshd() ? describe : describe.skip;

whereSshdIs('a machine reached by SSH, with a real sshd', () => {
  let server: SshServer;
  let host: SshHost;
  let target: SshTarget;

  beforeAll(async () => {
    server = await SshServer.start();
    target = { ...server.target, trusts: key => key.fingerprint === server.fingerprint };
    host = await SshHost.connect(target);
  });
  afterAll(async () => {
    host.close();
    await server.stop();
  });

  const say = async (command: Command) => (await host.run(command)).stdout.toString();

  test('takes a word for a word, whatever is in it', async () => {
    const words = ['a b', "it's", '$(id)', '`id`', '; rm -rf /', '--', '-n', '\n', '*', 'ü', ''];
    expect(await say(Command.of('printf', '%s\\0', ...words))).toBe(words.map(word => `${word}\0`).join(''));
  });

  test('tells how a command ended, with what it complained of', async () => {
    const failed = host.run(Command.of('sh', '-c', 'echo no >&2; exit 3'));
    await expect(failed).rejects.toMatchObject({ reason: 'EXIT', exitCode: 3, stderrTail: 'no\n' });
  });

  test('gives it what it reads', async () => {
    expect((await host.run(Command.of('cat'), { stdin: 'from here' })).stdout.toString()).toBe('from here');
  });

  test('ends it when its time or our patience is over, or when it says too much', async () => {
    const sleep = Command.of('sleep', '30');
    await expect(host.run(sleep, { timeoutMs: 50 })).rejects.toMatchObject({ reason: 'TIMEOUT' });
    await expect(host.run(sleep, { signal: AbortSignal.timeout(50) })).rejects.toMatchObject({ reason: 'ABORTED' });
    const loud = host.run(Command.of('head', '-c', '100000', '/dev/zero'), { maxOutputBytes: 1000 });
    await expect(loud).rejects.toMatchObject({ reason: 'TOO_MUCH_OUTPUT' });
  });

  test('carries many commands at once over its one connection', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => say(Command.of('echo', String(index)))));
    expect(answers.map(answer => answer.trim())).toEqual(Array.from({ length: 30 }, (_, index) => String(index)));
  });

  test('shows its key, and is sent no credential unless that is trusted', async () => {
    const seen: HostKey[] = [];
    const stranger = SshHost.connect({ ...target, password: 'secret', trusts: key => seen.push(key) === 0 });
    await expect(stranger).rejects.toMatchObject({ kind: 'HOST_KEY', shown: { fingerprint: server.fingerprint } });
    expect(seen).toMatchObject([{ type: 'ssh-ed25519', fingerprint: server.fingerprint }]);
    expect(await server.log()).not.toMatch(/Failed|Accepted.*password/);
  });

  test('refuses another key, a closed port and a key that cannot be read, each by its name', async () => {
    const other = SshServer.makeKey();
    await expect(SshHost.connect({ ...target, privateKey: other })).rejects.toMatchObject({ kind: 'AUTH' });
    await expect(SshHost.connect({ ...target, port: 1 })).rejects.toMatchObject({ kind: 'REFUSED' });
    await expect(SshHost.connect({ ...target, privateKey: 'not a key' })).rejects.toMatchObject({
      kind: 'KEY_UNREADABLE',
    });
  });

  test('fails what runs when the line is cut, and a pool opens a new one', async () => {
    const pool = new SshPool();
    let first: SshHost | undefined;
    const cut = pool.use(
      'server',
      async () => target,
      async open => {
        first = open;
        const running = open.run(Command.of('sleep', '30'));
        server.cutConnections();
        return running;
      },
    );
    await expect(cut).rejects.toMatchObject({ reason: 'LOST' });
    const second = await pool.use(
      'server',
      async () => target,
      async open => open,
    );
    expect(second).not.toBe(first);
    const third = await pool.use(
      'server',
      async () => target,
      async open => open,
    );
    expect(third).toBe(second);
    pool.closeAll();
  });
});
