import { randomUUIDv7 } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { DomainError } from '../errors.ts';
import { PROBLEM_TYPE, toProblem } from '../schema/problem.ts';

/** Proxies may ask by the whole URL, and OPTIONS by an asterisk: behind this line there are only paths. */
export function toOriginForm(request: IncomingMessage): void {
  const { url = '/' } = request;
  if (url.startsWith('/')) return;
  const whole = URL.canParse(url) ? new URL(url) : undefined;
  request.url = whole?.pathname.startsWith('/') ? whole.pathname + whole.search : '/';
}

interface ParserError extends NodeJS.ErrnoException {
  rawPacket?: Buffer;
}

/** What Node's parser refuses never reaches a door; it is answered in our form all the same. */
export function answerBrokenRequest(error: ParserError, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const fault =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new DomainError('PAYLOAD_TOO_LARGE', 'The headers are larger than 16 KB')
      : new DomainError('BAD_INPUT', 'This is no HTTP request, or it did not arrive whole');
  const requestId = randomUUIDv7();
  const body = JSON.stringify(toProblem(fault, '/', requestId));
  const head = [
    `HTTP/1.1 ${fault.status} ${STATUS_CODES[fault.status]}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  const isHead = error.rawPacket?.subarray(0, 5).toString() === 'HEAD ';
  socket.end(`${head.join('\r\n')}\r\n\r\n${isHead ? '' : body}`);
}
