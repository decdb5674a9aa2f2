import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DockerApi } from '../../../src/integrations/docker/docker-api.ts';
import { DockerFault } from '../../../src/integrations/docker/docker-fault.ts';
import { eventually } from '../../support/eventually.ts';
import { HttpMachine } from '../../support/http-machine.ts';

let machine: HttpMachine;
let api: DockerApi;
beforeEach(async () => {
  machine = await HttpMachine.start();
  machine.on('GET /version', machine.json({ Version: '20.10.24', ApiVersion: '1.41', MinAPIVersion: '1.12' }));
  api = new DockerApi(machine.open);
});
afterEach(async () => {
  api.close();
  await machine.stop();
});

const inspected = (name: string, labels: Record<string, string>) => ({
  Id: 'the-one-there',
  Name: `/${name}`,
  Image: 'sha256:1',
  RestartCount: 2,
  State: {
    ...{ Running: false, Restarting: false, OOMKilled: true, ExitCode: 137, Error: '' },
    ...{ StartedAt: '2026-01-02T03:04:05.678901234Z', FinishedAt: '2026-01-02T03:05:05.1Z' },
  },
  Config: { Image: 'app:1', Labels: labels },
  NetworkSettings: { Networks: { inner: { IPAddress: '10.0.0.2' } } },
});

describe('the version of the API', () => {
  test.each([
    ['1.12', '/v1.41/'],
    ['1.44', '/v1.44/'],
    ['2.0', '/v2.0/'],
  ])('where the engine speaks none below %s it is asked at %s', async (MinAPIVersion, prefix) => {
    machine.on('GET /version', machine.json({ Version: '1', ApiVersion: '9', MinAPIVersion }));
    await api.hasImage('app:1');
    await api.hasImage('app:2');
    expect(machine.requests.map(({ path }) => path)).toEqual([
      '/version',
      `${prefix}images/app%3A1/json`,
      `${prefix}images/app%3A2/json`,
    ]);
  });

  test('is asked for again if nobody answered', async () => {
    machine.on('GET /version', response => void response.destroy());
    await expect(api.hasImage('app:1')).rejects.toThrow();
    machine.on('GET /version', machine.json({ Version: '1', ApiVersion: '1.41', MinAPIVersion: '1.12' }));
    expect(await api.hasImage('app:1')).toBe(false);
  });
});

describe('connections', () => {
  test('are used again, whatever the answer was, and given back when nobody needs them', async () => {
    machine
      .on('POST /v1.41/containers/app/start', machine.status(204))
      .on('POST /v1.41/containers/again/start', machine.status(304));
    for (let count = 0; count < 5; count += 1) {
      await api.startContainer('app');
      await api.startContainer('again');
      await expect(api.startContainer('missing')).rejects.toMatchObject({ status: 404 });
    }
    expect(machine.opened).toBe(1);
    await eventually(() => machine.sockets.size === 0, 5000);
  });

  test('are two at a time for what is short, and one of its own for what takes long', async () => {
    machine.on('POST /v1.41/containers/app/wait', () => undefined);
    machine.on('GET /v1.41/images/app%3A1/json', async (response, request) => {
      await pause(20);
      await machine.json({ Id: '1', Size: 1, Config: null })(response, request);
    });
    const waiting = [1, 2, 3].map(() => api.waitContainer('app'));
    await Promise.all(Array.from({ length: 10 }, () => api.hasImage('app:1')));
    expect(machine.opened).toBe(5);
    api.close();
    for (const each of waiting) await expect(each).rejects.toThrow();
    await eventually(() => machine.sockets.size === 0);
  });

  test('one that is opened when nobody is left to use it is closed', async () => {
    let answer: () => void = () => undefined;
    const late = new DockerApi(async () => {
      await new Promise<void>(resolve => {
        answer = resolve;
      });
      return machine.open();
    });
    const asked = late.version();
    late.close();
    answer();
    await expect(asked).rejects.toThrow('closed');
    await eventually(() => machine.opened === 1 && machine.sockets.size === 0);
  });

  test('what befalls one is told as it was, before an answer and in the middle of it', async () => {
    const fault = Object.assign(new Error('the line is cut'), { reason: 'LOST' });
    const cut = new DockerApi(async () => {
      const socket = await machine.open();
      cutNow = () => socket.destroy(fault);
      return socket;
    });
    let cutNow: () => void = () => undefined;
    machine.on('POST /v1.41/containers/app/wait', () => cutNow());
    await expect(cut.waitContainer('app')).rejects.toBe(fault);
    machine.on('GET /v1.41/containers/app/logs', response => void response.write(frame(1, 'hello')));
    const heard: string[] = [];
    const listening = cut.containerLogs('app', {
      follow: true,
      onOutput: chunk => {
        heard.push(chunk.toString());
        cutNow();
      },
    });
    await expect(listening).rejects.toBe(fault);
    expect(heard).toEqual(['hello']);
    const refused = new DockerApi(() => Promise.reject(fault));
    await expect(refused.version()).rejects.toBe(fault);
    cut.close();
  });

  test('a signal ends what takes long, with its reason', async () => {
    machine.on('POST /v1.41/containers/app/wait', response => void response.writeHead(200).flushHeaders());
    const stop = new AbortController();
    const waiting = api.waitContainer('app', stop.signal);
    await eventually(() => machine.requests.some(({ path }) => path.endsWith('/wait')));
    const reason = new Error('not wanted any more');
    stop.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await eventually(() => machine.sockets.size <= 1);
  });
});

