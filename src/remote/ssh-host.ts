import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Client, ClientChannel, ConnectConfig, ServerHostKeyAlgorithm } from 'ssh2';
import type { Command } from '../commands/command.ts';
import { type Host, RemoteFailure, type RunOptions, type RunResult } from './host.ts';
import { type HostKey, hostKeyOf } from './host-key.ts';
import { connectFailure } from './ssh-failure.ts';

/** How to reach a machine and whom to expect there. */
export interface SshTarget {
  /** The address that was checked; names are resolved once, before. */
  address: string;
  port: number;
  username: string;
  privateKey?: string;
  passphrase?: string;
  password?: string;
  /** Keys of these types are asked for first: a machine has several, and shows but one. */
  hostKeyTypes?: readonly string[];
  /** Decides by the key the machine shows, before anything is said to it. */
  trusts(key: HostKey): boolean;
}

const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 5000;
const KEEP_ALIVES_MISSED = 2;
/** sshd allows ten sessions on a connection unless told otherwise. */
const CHANNELS = 8;
const OPEN_TRIES = 50;
const OPEN_PAUSE_MS = 100;
const TAIL_BYTES = 8 * 1024;
const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_OUTPUT_BYTES = 16 * 1024 * 1024;

/** What every OpenSSH of the last ten years speaks and Node's own cryptography does fast. */
const ALGORITHMS: ConnectConfig['algorithms'] = {
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes256-ctr', 'aes128-ctr'],
};

/** An open connection to a machine: many commands at once over one connection, which notices within 15 s when it is cut. */
export class SshHost implements Host {
  readonly #waiting: (() => void)[] = [];
  #channels = 0;
  #isOpen = true;

  private constructor(
    private readonly client: Client,
    readonly hostKey: HostKey,
  ) {
    client.once('close', () => {
      this.#isOpen = false;
    });
  }

  /** Refuses a machine whose key is not trusted before any credential is sent. */
  static async connect(target: SshTarget, signal?: AbortSignal): Promise<SshHost> {
    // Loaded with the first machine: it is no small program, and many an installation sits idle without one.
    const { default: ssh2 } = await import('ssh2');
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const client = new ssh2.Client();
      let shown: HostKey | undefined;
      let isTrusted = true;
      const abort = () => client.destroy();
      const settle = (outcome: () => void) => {
        signal?.removeEventListener('abort', abort);
        outcome();
      };
      signal?.addEventListener('abort', abort, { once: true });
      client.once('ready', () => settle(() => resolve(new SshHost(client, shown as HostKey))));
      client.on('error', error => settle(() => reject(connectFailure(error, isTrusted ? undefined : shown))));
      client.once('close', () =>
        settle(() => reject(connectFailure(new Error('closed'), isTrusted ? undefined : shown))),
      );
      const config: ConnectConfig = {
        ...credentialOf(target),
        hostVerifier: (key: Buffer) => {
          shown = hostKeyOf(key);
          isTrusted = target.trusts(shown);
          return isTrusted;
        },
      };
      if (target.password !== undefined) answerPrompt(client, target.password);
      try {
        client.connect(config);
        client.setNoDelay(true);
      } catch (error) {
        settle(() => reject(connectFailure(error as Error, undefined)));
      }
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  async run(command: Command, options: RunOptions = {}): Promise<RunResult> {
    await this.#takeChannel();
    try {
      return await this.#execute(command, options);
    } finally {
      this.#giveChannel();
    }
  }

  close(): void {
    this.#isOpen = false;
    this.client.end();
  }

  onClose(tell: () => void): void {
    this.client.once('close', tell);
  }

  async #execute(command: Command, options: RunOptions): Promise<RunResult> {
    const program = command.toString().split(' ', 1)[0] ?? '';
    return new Promise((resolve, reject) => {
      const lost = () => reject(new RemoteFailure(program, null, '', 'LOST'));
      this.client.once('close', lost);
      this.#openChannel(command)
        .then(channel => {
          const { outcome } = new Listening(channel, program, options);
          channel.end(options.stdin);
          return outcome;
        })
        .then(resolve, error =>
          reject(error instanceof RemoteFailure ? error : new RemoteFailure(program, null, '', 'LOST')),
        )
        .finally(() => this.client.off('close', lost));
    });
  }

