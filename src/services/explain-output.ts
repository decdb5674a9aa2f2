import { DeployFailure } from '../engine/deploy/deploy-failure.ts';
import { ReleaseAbsent } from '../engine/runtime/release-output.ts';
import { DomainError } from '../errors.ts';
import { DockerFault } from '../integrations/docker/docker-fault.ts';
import { isOutOfReach } from '../remote/persist.ts';

/** Why the output of an application cannot be had, as callers are told. */
export function explainOutput(error: unknown): Error {
  if (error instanceof DomainError) return error;
  if (error instanceof ReleaseAbsent)
    return new DomainError('NOT_DEPLOYED', 'The release is no longer on its server; deploy again');
  if (error instanceof DeployFailure || error instanceof DockerFault)
    return new DomainError('UPSTREAM_FAILED', error.message);
  if (error instanceof Error && error.name === 'TimeoutError')
    return new DomainError('UPSTREAM_FAILED', 'Docker on the server does not answer');
  if (isOutOfReach(error)) return new DomainError('SERVER_UNREACHABLE', 'The connection to the server was lost');
  return error instanceof Error ? error : new Error(String(error));
}
