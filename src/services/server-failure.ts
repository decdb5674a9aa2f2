import { DomainError, type ErrorCode } from '../errors.ts';
import type { SshFailure, SshFailureKind } from '../remote/ssh-failure.ts';

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

/** No connection, as callers of the API see it. */
export class ServerAway extends DomainError {
  constructor(readonly failure: SshFailure) {
    super(CODES[failure.kind] ?? 'SERVER_UNREACHABLE', `${failure.message}. ${SSH_HINTS[failure.kind]}`);
  }
}

const CODES: { readonly [Kind in SshFailureKind]?: ErrorCode } = {
  HOST_KEY: 'SERVER_UNTRUSTED',
  AUTH: 'CREDENTIAL_REJECTED',
  KEY_UNREADABLE: 'CREDENTIAL_REJECTED',
};

export class ServerUntrusted extends DomainError {
  constructor() {
    super('SERVER_UNTRUSTED', 'The server shows another host key than the known one; compare it and trust it first');
  }
}
