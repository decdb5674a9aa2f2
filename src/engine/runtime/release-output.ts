import type { Deployment } from '../../entities/deployment.ts';
import type { ContainerSummary } from '../../integrations/docker/docker-answers.ts';
import type { DockerApi, LogWish } from '../../integrations/docker/docker-api.ts';
import { keptServices } from '../deploy/compose/kept-services.ts';
import type { Masker } from '../deploy/masker.ts';
import { containerName, LABEL, roleLabels } from '../deploy/names.ts';
import type { TimedLine } from './runtime-line.ts';
import { TimedLines } from './timed-lines.ts';

/** A release whose output is wanted. */
export interface WatchedRelease extends Pick<Deployment, 'id' | 'environmentId' | 'number'> {
  serverId: string;
  masker: Masker;
}

export interface OutputWish {
  tail?: number | undefined;
  since?: Date | undefined;
  signal?: AbortSignal;
}

/** Each is read over a channel of its own, of which a connection has few. */
const MOST_CONTAINERS = 6;

/** Nothing of the release is on its server. */
export class ReleaseAbsent extends Error {}

/** The containers of a release: one, or those of its compose file. Services with data count where there is nothing else. */
export async function containersOf(docker: DockerApi, release: WatchedRelease): Promise<ContainerSummary[]> {
  const own = await docker.containers(roleLabels(release, 'app'));
  const found = own.length > 0 ? own : await keptServices(docker, release.environmentId);
  if (found.length === 0) throw new ReleaseAbsent();
  return found.sort((one, other) => (one.name < other.name ? -1 : 1)).slice(0, MOST_CONTAINERS);
}

/** The last lines of a release, in the order they were printed. */
export async function readTail(docker: DockerApi, release: WatchedRelease, wish: OutputWish): Promise<TimedLine[]> {
  const containers = await containersOf(docker, release);
  const lines: TimedLine[] = [];
  for (const { name } of containers) {
    const reader = new TimedLines(release.masker, prefixOf(release, name, containers));
    const onOutput: LogWish['onOutput'] = (chunk, from) => void lines.push(...reader.push(chunk, from));
    await docker.containerLogs(name, { ...logWish(wish), onOutput });
    lines.push(...reader.end());
  }
  lines.sort((one, other) => (one.time < other.time ? -1 : one.time > other.time ? 1 : 0));
  return wish.tail === undefined ? lines : lines.slice(Math.max(0, lines.length - wish.tail));
}

export const logWish = ({ tail, since, signal }: OutputWish): Omit<LogWish, 'onOutput'> => ({
  timestamps: true,
  ...(tail === undefined ? {} : { tail }),
  ...(since === undefined ? {} : { since }),
  ...(signal === undefined ? {} : { signal }),
});

/** Where there are several, each line says whose it is. */
export function prefixOf({ id }: WatchedRelease, name: string, containers: readonly ContainerSummary[]): string {
  if (containers.length === 1) return '';
  const service = containers.find(each => each.name === name)?.labels[LABEL.service];
  return `${service ?? name.replace(`${containerName(id)}-`, '')} | `;
}
