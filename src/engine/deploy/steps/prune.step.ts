import { Deployment, DeploymentPhase, DeploymentStatus } from '../../../entities/deployment.ts';
import type { DeployStep, Machine } from '../deploy-step.ts';
import { environmentLabels, preDeployName } from '../names.ts';
import type { Release } from '../release.ts';

/** Removes the images of old releases, by our labels alone, but for those that are kept to roll back to. */
export class PruneStep implements DeployStep {
  readonly phase = DeploymentPhase.DRAINING;

  constructor(private readonly release: Release) {}

  async hasHappened(): Promise<boolean> {
    return false;
  }

  async run({ docker }: Machine): Promise<void> {
    const { environment, deployment } = this.release;
    await docker.removeContainer(preDeployName(deployment.id), { volumes: true });
    const kept = await this.#keptImages();
    for (const { tags } of await docker.images(environmentLabels(environment.id)))
      for (const tag of tags) if (!kept.has(tag)) await docker.removeImage(tag);
    await this.#forget(kept);
  }

  async undo(): Promise<void> {
    // What was pruned was not needed.
  }

  async #keptImages(): Promise<ReadonlySet<string>> {
    const { em, environment, deployment } = this.release;
    const released = { status: [DeploymentStatus.LIVE, DeploymentStatus.SUPERSEDED], image: { $ne: null } };
    const where = { environmentId: environment.id, serverId: deployment.serverId, ...released };
    const releases = await em.fork().find(Deployment, where, { orderBy: { number: 'desc' } });
    const kept = new Set<string>();
    for (const { image } of releases) if (image !== null && kept.size < environment.keepReleases) kept.add(image);
    return kept.add(deployment.image ?? '');
  }

  /** A release without its image cannot be rolled back to, and says so. */
  async #forget(kept: ReadonlySet<string>): Promise<void> {
    const { record, environment } = this.release;
    await record.change(async (_, unit) => {
      const gone = { environmentId: environment.id, image: { $nin: [...kept], $ne: null }, isFinished: true };
      for (const each of await unit.em.find(Deployment, gone)) Object.assign(each, { image: null, variables: null });
    });
  }
}
