import { UniqueConstraintViolationException } from '@mikro-orm/core';
import { Deployment, DeploymentStatus } from '../../entities/deployment.ts';
import { DeployFailure } from './deploy-failure.ts';
import type { Machine } from './deploy-step.ts';
import type { Release } from './release.ts';
import { freePort } from './server-ports.ts';
import { isPortTaken } from './start-failure.ts';

/** Below what Linux gives to outgoing connections (32768 and up), above what services use. */
const LOWEST_PORT = 20_000;
const HIGHEST_PORT = 28_999;
const TRIES = 5;
/** Whoever is over has given its port back. */
const HOLDING = [DeploymentStatus.RUNNING, DeploymentStatus.CANCELLING, DeploymentStatus.LIVE];

/** Starts what listens, on a port of the server's loopback that nobody else has. What is left of a start that failed is removed. */
export async function startListening(
  release: Release,
  machine: Machine,
  { start, remove }: { start(): Promise<void>; remove(): Promise<void> },
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      const { appPort, hostPort } = release.deployment;
      if (appPort !== null && (hostPort === null || tries > 1)) await takePort(release, machine);
      await start();
      return;
    } catch (error) {
      await remove();
      const isTaken = isPortTaken(error) || error instanceof UniqueConstraintViolationException;
      if (!isTaken || tries === TRIES) throw error;
    }
  }
}

/** Written down before it is used: whoever takes the deployment up finds the same. */
async function takePort({ em, record, server }: Release, { host }: Machine): Promise<void> {
  const there = await em
    .fork()
    .find(Deployment, { serverId: server.id, hostPort: { $ne: null }, status: HOLDING }, { fields: ['hostPort'] });
  const taken = new Set(there.flatMap(each => each.hostPort ?? []));
  const hostPort = await freePort(host, { from: LOWEST_PORT, to: HIGHEST_PORT, taken });
  if (hostPort === null) throw new DeployFailure('START_FAILED', 'The server has no port left');
  await record.change(deployment => void Object.assign(deployment, { hostPort }));
}
