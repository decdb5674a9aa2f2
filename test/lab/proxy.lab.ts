import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ServerProxy } from '../../src/engine/deploy/proxy.ts';
import { ProxyFailure } from '../../src/engine/deploy/proxy-failure.ts';
import { openDocker } from '../../src/engine/deploy/server-docker.ts';
import { listeningPorts, openConnections } from '../../src/engine/deploy/server-ports.ts';
import type { DockerApi } from '../../src/integrations/docker/docker-api.ts';
import type { SshHost } from '../../src/remote/ssh-host.ts';
import { eventually } from '../support/eventually.ts';
import { LabServer } from './support/lab-server.ts';

const NODE = 'node:24-bookworm-slim';
const UPSTREAMS = { a: 21_001, b: 21_002 };

let server: LabServer;
let host: SshHost;
let docker: DockerApi;
let proxy: ServerProxy;
beforeAll(async () => {
  server = await LabServer.start({ hasDocker: true });
  await server.load('caddy:2', NODE);
  host = await server.connect();
  docker = await openDocker(host);
  proxy = new ServerProxy(docker, host);
  for (const [name, port] of Object.entries(UPSTREAMS)) await release(name, port);
});
afterAll(async () => {
  proxy?.close();
  docker?.close();
  host?.close();
  await server?.stop();
});

/** Says its name: at once, slowly in bits, or over a connection that it keeps for itself. */
async function release(name: string, hostPort: number): Promise<void> {
  const app = `
    const server = require('http').createServer((question, answer) => {
      if (question.url !== '/slow') return answer.end('${name}');
      let bits = 0;
      const timer = setInterval(() => { answer.write('${name}'); if (++bits === 5) { clearInterval(timer); answer.end(); } }, 500);
    }).listen(3000);
    server.on('upgrade', (question, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: echo\\r\\n\\r\\n');
      socket.pipe(socket);
    });`;
  const ports = [{ hostIp: '127.0.0.1', hostPort, containerPort: 3000 }];
  const spec = { name: `lab-${name}`, image: NODE, command: ['node', '-e', app], env: {}, labels: {}, ports };
  await docker.createContainer(spec);
  await docker.startContainer(spec.name);
  await eventually(() => server.exec('curl', '-sf', `http://127.0.0.1:${hostPort}/`).catch(() => false as const));
}

const get = async (port: number, path = '/'): Promise<string> =>
  (await fetch(`http://${server.address}:${port}${path}`)).text();

/** One request over a connection that is kept, told by what came of it. */
const ask = (port: number, agent: Agent): Promise<string> =>
  new Promise(resolve => {
    const asked = request({ host: server.address, port, agent }, answer => {
      let said = '';
      answer.on('data', chunk => {
        said += chunk;
      });
      answer.on('end', () => resolve(answer.statusCode === 200 ? said : `status ${answer.statusCode}`));
      answer.on('error', error => resolve(error.message));
    });
    asked.on('error', error => resolve(error.message));
    asked.end();
  });

/** As many a second, over kept connections, while something is done. */
async function underLoad(port: number, perSecond: number, work: () => Promise<void>): Promise<Map<string, number>> {
  const agent = new Agent({ keepAlive: true, maxSockets: 30 });
  const seen = new Map<string, number>();
  const asked: Promise<void>[] = [];
  const timer = setInterval(() => {
    const count = async () => {
      const said = await ask(port, agent);
      seen.set(said, (seen.get(said) ?? 0) + 1);
    };
    for (let each = 0; each < perSecond / 50; each += 1) asked.push(count());
  }, 20);
  await work().finally(() => clearInterval(timer));
  await Promise.all(asked);
  agent.destroy();
  return seen;
}

