import type { ConnectConfig, ServerHostKeyAlgorithm } from 'ssh2';
import type { HostKey } from './host-key.ts';

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
/** A line that has fallen silent is noticed when the third question finds two unanswered: after 12 s. */
const KEEP_ALIVE_MS = 4000;
const KEEP_ALIVES_MISSED = 2;

/** What every OpenSSH of the last ten years speaks and Node's own cryptography does fast. */
const CIPHERS = ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes256-ctr', 'aes128-ctr'] as const;

/** As wide as what OpenSSH offers, the best first. `ssh-rsa` is the type of keys that sign by the two beside it. */
const HOST_KEY_ALGORITHMS: readonly [type: string, ...algorithms: ServerHostKeyAlgorithm[]][] = [
  ['ssh-ed25519', 'ssh-ed25519'],
  ['ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp256'],
  ['ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp384'],
  ['ecdsa-sha2-nistp521', 'ecdsa-sha2-nistp521'],
  ['ssh-rsa', 'rsa-sha2-512', 'rsa-sha2-256'],
];

export const HOST_KEY_TYPES: readonly string[] = HOST_KEY_ALGORITHMS.map(([type]) => type);

export function connectConfig(target: SshTarget): ConnectConfig {
  const { address, port, username, privateKey, passphrase, password, hostKeyTypes = [] } = target;
  return {
    host: address,
    port,
    username,
    ...(privateKey === undefined ? {} : { privateKey }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(password === undefined ? {} : { password, tryKeyboard: true }),
    // Without it "none" is tried first, which costs a refusal and sshd's pause after it.
    authHandler: [
      ...(privateKey === undefined ? [] : (['publickey'] as const)),
      ...(password === undefined ? [] : (['password', 'keyboard-interactive'] as const)),
    ],
    algorithms: { cipher: [...CIPHERS], serverHostKey: hostKeyOrder(hostKeyTypes) },
    readyTimeout: CONNECT_TIMEOUT_MS,
    keepaliveInterval: KEEP_ALIVE_MS,
    keepaliveCountMax: KEEP_ALIVES_MISSED,
  };
}

function hostKeyOrder(known: readonly string[]): ServerHostKeyAlgorithm[] {
  const isKnown = ([type]: (typeof HOST_KEY_ALGORITHMS)[number]) => known.includes(type);
  const ordered = [...HOST_KEY_ALGORITHMS.filter(isKnown), ...HOST_KEY_ALGORITHMS.filter(each => !isKnown(each))];
  return ordered.flatMap(([, ...algorithms]) => algorithms);
}
