import { createHash } from 'node:crypto';
import { DeploymentPhase } from '../../../entities/deployment.ts';
import { DockerFault } from '../../../integrations/docker/docker-fault.ts';
import type { ComposeBuild, ComposeService } from '../../compose/compose-project.ts';
import { buildOne, dropBuild, type Ingredients } from '../build-one.ts';
import { GENERATED } from '../build-plan.ts';
import { DeployFailure } from '../deploy-failure.ts';
import { DeployCancelled, type DeployStep, type Machine } from '../deploy-step.ts';
import { deploymentLabels } from '../names.ts';
import type { Release } from '../release.ts';

/** Brings the images of a compose file to the server: builds what is built, pulls what is missing. */
export class ComposeBuildStep implements DeployStep {
  readonly phase = DeploymentPhase.BUILDING;

  constructor(private readonly release: Release) {}

  async hasHappened(machine: Machine): Promise<boolean> {
    return (await this.#missing(machine)).length === 0;
  }

  async run(machine: Machine): Promise<void> {
    for (const service of await this.#missing(machine)) {
      const { build } = service;
      if (this.release.endings.cancelled.aborted) throw new DeployCancelled();
      // Several may be started from the same one.
      if (await machine.docker.hasImage(this.release.composed().imageOf(service))) continue;
      if (build === null) await this.#pull(machine, service);
      else await this.#build(machine, service, build);
    }
  }

  /** Images that were pulled stay as those that builds begin with do: they may be anybody's. */
  async undo(machine: Machine): Promise<void> {
    const { deployment } = this.release;
    for (const { name } of this.release.composition()?.project.services ?? [])
      await dropBuild(machine, buildId(deployment.id, name));
    for (const { tags, id } of await machine.docker.images(deploymentLabels(deployment)))
      for (const ref of tags.length > 0 ? tags : [id]) await machine.docker.removeImage(ref);
  }

  async #missing({ docker }: Machine): Promise<ComposeService[]> {
    const composition = this.release.composed();
    const missing: ComposeService[] = [];
    for (const service of composition.project.services)
      if (!(await docker.hasImage(composition.imageOf(service)))) missing.push(service);
    return missing;
  }

  async #build(machine: Machine, service: ComposeService, build: ComposeBuild): Promise<void> {
    await buildOne(this.release, machine, {
      id: buildId(this.release.deployment.id, service.name),
      tag: this.release.composed().imageOf(service),
      title: `Building the service ${service.name}`,
      gather: () => this.#gather(build),
    });
    await this.release.log.flush();
  }

  async #gather({
    context: contextDirectory,
    dockerfile,
    dockerfileText,
    args,
    target,
  }: ComposeBuild): Promise<Ingredients> {
    const { args: given } = await this.release.plan();
    const source = await this.release.source();
    const extraFiles: Record<string, string> = dockerfileText === null ? {} : { [GENERATED]: dockerfileText };
    const context = await source.archive({ contextDirectory, extraFiles });
    const secrets = this.release.buildSecrets;
    return { context, dockerfile: dockerfile ?? GENERATED, args: { ...given, ...args }, secrets, target };
  }

  async #pull({ docker }: Machine, service: ComposeService): Promise<void> {
    const { log, endings } = this.release;
    const image = this.release.composed().imageOf(service);
    await log.line(`Pulling ${image} for the service ${service.name}`);
    const signal = AbortSignal.any([endings.cancelled, endings.leave]);
    try {
      await docker.pullImage(image, undefined, signal);
    } catch (error) {
      if (endings.cancelled.aborted) throw new DeployCancelled();
      if (!(error instanceof DockerFault)) throw error;
      throw asFailure(image, error);
    }
  }
}

/** The same service of the same deployment is the same build, whoever follows it. */
function buildId(deploymentId: string, service: string): string {
  const digest = createHash('sha256').update(`${deploymentId}/${service}`).digest('hex');
  const parts = [digest.slice(0, 8), digest.slice(8, 12), `8${digest.slice(13, 16)}`, `8${digest.slice(17, 20)}`];
  return [...parts, digest.slice(20, 32)].join('-');
}

function asFailure(image: string, { message }: DockerFault): DeployFailure {
  if (/no space left on device/i.test(message))
    return new DeployFailure('OUT_OF_DISK', 'The disk of the server is full', 'Free space on the server.');
  return new DeployFailure(
    'BUILD_FAILED',
    `The image ${image} could not be pulled: ${message}`,
    'Check its name and tag. One that needs a login is pulled once on the server by hand, or built here instead.',
  );
}
