import type { DeploymentError, DeploymentPhase } from '../../entities/deployment.ts';
import { DomainError } from '../../errors.ts';
import { RemoteFailure } from '../../remote/host.ts';
import { isOutOfReach } from '../../remote/persist.ts';
import { SSH_HINTS, SshFailure } from '../../remote/ssh-failure.ts';
import { DeployFailure, type ReasonCode } from './deploy-failure.ts';
import { dockerMissing, isDockerAway } from './server-docker.ts';

/** What went wrong as its users read it. What we did not foresee is in the log of the service, under the deployment's id. */
export function explainFailure(error: unknown, phase: DeploymentPhase | null): DeploymentError {
  const { code, message, hint } = describe(error);
  return { phase, code, message, hint };
}

function describe(error: unknown): { code: ReasonCode; message: string; hint: string | null } {
  if (error instanceof DeployFailure) return { code: error.code, message: error.message, hint: error.hint };
  if (error instanceof SshFailure) {
    const code = error.kind === 'HOST_KEY' ? 'SERVER_UNTRUSTED' : 'SERVER_LOST';
    return { code, message: error.message, hint: SSH_HINTS[error.kind] };
  }
  if (isOutOfReach(error)) return LOST;
  if (isDockerAway(error)) return dockerMissing(error);
  if (error instanceof RemoteFailure && error.reason === 'TIMEOUT')
    return { code: 'TIMED_OUT', message: `${error.program} took too long on the server`, hint: null };
  if (error instanceof DomainError) return ofDomain(error);
  return INTERNAL;
}

const LOST = {
  code: 'SERVER_LOST',
  message: 'The connection to the server was lost and did not come back within a minute',
  hint: 'Check the server; what served before still serves there if the server does. Deploy again once it is back.',
} as const;

const INTERNAL = {
  code: 'INTERNAL',
  message: 'Something went wrong on our side',
  hint: 'The log of the service has the details; deploy again.',
} as const;

const CODES: Readonly<Record<string, ReasonCode>> = {
  TOKEN_REJECTED: 'CLONE_AUTH',
  REPOSITORY_NOT_FOUND: 'CLONE_AUTH',
  BRANCH_NOT_FOUND: 'BRANCH_NOT_FOUND',
  COMMIT_NOT_FOUND: 'COMMIT_NOT_FOUND',
  REPOSITORY_TOO_LARGE: 'CLONE_FAILED',
  UPSTREAM_FAILED: 'CLONE_FAILED',
  BAD_INPUT: 'CLONE_FAILED',
  SERVER_UNTRUSTED: 'SERVER_UNTRUSTED',
  SERVER_UNREACHABLE: 'SERVER_LOST',
  CREDENTIAL_REJECTED: 'SERVER_LOST',
};

const HINTS: Readonly<Record<string, string>> = {
  CLONE_AUTH: 'Check that the Git account still may read the repository; connect it again if need be.',
  BRANCH_NOT_FOUND: 'Choose a branch that exists (PATCH /environments/:id/branch).',
  COMMIT_NOT_FOUND: 'Deploy a commit that is in the repository.',
  CLONE_FAILED: 'The provider may be away; deploy again later.',
  SERVER_UNTRUSTED: 'Compare the host key and trust the server (POST /servers/:id/trust).',
  SERVER_LOST: 'Check the server and how Slipway signs in there.',
};

function ofDomain({ code: known, message }: DomainError) {
  const code = CODES[known] ?? 'INTERNAL';
  return code === 'INTERNAL' ? INTERNAL : { code, message, hint: HINTS[code] ?? null };
}
