import { dialDocker, findDockerWay } from '../../commands/docker.commands.ts';
import type { Prefix } from '../../commands/work.commands.ts';
import { DockerApi } from '../../integrations/docker/docker-api.ts';
import { type Host, RemoteFailure } from '../../remote/host.ts';
import { lastLine } from '../../remote/said-text.ts';
import { DeployFailure } from './deploy-failure.ts';

const AS_ROOT: Prefix = ['sudo', '-n', '--'];
const FIND_MS = 30_000;
const LONGEST_MESSAGE = 300;
const HINT =
  'Install Docker by POST /servers/:id/docker; where it is installed, see that it runs, and that the server’s user is root, in the group docker, or has sudo without a password.';

/** Who to be on the server to be answered by Docker. Fails with DOCKER_MISSING where nobody is. */
export async function dockerPrefix(host: Host): Promise<Prefix> {
  try {
    const { stdout } = await host.run(findDockerWay(), { timeoutMs: FIND_MS, maxOutputBytes: 64 * 1024 });
    return stdout.toString().trim() === 'root' ? AS_ROOT : [];
  } catch (error) {
    if (!(error instanceof RemoteFailure) || error.reason === 'LOST') throw error;
    throw dockerMissing(error);
  }
}

/** Docker of a server, over its connection. Whoever opens it closes it. */
export async function openDocker(host: Host, prefix?: Prefix): Promise<DockerApi> {
  const way = prefix ?? (await dockerPrefix(host));
  return new DockerApi(() => host.converse(dialDocker(way)));
}

/** It answered before, and does not any more. */
export const isDockerAway = (error: unknown): error is RemoteFailure =>
  error instanceof RemoteFailure &&
  error.reason === 'EXIT' &&
  /Cannot connect to the Docker daemon/.test(error.stderrTail);

export function dockerMissing(cause: RemoteFailure): DeployFailure {
  const said = lastLine(cause.stderrTail, LONGEST_MESSAGE);
  const message = `Docker does not answer on the server${said === '' ? '' : `: ${said}`}`;
  return new DeployFailure('DOCKER_MISSING', message, HINT, { cause });
}