describe('answers', () => {
  test('a refusal is told with its status and in the words of the engine', async () => {
    machine.on('POST /v1.41/containers/app/start', machine.json({ message: 'driver failed: port is taken' }, 500));
    const fault = await api.startContainer('app').catch(error => error);
    expect(fault).toBeInstanceOf(DockerFault);
    expect(fault).toMatchObject({ status: 500, message: 'driver failed: port is taken' });
  });

  test('what is missing is fine where it should be gone, and null where it is looked for', async () => {
    for (const gone of [api.removeContainer('x'), api.removeImage('x'), api.removeNetwork('x'), api.removeVolume('x')])
      expect(await gone).toBeUndefined();
    expect(await api.inspectContainer('x')).toBeNull();
    expect(await api.inspectImage('x')).toBeNull();
  });

  test('a container is told as it is, and the name of an image is a path', async () => {
    machine.on('GET /v1.41/containers/app/json', machine.json(inspected('app', { a: 'b' })));
    expect(await api.inspectContainer('app')).toMatchObject({
      ...{ id: 'the-one-there', name: 'app', image: 'app:1', isRunning: false, exitCode: 137, isOutOfMemory: true },
      ...{ restartCount: 2, startedAt: new Date('2026-01-02T03:04:05.678Z'), labels: { a: 'b' }, error: null },
      networks: { inner: '10.0.0.2' },
    });
    const image = { Id: 'sha256:1', Size: 5, Config: { Labels: null, ExposedPorts: { '80/tcp': {}, '53/udp': {} } } };
    machine.on('GET /v1.41/images/slipway/env%3Adeploy/json', machine.json(image));
    expect(await api.inspectImage('slipway/env:deploy')).toMatchObject({
      exposedPorts: [80],
      sizeBytes: 5,
      labels: {},
    });
  });

  test('a name that is taken is the same container if its labels are, and a refusal otherwise', async () => {
    machine.on('POST /v1.41/containers/create', machine.json({ message: 'name is in use' }, 409));
    machine.on('GET /v1.41/containers/app/json', machine.json(inspected('app', { role: 'app', more: 'x' })));
    const spec = { name: 'app', image: 'app:1', env: {}, labels: { role: 'app' } };
    expect(await api.createContainer(spec)).toBe('the-one-there');
    await expect(api.createContainer({ ...spec, labels: { role: 'proxy' } })).rejects.toMatchObject({ status: 409 });
  });

  test('a pull that fails after it began is a failure', async () => {
    machine.on('POST /v1.41/images/create', response => {
      response.write('{"status":"Pulling fs layer","id":"a1"}\n');
      response.end('{"error":"manifest unknown"}\n');
    });
    const lines: string[] = [];
    const pulled = api.pullImage('registry.example.org:5000/caddy:2', line => void lines.push(line));
    await expect(pulled).rejects.toMatchObject({ status: 500, message: 'manifest unknown' });
    expect(lines).toEqual(['a1: Pulling fs layer']);
    const asked = new URLSearchParams(machine.requests.at(-1)?.path.split('?')[1]);
    expect(Object.fromEntries(asked)).toEqual({ fromImage: 'registry.example.org:5000/caddy', tag: '2' });
  });

  test('while a listener takes its time no more is read than fits on the way', async () => {
    let sent = 0;
    const frames = function* () {
      for (; sent < 200; sent += 1) yield frame(1, 'x'.repeat(64 * 1024));
    };
    machine.on('GET /v1.41/containers/app/logs', response => void Readable.from(frames()).pipe(response));
    let heard = 0;
    let goOn: () => void = () => undefined;
    const held = new Promise<void>(resolve => {
      goOn = resolve;
    });
    const listening = api.containerLogs('app', {
      onOutput: async chunk => {
        heard += chunk.length;
        await held;
      },
    });
    await eventually(() => heard > 0);
    await pause(200);
    expect(sent).toBeLessThan(190);
    goOn();
    await listening;
    expect(heard).toBe(200 * 64 * 1024);
  });
});

function frame(stream: number, said: string): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt8(stream, 0);
  header.writeUInt32BE(Buffer.byteLength(said), 4);
  return Buffer.concat([header, Buffer.from(said)]);
}
