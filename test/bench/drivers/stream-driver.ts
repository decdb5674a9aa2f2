/** Thousands of readers of one stream on raw sockets: tells when each of them had the message. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { answerQuestions } from '../support/driver-process.ts';

export type StreamQuestion =
  | { open: { port: number; request: string; readers: number } }
  | { await: { sentAt: number } }
  | { arm: true }
  | { close: true };

export interface Delivery {
  p50: number;
  p99: number;
  last: number;
}

const AT_ONCE = 100;
/** Each loopback address has ports of its own; one alone would run out of them. */
const PER_ADDRESS = 5000;
const DELIVER_WITHIN_MS = 60_000;
const DATA = Buffer.from('data: {');

let sockets: Socket[] = [];
let times: number[] = [];
let isArmed = false;
let allHere: () => void = () => undefined;

const now = (): number => performance.timeOrigin + performance.now();

answerQuestions<StreamQuestion>(async question => {
  if ('open' in question) return open(question.open);
  if ('arm' in question) return arm();
  if ('await' in question) return deliveries(question.await.sentAt);
  return close();
});

async function open({ port, request, readers }: { port: number; request: string; readers: number }): Promise<object> {
  const bytes = Buffer.from(request);
  for (let opened = 0; opened < readers; opened += AT_ONCE) {
    const count = Math.min(AT_ONCE, readers - opened);
    const batch = Array.from({ length: count }, (_, index) => openOne(port, bytes, opened + index));
    sockets.push(...(await Promise.all(batch)));
  }
  return { readers: sockets.length };
}

/** Every socket reads into the same buffer: what it says is looked at and forgotten. */
const shared = Buffer.alloc(64 * 1024);

async function openOne(port: number, request: Buffer, index: number): Promise<Socket> {
  let isOpen = false;
  let answered: () => void = () => undefined;
  let failed: (error: Error) => void = () => undefined;
  const answer = new Promise<void>((resolve, reject) => {
    answered = resolve;
    failed = reject;
  });
  const take = (length: number, bytes: Uint8Array): boolean => {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, length);
    if (isOpen) note(chunk);
    else if (chunk.toString('latin1', 0, 12) === 'HTTP/1.1 200') answered();
    else failed(new Error(`A stream was not opened: ${chunk.toString().slice(0, 1000)}`));
    isOpen = true;
    return true;
  };
  const localAddress = `127.0.0.${2 + Math.floor(index / PER_ADDRESS)}`;
  const socket = connect({ port, host: '127.0.0.1', localAddress, onread: { buffer: shared, callback: take } });
  socket.on('error', failed);
  await once(socket, 'connect');
  socket.write(request);
  await answer;
  return socket;
}

function note(chunk: Buffer): void {
  if (!isArmed || !chunk.includes(DATA)) return;
  times.push(now());
  if (times.length === sockets.length) allHere();
}

function arm(): Promise<object> {
  times = [];
  isArmed = true;
  return Promise.resolve({ armed: true });
}

async function deliveries(sentAt: number): Promise<Delivery> {
  if (times.length < sockets.length) {
    await new Promise<void>((resolve, reject) => {
      const tooLong = () => reject(new Error(`Only ${times.length} of ${sockets.length} readers had the message`));
      const deadline = setTimeout(tooLong, DELIVER_WITHIN_MS);
      allHere = () => {
        clearTimeout(deadline);
        resolve();
      };
    });
  }
  isArmed = false;
  const at = (share: number): number => (times[Math.ceil(share * times.length) - 1] ?? Number.NaN) - sentAt;
  return { p50: at(0.5), p99: at(0.99), last: at(1) };
}

async function close(): Promise<object> {
  for (const socket of sockets) socket.resetAndDestroy();
  sockets = [];
  return { closed: true };
}
