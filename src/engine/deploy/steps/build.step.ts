import { DeploymentPhase } from '../../../entities/deployment.ts';
import { RemoteFailure } from '../../../remote/host.ts';
import { RemoteWork } from '../../../remote/remote-work.ts';
import { DeployCancelled, type DeployStep, type Machine } from '../deploy-step.ts';
import { type BuildOrder, buildImage } from '../image-build.ts';
import { deploymentLabels, imageName } from '../names.ts';
import type { Release } from '../release.ts';

type Ingredients = Pick<BuildOrder, 'context' | 'dockerfile' | 'args' | 'secrets'>;

/** Builds the image on the server. The source goes there as a stream; what is needed to fetch it stays here. */
export class BuildStep implements DeployStep {
  readonly phase = DeploymentPhase.BUILDING;

  constructor(private readonly release: Release) {}

  async hasHappened({ docker }: Machine): Promise<boolean> {
    const { image } = this.release.deployment;
    return image !== null && (await docker.hasImage(image));
  }

  async run({ host, prefix }: Machine): Promise<void> {
    const { deployment, endings, means, server, log } = this.release;
    const isUnderWay = (await new RemoteWork(host, prefix).status(deployment.id)) !== null;
    if (isUnderWay) await log.passOver(this.phase);
    const { context, dockerfile, args, secrets } = isUnderWay ? SENT_ALREADY : await this.#gather();
    try {
      await buildImage({
        use: work => means.useServer(server.id, work),
        ...{ prefix, id: deployment.id, tag: imageName(deployment), labels: deploymentLabels(deployment) },
        ...{ context, dockerfile, args, secrets, noCache: deployment.rebuild },
        onOutput: (chunk, from) => log.write(chunk, from),
        signal: endings.cancelled,
        leave: endings.leave,
      });
    } catch (error) {
      if (error instanceof RemoteFailure && error.reason === 'ABORTED') throw new DeployCancelled();
      throw error;
    }
  }

  /** An image of an earlier release that was used again stays. */
  async undo({ docker, host, prefix }: Machine): Promise<void> {
    const { deployment } = this.release;
    const work = new RemoteWork(host, prefix);
    if ((await work.status(deployment.id)) !== null) {
      await work.cancel(deployment.id);
      await work.remove(deployment.id);
    }
    await docker.removeImage(imageName(deployment));
  }

  async #gather(): Promise<Ingredients> {
    const { contextDirectory, extraFiles, dockerfile, args } = await this.release.plan();
    const source = await this.release.source();
    const context = await source.archive({ contextDirectory, extraFiles });
    const secrets = Object.fromEntries(this.release.buildVariables.map(({ key, value }) => [key, value]));
    return { context, dockerfile, args, secrets };
  }
}

/** A build that the server knows already has all it needs: it is only followed to its end. */
const SENT_ALREADY: Ingredients = {
  context: { bytes: 0, open: async function* () {} },
  dockerfile: '',
  args: {},
  secrets: {},
};