  /** A command we gave up on still holds its session until it ends by itself; sshd then has none left for a moment. */
  async #openChannel(command: Command): Promise<ClientChannel> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await promisify<string, ClientChannel>(this.client.exec.bind(this.client))(command.toString());
      } catch (error) {
        if (!this.#isOpen || tries === OPEN_TRIES) throw error;
        await pause(OPEN_PAUSE_MS);
      }
    }
  }

  async #takeChannel(): Promise<void> {
    if (this.#channels >= CHANNELS) await new Promise<void>(resolve => this.#waiting.push(resolve));
    else this.#channels += 1;
  }

  #giveChannel(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#channels -= 1;
  }
}

function credentialOf(target: SshTarget): ConnectConfig {
  const { address, port, username, privateKey, passphrase, password, hostKeyTypes = [] } = target;
  return {
    host: address,
    port,
    username,
    ...(privateKey === undefined ? {} : { privateKey }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(password === undefined ? {} : { password, tryKeyboard: true }),
    algorithms: { ...ALGORITHMS, serverHostKey: hostKeyOrder(hostKeyTypes) },
    readyTimeout: CONNECT_TIMEOUT_MS,
    keepaliveInterval: KEEP_ALIVE_MS,
    keepaliveCountMax: KEEP_ALIVES_MISSED,
  };
}

/** Where PAM asks instead of sshd, the one hidden question is the one for the password. */
function answerPrompt(client: Client, password: string): void {
  client.on('keyboard-interactive', (_name, _instructions, _language, prompts, answer) => {
    const [prompt, ...others] = prompts;
    const isForPassword = others.length === 0 && prompt !== undefined && prompt.echo !== true;
    answer(isForPassword ? [password] : []);
  });
}

/** As wide as what OpenSSH offers, the best first. `ssh-rsa` is the type of keys that sign by the two above it. */
const HOST_KEY_ALGORITHMS: readonly [type: string, ...algorithms: ServerHostKeyAlgorithm[]][] = [
  ['ssh-ed25519', 'ssh-ed25519'],
  ['ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp256'],
  ['ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp384'],
  ['ecdsa-sha2-nistp521', 'ecdsa-sha2-nistp521'],
  ['ssh-rsa', 'rsa-sha2-512', 'rsa-sha2-256'],
];

export const HOST_KEY_TYPES: readonly string[] = HOST_KEY_ALGORITHMS.map(([type]) => type);

function hostKeyOrder(known: readonly string[]): ServerHostKeyAlgorithm[] {
  const isKnown = ([type]: (typeof HOST_KEY_ALGORITHMS)[number]) => known.includes(type);
  const ordered = [...HOST_KEY_ALGORITHMS.filter(isKnown), ...HOST_KEY_ALGORITHMS.filter(each => !isKnown(each))];
  return ordered.flatMap(([, ...algorithms]) => algorithms);
}

/** What one command says, until it ends or its time, its output or our patience is over. */
class Listening {
  readonly outcome: Promise<RunResult>;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #stderr = '';

  constructor(channel: ClientChannel, program: string, options: RunOptions) {
    this.outcome = new Promise((resolve, reject) => {
      const fail = (reason: RemoteFailure['reason'], exitCode: number | null = null) => {
        settle();
        channel.close();
        reject(new RemoteFailure(program, exitCode, this.#stderr, reason));
      };
      const abort = () => fail('ABORTED');
      const timer = setTimeout(() => fail('TIMEOUT'), options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
      const settle = () => {
        clearTimeout(timer);
        options.signal?.removeEventListener('abort', abort);
      };
      options.signal?.addEventListener('abort', abort, { once: true });
      channel.on('data', (chunk: Buffer) => {
        this.#bytes += chunk.length;
        if (this.#bytes > (options.maxOutputBytes ?? DEFAULT_OUTPUT_BYTES)) fail('TOO_MUCH_OUTPUT');
        else this.#chunks.push(chunk);
      });
      channel.stderr.on('data', (chunk: Buffer) => {
        this.#stderr = (this.#stderr + chunk.toString()).slice(-TAIL_BYTES);
      });
      channel.on('close', (code: number | null) => {
        if (code !== 0) return fail('EXIT', code ?? null);
        settle();
        resolve({ stdout: Buffer.concat(this.#chunks), stderrTail: this.#stderr });
      });
    });
  }
}
