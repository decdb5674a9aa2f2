import type { Host } from '../../remote/host.ts';
import { persist } from '../../remote/persist.ts';
import type { Machine } from './deploy-step.ts';
import { ServerProxy } from './proxy.ts';
import type { Release } from './release.ts';
import { dockerPrefix, openDocker } from './server-docker.ts';

/** How long a server may be out of reach in the middle of a deployment. */
const PATIENCE_MS = 60_000;

/** Works on a server over as many connections as it takes; the work is begun again with each one, and knows how far it came. */
export function withMachine<Result>(
  { means, endings }: Pick<Release, 'means' | 'endings'>,
  serverId: string,
  work: (machine: Machine) => Promise<Result>,
): Promise<Result> {
  return persist(
    reached =>
      means.useServer(serverId, host => {
        reached();
        return useMachine(host, work);
      }),
    { patienceMs: PATIENCE_MS, signal: endings.leave },
  );
}

export async function useMachine<Result>(host: Host, work: (machine: Machine) => Promise<Result>): Promise<Result> {
  const prefix = await dockerPrefix(host);
  const docker = await openDocker(host, prefix);
  const proxy = new ServerProxy(docker, host);
  try {
    return await work({ host, docker, prefix, proxy });
  } finally {
    proxy.close();
    docker.close();
  }
}
