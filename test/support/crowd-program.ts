/**
 * Many readers of one stream in a process of their own, so that their work is not measured as the service's. Says on stdout
 * when all are connected, when each has heard the next message, and when all have left; takes `listen` and `leave` on stdin.
 */
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

const WAVE = 100;
const [port = '', token = '', count = '0'] = process.argv.slice(2);
const sockets: Socket[] = [];
let heardAt: number[] = [];
let refused = 0;

const say = (kind: string, body: object = {}) => process.stdout.write(`${JSON.stringify({ kind, ...body })}\n`);

for (let opened = 0; opened < Number(count); opened += WAVE) {
  await Promise.all(Array.from({ length: Math.min(WAVE, Number(count) - opened) }, open));
}
say('connected', { count: sockets.length, refused });
createInterface(process.stdin).on('line', line => {
  if (line === 'listen') listen();
  if (line === 'leave') leave();
});

function open(): Promise<void> {
  return new Promise(resolve => {
    const socket = connect({ host: '127.0.0.1', port: Number(port) });
    socket.once('error', () => {
      refused += 1;
      resolve();
    });
    socket.once('data', head => {
      if (!String(head).startsWith('HTTP/1.1 200')) refused += 1;
      else sockets.push(socket);
      resolve();
    });
    socket.write(`GET /api/v1/events HTTP/1.1\r\nHost: slipway\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  });
}

function listen(): void {
  heardAt = [];
  for (const socket of sockets) {
    const hear = (chunk: Buffer) => {
      if (!chunk.includes('data:')) return;
      socket.off('data', hear);
      heardAt.push(Date.now());
      if (heardAt.length === sockets.length) say('heard', { at: heardAt });
    };
    socket.on('data', hear);
  }
  say('listening');
}

function leave(): void {
  for (const socket of sockets) socket.destroy();
  say('left', { at: [Date.now()] });
  process.stdin.destroy();
}
