import { promisify } from 'node:util';
import type { Client, ClientChannel } from 'ssh2';
import type { Program } from './conversation.ts';
import { DialFailure, RemoteFailure } from './host.ts';
import { shareWindow } from './ssh-window.ts';

type End = (channel: ClientChannel) => Promise<void>;

/** A program at the other end of a channel. */
export function programOf(client: Client, name: string, channel: ClientChannel, end: End): Program {
  shareWindow(channel);
  const ended = new Promise<number | null>((resolve, reject) => {
    const lose = () => reject(new RemoteFailure(name, null, '', 'LOST'));
    client.once('close', lose);
    channel.once('close', (code: number | null | undefined) => {
      client.off('close', lose);
      // Without a word of how it ended it has not ended: the connection has.
      if (code === undefined) lose();
      else resolve(code);
    });
  });
  ended.catch(() => undefined);
  return { name, stdin: channel, stdout: channel, stderr: channel.stderr, ended, end: () => end(channel) };
}

const FORBIDDEN = 1;
const NOT_REACHED = 2;

/** A port of the machine's loopback at the other end of a channel: it has ended when nothing more comes. */
export async function dialProgram(client: Client, port: number, isOpen: () => boolean): Promise<Program> {
  const name = `port ${port}`;
  const open = promisify<string, number, string, number, ClientChannel>(client.forwardOut.bind(client));
  const lost = (cause?: unknown) => new RemoteFailure(name, null, '', 'LOST', cause);
  if (!isOpen()) throw lost();
  const channel = await open('127.0.0.1', 0, '127.0.0.1', port).catch((error: Error & { reason?: number }) => {
    if (error.reason === FORBIDDEN) throw new DialFailure(port, 'FORBIDDEN', error);
    if (error.reason === NOT_REACHED) throw new DialFailure(port, 'REFUSED', error);
    throw isOpen() ? new RemoteFailure(name, null, error.message, 'NOT_STARTED', error) : lost(error);
  });
  const ended = new Promise<number>((resolve, reject) => {
    // A lost connection ends its channels as if they had ended by themselves, a moment before it says so.
    const settle = () => setImmediate(() => (isOpen() ? resolve(0) : reject(lost())));
    channel.once('end', settle).once('close', settle);
  });
  ended.catch(() => undefined);
  const end = async () => void channel.close();
  return { name, stdin: channel, stdout: channel, stderr: channel.stderr, ended, end };
}