describe('the proxy of a server', () => {
  test('is started once, listens on its loopback alone, and takes no other port', async () => {
    const before = await listeningPorts(host);
    await Promise.all([proxy.ensure(), proxy.ensure()]);
    await proxy.ensure();
    const after = await listeningPorts(host);
    expect([...after].filter(port => !before.has(port))).toEqual([2019]);
    expect(await server.shell(`ss -ltn | grep -c '127.0.0.1:2019 '`)).toBe('1');
  });

  test('switches under load without a failed request, and lets what is under way finish', async () => {
    const id = randomUUID();
    const listenPort = 22_001;
    await proxy.route(id, { listenPort, upstreamPort: UPSTREAMS.a });
    expect(await proxy.upstreamOf(id)).toEqual({ listenPort, upstreamPort: UPSTREAMS.a });
    expect(await get(listenPort)).toBe('a');
    const slow = get(listenPort, '/slow');
    let switches = 0;
    const seen = await underLoad(listenPort, 400, async () => {
      await pause(200);
      for (; switches < 40; switches += 1)
        await proxy.route(id, { listenPort, upstreamPort: switches % 2 === 0 ? UPSTREAMS.b : UPSTREAMS.a });
    });
    expect([...seen.keys()].sort()).toEqual(['a', 'b']);
    expect(await slow).toBe('aaaaa');
    const all = [...seen.values()].reduce((sum, count) => sum + count, 0);
    process.stdout.write(`${all} requests, ${switches} switches, no failure\n`);
    await eventually(async () => (await openConnections(host, UPSTREAMS.b)) === 0, 5000);
    await proxy.unroute(id);
  });

  test('keeps upgraded connections over a switch, and passes on in bits what comes in bits', async () => {
    const id = randomUUID();
    await proxy.route(id, { listenPort: 22_002, upstreamPort: UPSTREAMS.a });
    const upgraded = request({
      host: server.address,
      port: 22_002,
      headers: { connection: 'Upgrade', upgrade: 'echo' },
    });
    const socket = await new Promise<Duplex>(resolve => {
      upgraded.on('upgrade', (_answer, stream) => resolve(stream)).end();
    });
    await proxy.route(id, { listenPort: 22_002, upstreamPort: UPSTREAMS.b });
    socket.write('still here');
    expect(await new Promise(resolve => socket.once('data', chunk => resolve(chunk.toString())))).toBe('still here');
    socket.destroy();
    const answer = await fetch(`http://${server.address}:22002/slow`);
    const first = await answer.body?.getReader().read();
    expect(Buffer.from(first?.value ?? []).toString()).toBe('b');
    await proxy.unroute(id);
  });

  test('waits a moment for a release that is restarted', async () => {
    const id = randomUUID();
    await proxy.route(id, { listenPort: 22_003, upstreamPort: UPSTREAMS.a });
    const restarting = docker.restartContainer('lab-a', 1);
    await pause(50);
    expect(await get(22_003)).toBe('a');
    await restarting;
    await proxy.unroute(id);
  });

  test('goes on as it was when it is restarted, and is started if it was stopped', async () => {
    const id = randomUUID();
    const route = { listenPort: 22_004, upstreamPort: UPSTREAMS.b };
    await proxy.route(id, route);
    await docker.restartContainer('slipway-proxy', 5);
    await eventually(() => get(22_004).catch(() => false as const));
    await docker.stopContainer('slipway-proxy', 5);
    await expect(get(22_004)).rejects.toThrow();
    await proxy.ensure();
    expect(await get(22_004)).toBe('b');
    expect(await proxy.upstreamOf(id)).toEqual(route);
    await docker.removeContainer('slipway-proxy');
    await proxy.ensure();
    expect(await get(22_004)).toBe('b');
    await proxy.unroute(id);
  });

  test('says that a port is taken, and goes on with all the others', async () => {
    const [id, other] = [randomUUID(), randomUUID()];
    await proxy.route(id, { listenPort: 22_005, upstreamPort: UPSTREAMS.a });
    const taken = await proxy.route(other, { listenPort: 22, upstreamPort: UPSTREAMS.a }).catch(error => error);
    expect(taken).toBeInstanceOf(ProxyFailure);
    expect(taken).toMatchObject({ code: 'PROXY_FAILED', isPortTaken: true });
    expect(await proxy.upstreamOf(other)).toBeNull();
    expect(await get(22_005)).toBe('a');
    await proxy.route(other, { listenPort: 22_006, upstreamPort: UPSTREAMS.b });
    expect([await get(22_005), await get(22_006)]).toEqual(['a', 'b']);
    for (const each of [id, other]) await proxy.unroute(each);
  });

  test('forgets a route, once or twice, and its folder with it', async () => {
    const id = randomUUID();
    await proxy.route(id, { listenPort: 22_007, upstreamPort: UPSTREAMS.a });
    for (let count = 0; count < 2; count += 1) await proxy.unroute(id);
    await expect(get(22_007)).rejects.toThrow();
    expect(await proxy.upstreamOf(id)).toBeNull();
    const left = await docker.execute('slipway-proxy', ['ls', '/config/slipway']);
    expect(left).toEqual({ exitCode: 0, output: '' });
  });

  test('is not taken for another Caddy that was there before', async () => {
    await docker.removeContainer('slipway-proxy');
    const settings = JSON.stringify({ apps: { http: { servers: { theirs: { listen: [':8080'] } } } } });
    const theirs = { name: 'theirs', image: 'caddy:2', isHostNetwork: true, env: { SETTINGS: settings }, labels: {} };
    const command = ['sh', '-c', 'printf %s "$SETTINGS" >/tmp/caddy.json; exec caddy run --config /tmp/caddy.json'];
    await docker.createContainer({ ...theirs, command });
    await docker.startContainer('theirs');
    await eventually(async () => (await listeningPorts(host)).has(2019));
    await expect(proxy.ensure()).rejects.toMatchObject({ code: 'PROXY_FAILED' });
    await docker.removeContainer('theirs');
    await proxy.ensure();
  });
});
