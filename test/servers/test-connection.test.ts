import { createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DeafPort } from '../support/deaf-port.ts';
import { outcomes, ServerBench, type StepMessage } from '../support/servers.ts';
import { SseClient } from '../support/sse-client.ts';
import { SshDaemon } from '../support/ssh-daemon.ts';
import { makePrivateKey } from '../support/ssh-keys.ts';
import { SshMachine } from '../support/ssh-machine.ts';

const privateKey = makePrivateKey();
const GOOD_UNTIL_DONE = ['RESOLVE OK', 'TCP OK', 'HOST_KEY WARN', 'AUTH OK', 'SHELL OK', 'SUDO OK', 'DOCKER OK'];

let bench: ServerBench;
beforeAll(async () => {
  bench = await ServerBench.start();
});
afterAll(() => bench.stop());

const last = (messages: readonly StepMessage[]) => messages.at(-1) as StepMessage;

describe('a machine with all that is needed', () => {
  let machine: SshMachine;
  let place: { host: string; port: number; username: string; privateKey: string };
  beforeEach(async () => {
    machine = await SshMachine.start();
    machine.program('sudo', 'shift 2; exec "$@"');
    machine.program('id', 'echo 1000');
    machine.program('docker', 'echo 27.1.0');
    machine.program('df', 'echo Filesystem; echo /dev/vda 40000 10000 30000 25% /');
    place = { host: 'localhost', port: machine.port, username: 'deploy', privateKey };
  });
  afterEach(() => machine.stop());

  test('is gone through step by step, each with its time, to the end', async () => {
    const messages = await bench.test(place);
    expect(outcomes(messages)).toEqual([...GOOD_UNTIL_DONE, 'DISK OK', 'DONE OK']);
    expect(messages.map(({ seq }) => seq)).toEqual(messages.map((_, index) => index + 1));
    expect(messages.filter(({ step }) => step === 'AUTH').map(({ status }) => status)).toEqual(['RUNNING', 'OK']);
    expect(messages.every(({ durationMs }) => Number.isInteger(durationMs) && durationMs >= 0)).toBe(true);
    expect(messages.find(({ step, status }) => step === 'HOST_KEY' && status === 'WARN')).toMatchObject({
      message: `ssh-ed25519 ${machine.fingerprint}`,
      hint: expect.stringContaining('compare'),
    });
    expect(last(messages).facts).toMatchObject({ docker: '27.1.0', diskFreeMb: 30_000 });
  });

  test('is the same by subscription, and nothing of it is stored', async () => {
    const query = `subscription ($host: String, $port: Int, $username: String, $privateKey: String) {
      testConnection(host: $host, port: $port, username: $username, privateKey: $privateKey) { step status hint facts { os } } }`;
    const { app, ann } = bench;
    const options = { token: ann.token, body: { query, variables: place } };
    const stream = await SseClient.open(`${app.url}/graphql/stream`, options);
    const steps: string[] = [];
    for (let message = await stream.next(); message?.event === 'next'; message = await stream.next()) {
      const { testConnection } = (JSON.parse(message.data) as { data: { testConnection: StepMessage } }).data;
      if (testConnection.status !== 'RUNNING') steps.push(`${testConnection.step} ${testConnection.status}`);
    }
    expect(steps).toEqual([...GOOD_UNTIL_DONE, 'DISK OK', 'DONE OK']);
    expect(await app.sql('select 1 from server where port = $1', [machine.port])).toEqual([]);
  });

  test('without sudo, Docker or room says so, and what to do about it', async () => {
    machine.program('docker', 'echo Cannot connect >&2; exit 1');
    machine.program('df', 'echo Filesystem; echo /dev/vda 40000 39500 500 99% /');
    const poor = await bench.test(place);
    expect(outcomes(poor).slice(-3)).toEqual(['DOCKER WARN', 'DISK WARN', 'DONE OK']);
    expect(poor.filter(({ status }) => status === 'WARN').map(({ hint }) => typeof hint)).toEqual(
      Array(3).fill('string'),
    );
    machine.program('sudo', 'echo a password is required >&2; exit 1');
    const powerless = await bench.test(place);
    expect(outcomes(powerless).slice(-2)).toEqual(['SUDO FAILED', 'DONE FAILED']);
    expect(last(powerless).hint).toContain('NOPASSWD');
  });

  test('whose shell talks is told so', async () => {
    machine.greeting = 'Welcome!\n';
    const messages = await bench.test(place);
    expect(outcomes(messages).slice(-2)).toEqual(['SHELL FAILED', 'DONE FAILED']);
    expect(last(messages).hint).toContain('start files');
  });

  test('gets no password unless its key is known, and shows its key instead', async () => {
    const guarded = await SshMachine.start({ password: 'long live the king' });
    try {
      const wish = { host: '127.0.0.1', port: guarded.port, username: 'root', password: 'long live the king' };
      const blind = await bench.test(wish);
      expect(outcomes(blind).slice(-2)).toEqual(['HOST_KEY FAILED', 'DONE FAILED']);
      expect(last(blind).message).toContain(guarded.fingerprint);
      expect(last(blind).hint).toContain('hostKeyFingerprint');
      expect(guarded.attempts).toEqual([]);
      const known = { ...wish, hostKeyFingerprint: guarded.fingerprint };
      expect(outcomes(await bench.test(known))).toContain('AUTH OK');
      expect(outcomes(await bench.test({ ...known, password: 'wrong' })).slice(-2)).toEqual([
        'AUTH FAILED',
        'DONE FAILED',
      ]);
    } finally {
      await guarded.stop();
    }
  });

  test('that shows another key than the given one gets no credential', async () => {
    const messages = await bench.test({ ...place, hostKeyFingerprint: `SHA256:${'A'.repeat(43)}` });
    expect(outcomes(messages).slice(-2)).toEqual(['HOST_KEY FAILED', 'DONE FAILED']);
    expect(machine.attempts).toEqual([]);
  });

  test('is left alone when whoever asked leaves', async () => {
    machine.program('df', 'sleep 30');
    const url = `${bench.app.url}/api/v1/servers/test-connection`;
    const stream = await SseClient.open(url, { token: bench.ann.token, body: place });
    for (let message = await stream.next(); message !== undefined; message = await stream.next())
      if ((JSON.parse(message.data) as StepMessage).step === 'SHELL') break;
    await stream.cut();
    await machine.empty();
  });
});

