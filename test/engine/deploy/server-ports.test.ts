import { createServer } from 'node:net';
import { expect, test } from '@jest/globals';
import { diskFreeMb, freePort, listeningPorts, openConnections } from '../../../src/engine/deploy/server-ports.ts';
import { LocalHost } from '../../../src/remote/local-host.ts';
import { RecordingHost } from '../../support/recording-host.ts';

const LISTS = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:07E3 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 0100007F:C000 0100007F:4E20 01 00000000:00000000 00:00000000 00000000     0        0 2 1 0 20 4 30 10 -1
   2: 0100007F:4E20 0100007F:C000 01 00000000:00000000 00:00000000 00000000     0        0 3 1 0 20 4 30 10 -1
   3: 0100007F:C001 0100007F:4E20 06 00000000:00000000 00:00000000 00000000     0        0 3 1 0 20 4 30 10 -1
   4: 0200000A:C002 0500000A:4E20 01 00000000:00000000 00:00000000 00000000     0        0 3 1 0 20 4 30 10 -1
  sl  local_address                         remote_address                        st tx_queue rx_queue tr
   0: 00000000000000000000000000000000:0016 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00
   1: 0000000000000000FFFF00000100007F:C003 0000000000000000FFFF00000100007F:4E20 01 00000000:00000000 00:00
`;
const told = () => new RecordingHost().on('/proc/net/tcp', { stdout: LISTS });

test('the ports that somebody listens on are read from the kernel’s lists', async () => {
  expect(await listeningPorts(told())).toEqual(new Set([2019, 22]));
});

test('open connections to a port of the loopback are counted once each, by IPv4 and IPv6', async () => {
  expect(await openConnections(told(), 20_000)).toBe(2);
  expect(await openConnections(told(), 2019)).toBe(0);
});

test('a free port is neither listened on nor taken, and there may be none', async () => {
  expect(await freePort(told(), { from: 2018, to: 2020, taken: new Set([2018]) })).toBe(2020);
  expect(await freePort(told(), { from: 2018, to: 2019, taken: new Set([2018]) })).toBeNull();
});

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('the same of this machine', async () => {
  const host = new LocalHost(process.env.PATH ?? '');
  const server = createServer(socket => void socket.on('error', () => undefined));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  expect(await listeningPorts(host)).toContain(port);
  expect(await openConnections(host, port)).toBe(0);
  const stream = await host.dial(port);
  expect(await openConnections(host, port)).toBe(1);
  stream.destroy();
  await new Promise(resolve => server.close(resolve));
  expect(await diskFreeMb(host)).toBeGreaterThan(0);
});
