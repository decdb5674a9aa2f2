import type { HostKey } from './host-key.ts';

export type SshFailureKind =
  | 'HOST_KEY'
  | 'AUTH'
  | 'REFUSED'
  | 'TIMEOUT'
  | 'UNREACHABLE'
  | 'KEY_UNREADABLE'
  | 'NO_COMMON_ALGORITHM'
  | 'NO_ADDRESS'
  | 'FORBIDDEN_ADDRESS';

/** Why there is no connection. `shown` is the key of a machine that was not trusted. */
export class SshFailure extends Error {
  constructor(
    readonly kind: SshFailureKind,
    message: string,
    readonly shown?: HostKey,
  ) {
    super(message);
  }
}

/** What may be done about it, by what went wrong. */
export const SSH_HINTS: Readonly<Record<SshFailureKind, string>> = {
  HOST_KEY: 'If the machine was set up anew, trust the new key; if not, somebody may be in between.',
  AUTH: 'Check the user name; put the public key into authorized_keys of that user, or check the password.',
  REFUSED: 'Check the port, and that sshd runs.',
  TIMEOUT: 'Check the address and the port; a firewall that drops packets looks the same.',
  UNREACHABLE: 'Check the address, the port and the firewall.',
  KEY_UNREADABLE: 'Give the private key as OpenSSH writes it, with its passphrase.',
  NO_COMMON_ALGORITHM: 'Update the SSH server of the machine.',
  NO_ADDRESS: 'Check the spelling, or give the address itself.',
  FORBIDDEN_ADDRESS: 'Addresses of cloud metadata and link-local ones are not connected to.',
};

export function connectFailure(
  error: Error & { level?: string; code?: string },
  untrusted: HostKey | undefined,
): SshFailure {
  if (untrusted)
    return new SshFailure(
      'HOST_KEY',
      `The machine shows another key: ${untrusted.type} ${untrusted.fingerprint}`,
      untrusted,
    );
  if (error.level === 'client-authentication')
    return new SshFailure('AUTH', 'The machine does not accept the user or the credential');
  if (error.level === 'client-timeout') return new SshFailure('TIMEOUT', 'The machine did not answer in time');
  if (error.code === 'ECONNREFUSED') return new SshFailure('REFUSED', 'Nothing listens on that port');
  if (error.code === 'ETIMEDOUT' || error.code === 'EHOSTUNREACH' || error.code === 'ENETUNREACH') {
    return new SshFailure('UNREACHABLE', 'The machine cannot be reached');
  }
  if (/Cannot parse privateKey|bad passphrase|Encrypted .*key detected/i.test(error.message)) {
    return new SshFailure('KEY_UNREADABLE', 'The private key cannot be read; check its format and passphrase');
  }
  if (/no matching/i.test(error.message))
    return new SshFailure('NO_COMMON_ALGORITHM', 'The machine speaks no cipher or key exchange that we do');
  return new SshFailure('UNREACHABLE', 'The connection ended before it was ready');
}
