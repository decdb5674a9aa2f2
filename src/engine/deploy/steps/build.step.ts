import { DeploymentPhase } from '../../../entities/deployment.ts';
import { buildOne, dropBuild, type Ingredients } from '../build-one.ts';
import type { DeployStep, Machine } from '../deploy-step.ts';
import { imageName } from '../names.ts';
import type { Release } from '../release.ts';

/** Builds the image on the server. The source goes there as a stream; what is needed to fetch it stays here. */
export class BuildStep implements DeployStep {
  readonly phase = DeploymentPhase.BUILDING;

  constructor(private readonly release: Release) {}

  async hasHappened({ docker }: Machine): Promise<boolean> {
    const { image } = this.release.deployment;
    return image !== null && (await docker.hasImage(image));
  }

  async run(machine: Machine): Promise<void> {
    const { deployment } = this.release;
    await buildOne(this.release, machine, {
      id: deployment.id,
      tag: imageName(deployment),
      gather: () => this.#gather(),
    });
  }

  /** An image of an earlier release that was used again stays. */
  async undo(machine: Machine): Promise<void> {
    const { deployment } = this.release;
    await dropBuild(machine, deployment.id);
    await machine.docker.removeImage(imageName(deployment));
  }

  async #gather(): Promise<Ingredients> {
    const { contextDirectory, extraFiles, dockerfile, args } = await this.release.plan();
    const source = await this.release.source();
    const context = await source.archive({ contextDirectory, extraFiles });
    return { context, dockerfile, args, secrets: this.release.buildSecrets };
  }
}
