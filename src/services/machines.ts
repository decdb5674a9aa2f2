import { useMachine } from '../engine/deploy/with-machine.ts';
import type { UseMachine } from '../engine/environment-power.ts';
import { DomainError } from '../errors.ts';
import { DockerFault } from '../integrations/docker/docker-fault.ts';
import { RemoteFailure } from '../remote/host.ts';
import { isOutOfReach, persist } from '../remote/persist.ts';
import { saidText } from '../remote/said-text.ts';
import { SshFailure } from '../remote/ssh-failure.ts';
import { useServer } from './deploy-access.ts';
import type { ServerAccessService } from './server-access.service.ts';
import { ServerAway } from './server-failure.ts';

/** How long a server may be out of reach before its run fails. Like the clock, it can be set: a test has less patience. */
export const patience = { awayMs: 5000 };
const LONGEST_MESSAGE = 300;

/** Opens servers for runs: over as many connections as it takes, with failures as whoever reads the run understands them. */
export const machines =
  (servers: ServerAccessService): UseMachine =>
  async (serverId, work) => {
    try {
      return await persist(
        reached =>
          useServer(servers, serverId, host => {
            reached();
            return useMachine(host, work);
          }),
        { patienceMs: patience.awayMs },
      );
    } catch (error) {
      throw asDomain(error);
    }
  };

function asDomain(error: unknown): unknown {
  if (error instanceof SshFailure) return new ServerAway(error);
  if (isOutOfReach(error)) return new DomainError('SERVER_UNREACHABLE', 'The connection was lost. Ask again');
  if (error instanceof RemoteFailure)
    return new DomainError('UPSTREAM_FAILED', `The machine does not do what it is told: ${error.message}`);
  if (error instanceof DockerFault)
    return new DomainError('UPSTREAM_FAILED', `Docker refused: ${saidText(error.message, LONGEST_MESSAGE)}`);
  return error;
}
