import { type ClientRequest, request } from 'node:http';
import { connect } from 'node:net';

interface Options {
  headers?: Record<string, string>;
  body?: string;
}

export interface RawAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

export interface RawRequest {
  answer: Promise<RawAnswer>;
  /** Hangs up without waiting for the answer. */
  abandon(): void;
}

/** A request by Node's own client, which sends what fetch would refuse to and can hang up in the middle. */
export function rawRequest(url: string, method: string, path: string, { headers, body }: Options = {}): RawRequest {
  const { hostname, port } = new URL(url);
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const sent = request({ hostname, port, method, path, headers: { ...length, ...headers } });
  const answer = read(sent);
  answer.catch(() => undefined);
  sent.end(body);
  return { answer, abandon: () => void sent.once('finish', () => sent.destroy()) };
}

function read(sent: ClientRequest): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    sent.once('error', reject);
    sent.once('response', response => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
  });
}

/** Bytes on the wire, whatever they are, and all that comes back until the other side hangs up. */
export function rawBytes(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    socket.once('close', () => resolve(text)).once('error', reject);
  });
}
