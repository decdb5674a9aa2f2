import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { reach } from '../../src/remote/reach.ts';

let server: Server;
let port: number;
beforeAll(async () => {
  server = createServer(socket => socket.destroy());
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => new Promise(resolve => server.close(resolve)));

const CLOSED = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5'];

test('the first address whose port is open is taken', async () => {
  expect(await reach([...CLOSED.slice(1), '127.0.0.1'], port)).toBe('127.0.0.1');
});

test('a name with very many addresses is not followed to the last', async () => {
  await expect(reach([...CLOSED, '127.0.0.1'], port)).rejects.toMatchObject({ kind: 'REFUSED' });
});
