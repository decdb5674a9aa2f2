import { DAY } from '../../clock.ts';
import { DeploymentPhase } from '../../entities/deployment.ts';
import { RemoteFailure } from '../../remote/host.ts';
import { RemoteWork } from '../../remote/remote-work.ts';
import { DeployCancelled, type Machine } from './deploy-step.ts';
import { type BuildOrder, buildImage } from './image-build.ts';
import { deploymentLabels } from './names.ts';
import type { Release } from './release.ts';

export type Ingredients = Pick<BuildOrder, 'context' | 'dockerfile' | 'args' | 'secrets' | 'target'>;

export interface ImageWish {
  /** A UUID: the same id is the same build. */
  id: string;
  tag: string;
  /** Asked for only where the server does not know the build yet. */
  gather(): Promise<Ingredients>;
  /** Told before its output. */
  title?: string;
}

/** Builds one image on the server, or follows a build that is under way there to its end. */
export async function buildOne(
  release: Release,
  { host, prefix }: Pick<Machine, 'host' | 'prefix'>,
  { id, tag, gather, title }: ImageWish,
): Promise<void> {
  const { deployment, endings, means, server, log } = release;
  const work = new RemoteWork(host, prefix);
  const isUnderWay = (await work.status(id)) !== null;
  if (!isUnderWay) await sweep(work, log);
  if (isUnderWay) await log.passOver(DeploymentPhase.BUILDING, title);
  else if (title !== undefined) await log.line(title);
  const ingredients = isUnderWay ? SENT_ALREADY : await gather();
  try {
    await buildImage({
      use: task => means.useServer(server.id, task),
      ...{ prefix, id, tag, labels: deploymentLabels(deployment), ...ingredients, noCache: deployment.rebuild },
      onOutput: (chunk, from) => log.write(chunk, from),
      signal: endings.cancelled,
      leave: endings.leave,
    });
  } catch (error) {
    if (error instanceof RemoteFailure && error.reason === 'ABORTED') throw new DeployCancelled();
    throw error;
  }
}

/** What builds before could not clear away, since their connection was cut. Where that fails now it is said, and the next one does it. */
async function sweep(work: RemoteWork, log: Release['log']): Promise<void> {
  try {
    await work.sweep(DAY);
  } catch (error) {
    if (!(error instanceof RemoteFailure) || error.reason === 'LOST') throw error;
    await log.line(`What earlier builds left on the server could not be swept away: ${error.message}`);
  }
}

/** Nothing of it runs afterwards. */
export async function dropBuild({ host, prefix }: Pick<Machine, 'host' | 'prefix'>, id: string): Promise<void> {
  const work = new RemoteWork(host, prefix);
  if ((await work.status(id)) === null) return;
  await work.cancel(id);
  await work.remove(id);
}

/** A build that the server knows already has all it needs: it is only followed to its end. */
const SENT_ALREADY: Ingredients = {
  context: { bytes: 0, open: async function* () {} },
  dockerfile: '',
  args: {},
  secrets: {},
};
