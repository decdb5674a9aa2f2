import { DomainError, type ErrorCode } from '../errors.ts';
import { SSH_HINTS, type SshFailure, type SshFailureKind } from '../remote/ssh-failure.ts';

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