test.each([
  ['a name without an address', { host: 'server.invalid' }, 'RESOLVE FAILED', 'spelling'],
  ['a port where nobody listens', { host: '127.0.0.1', port: 1 }, 'TCP FAILED', 'port'],
])('%s', async (_, place, outcome, hint) => {
  const messages = await bench.test({ username: 'root', ...place });
  expect(outcomes(messages).slice(-2)).toEqual([outcome, 'DONE FAILED']);
  expect(last(messages).hint).toContain(hint);
});

describe('a port that is open', () => {
  let mute: Server;
  let answer: string;
  beforeAll(async () => {
    mute = createServer(socket => {
      socket.on('error', () => undefined);
      socket.resume().end(answer);
    });
    await new Promise<void>(resolve => mute.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => new Promise(resolve => mute.close(resolve)));

  test('but speaks something else is told apart', async () => {
    answer = 'HTTP/1.1 400 Bad Request\r\n\r\n';
    const { port } = mute.address() as { port: number };
    const messages = await bench.test({ host: '127.0.0.1', port, username: 'root', privateKey });
    expect(outcomes(messages).slice(-2)).toEqual(['HOST_KEY FAILED', 'DONE FAILED']);
    expect(last(messages).message).toContain('SSH server');
  });
});

test('a filtered port is given up in time, and the firewall is named', async () => {
  const deaf = await DeafPort.start();
  try {
    const messages = await bench.test({ host: '127.0.0.1', port: deaf.port, username: 'root', privateKey });
    expect(outcomes(messages).slice(-2)).toEqual(['TCP FAILED', 'DONE FAILED']);
    expect(last(messages).hint).toContain('firewall');
  } finally {
    await deaf.stop();
  }
}, 20_000);

test('a server is named or described, never both, and never somebody else’s', async () => {
  const { app, ann } = bench;
  const { id } = (await bench.add({ name: 'web', host: 'server.invalid', username: 'root' })).body;
  const refuse = async (body: object, token = ann.token) => {
    const answer = await app.rest<{ code: string; fields?: { field: string }[] }>('POST', '/servers/test-connection', {
      token,
      body,
    });
    return [answer.status, answer.body.fields?.map(({ field }) => field) ?? answer.body.code];
  };
  expect(await refuse({ serverId: id, host: '127.0.0.1' })).toEqual([400, ['host']]);
  expect(await refuse({ serverId: id, username: 'root', port: 22 })).toEqual([400, ['port', 'username']]);
  expect(await refuse({})).toEqual([400, ['host', 'username']]);
  expect(await refuse({ host: '127.0.0.1', username: 'root', privateKey: 'none' })).toEqual([400, ['privateKey']]);
  expect(await refuse({ serverId: id }, (await app.register()).token)).toEqual([404, 'NOT_FOUND']);
});

(SshDaemon.isInstalled ? test : test.skip)('a key that sshd refuses is told so, with what to do', async () => {
  const daemon = await SshDaemon.start();
  try {
    const place = { host: 'localhost', port: daemon.port, username: daemon.user };
    const refused = await bench.test({ ...place, privateKey });
    expect(outcomes(refused).slice(-2)).toEqual(['AUTH FAILED', 'DONE FAILED']);
    expect(last(refused).hint).toContain('authorized_keys');
    expect(outcomes(await bench.test({ ...place, privateKey: daemon.key }))).toContain('SHELL OK');
    expect(outcomes(await bench.test(place)).slice(-2)).toEqual(['AUTH FAILED', 'DONE FAILED']);
  } finally {
    await daemon.stop();
  }
});
