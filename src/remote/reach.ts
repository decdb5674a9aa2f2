import { connect } from 'node:net';
import { connectFailure, SshFailure } from './ssh-failure.ts';

const TIMEOUT_MS = 5000;
/** A name may have hundreds, and whoever wrote them there would keep us waiting for each. */
const MOST_ADDRESSES = 4;

/** The first of a machine's addresses whose port is open. What the first one failed by is what is told. */
export async function reach(addresses: readonly string[], port: number, signal?: AbortSignal): Promise<string> {
  let first: unknown;
  for (const address of addresses.slice(0, MOST_ADDRESSES)) {
    try {
      await knock(address, port, signal);
      return address;
    } catch (error) {
      first ??= error;
    }
  }
  throw first ?? new SshFailure('UNREACHABLE', 'The machine has no address');
}

function knock(host: string, port: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const socket = connect({ host, port, timeout: TIMEOUT_MS });
    const abort = () => socket.destroy();
    signal?.addEventListener('abort', abort, { once: true });
    socket.once('connect', () => resolve());
    socket.once('timeout', () => reject(new SshFailure('TIMEOUT', `Port ${port} does not answer`)));
    socket.once('error', error => reject(connectFailure(error, undefined)));
    socket.once('close', () => reject(new SshFailure('UNREACHABLE', 'The connection ended before it was ready')));
    for (const end of ['connect', 'timeout', 'error'] as const) socket.once(end, abort);
    socket.once('close', () => signal?.removeEventListener('abort', abort));
  });
}
