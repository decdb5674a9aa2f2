import { Deployment, DeploymentPhase, DeploymentStatus } from '../../../entities/deployment.ts';
import type { DeployStep, Machine } from '../deploy-step.ts';
import { environmentLabels, roleLabels } from '../names.ts';
import { FORGOTTEN, type Release } from '../release.ts';

/** Removes the images of old releases, by our labels alone, but for those that are kept to roll back to. */
export class PruneStep implements DeployStep {
  readonly phase = DeploymentPhase.DRAINING;

  constructor(private readonly release: Release) {}

  async hasHappened(): Promise<boolean> {
    return false;
  }

  async run({ docker }: Machine): Promise<void> {
    const { environment, deployment } = this.release;
    for (const { name } of await docker.containers(roleLabels(deployment, 'pre-deploy')))
      await docker.removeContainer(name, { volumes: true });
    const releases = await this.#keptReleases();
    const labels = environmentLabels(environment.id);
    const inUse = (await docker.containers(labels)).map(({ image }) => image);
    const kept = new Set([...releases.flatMap(({ image, images }) => [image, ...images]), ...inUse]);
    for (const { tags } of await docker.images(labels))
      for (const tag of tags) if (!kept.has(tag)) await docker.removeImage(tag);
    await this.#forget(releases.flatMap(({ image }) => image ?? []));
  }

  async undo(): Promise<void> {
    // What was pruned was not needed.
  }

  /** As many different ones as are wanted, the newest first; of a compose file with all its images. */
  async #keptReleases(): Promise<Deployment[]> {
    const { em, environment, deployment } = this.release;
    const released = { status: [DeploymentStatus.LIVE, DeploymentStatus.SUPERSEDED], image: { $ne: null } };
    const where = { environmentId: environment.id, serverId: deployment.serverId, ...released };
    const releases = await em.fork().find(Deployment, where, { orderBy: { number: 'desc' } });
    const kept = new Set<string | null>([deployment.image]);
    for (const { image } of releases) if (kept.size < environment.keepReleases) kept.add(image);
    return [deployment, ...releases].filter(({ image }) => kept.has(image));
  }

  /** A release without its image cannot be rolled back to, and says so. */
  async #forget(kept: readonly string[]): Promise<void> {
    const { record, environment, server } = this.release;
    await record.change(async (_, unit) => {
      const here = { environmentId: environment.id, serverId: server.id, isFinished: true };
      const gone = { ...here, image: { $nin: [...kept], $ne: null } };
      for (const each of await unit.em.find(Deployment, gone)) Object.assign(each, FORGOTTEN);
    });
  }
}
