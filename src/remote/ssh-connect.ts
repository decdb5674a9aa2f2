import type { Client } from 'ssh2';
import { type HostKey, hostKeyOf } from './host-key.ts';
import { connectFailure } from './ssh-failure.ts';
import { connectConfig, type SshTarget } from './ssh-target.ts';

export interface Connected {
  client: Client;
  hostKey: HostKey;
}

/** Connects and signs in, or fails with an `SshFailure`; with the signal's reason if that is aborted before. */
export async function connectClient(target: SshTarget, signal?: AbortSignal): Promise<Connected> {
  // Loaded with the first machine: it is no small program, and many an installation sits idle without one.
  const { default: ssh2 } = await import('ssh2');
  signal?.throwIfAborted();
  const client = new ssh2.Client();
  const abort = () => client.destroy();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    const hostKey = await shakeHands(client, target);
    client.setNoDelay(true);
    return { client, hostKey };
  } catch (error) {
    client.destroy();
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

function shakeHands(client: Client, target: SshTarget): Promise<HostKey> {
  return new Promise((resolve, reject) => {
    let shown: HostKey | undefined;
    let isTrusted = true;
    const fail = (error: Error) => reject(connectFailure(error, isTrusted ? undefined : shown));
    const hostVerifier = (wire: Buffer): boolean => {
      shown = hostKeyOf(wire);
      isTrusted = target.trusts(shown);
      return isTrusted;
    };
    client.once('ready', () => (shown === undefined ? fail(new Error('no host key')) : resolve(shown)));
    // Stays for as long as the client: an error that nobody listens to would end the process.
    client.on('error', fail);
    client.once('close', () => fail(new Error('closed')));
    if (target.password !== undefined) answerPrompt(client, target.password);
    try {
      client.connect({ ...connectConfig(target), hostVerifier });
      client.setNoDelay(true);
    } catch (error) {
      fail(error as Error);
    }
  });
}

/** Where PAM asks instead of sshd, the one hidden question is the one for the password. */
function answerPrompt(client: Client, password: string): void {
  client.on('keyboard-interactive', (_name, _instructions, _language, prompts, answer) => {
    const [prompt, ...others] = prompts;
    const isForPassword = others.length === 0 && prompt !== undefined && prompt.echo !== true;
    answer(isForPassword ? [password] : []);
  });
}
