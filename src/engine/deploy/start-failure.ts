import { DockerFault } from '../../integrations/docker/docker-fault.ts';
import { DeployFailure } from './deploy-failure.ts';

export const isPortTaken = (error: unknown): boolean =>
  error instanceof DockerFault && /port is already allocated|address already in use/.test(error.message);

/** What Docker said when it could not start something, as whoever has to mend it reads it. */
export function startFailure(error: unknown, what: string): unknown {
  if (!(error instanceof DockerFault)) return error;
  if (/no space left on device/i.test(error.message))
    return new DeployFailure('OUT_OF_DISK', 'The disk of the server is full', 'Free space on the server.');
  const hint = 'Check the start command and the image; the release before still serves.';
  return new DeployFailure('START_FAILED', `${what} could not be started: ${error.message}`, hint);
}
