import type { BuilderKind } from '../../../entities/build.ts';
import { Deployment, DeploymentPhase, DeploymentStatus } from '../../../entities/deployment.ts';
import type { DockerApi } from '../../../integrations/docker/docker-api.ts';
import { Composition } from '../compose/composition.ts';
import { DeployFailure } from '../deploy-failure.ts';
import type { DeployStep, Machine } from '../deploy-step.ts';
import { imageName } from '../names.ts';
import type { Release } from '../release.ts';
import { diskFreeMb } from '../server-ports.ts';

/** With less than this a build would fill the disk under what serves there. */
const LEAST_FREE_MB = 512;

type Decision = Pick<Deployment, 'image' | 'images' | 'appPort' | 'commit' | 'builder' | 'buildKey'>;

/** Decides what is deployed: the commit, and whether its image has to be built. What was decided is written down, and stays. */
export class PrepareStep implements DeployStep {
  readonly phase = DeploymentPhase.PREPARING;

  constructor(private readonly release: Release) {}

  async hasHappened(): Promise<boolean> {
    return this.release.deployment.buildKey !== null;
  }

  async run(machine: Machine): Promise<void> {
    if (this.release.isRollback) return this.#bringBack(machine);
    await refuseFullDisk(machine);
    const { deployment, project, means, endings } = this.release;
    const sha =
      deployment.wantedCommit ??
      (await means.newestCommit(project, deployment.branch, AbortSignal.any([endings.cancelled, endings.leave])));
    const buildKey = this.release.buildKeyOf(sha);
    const kept = deployment.rebuild ? null : await this.#keptImage(machine, buildKey);
    if (kept !== null) await this.#useAgain(kept, buildKey);
    else await this.#planNew(buildKey);
  }

  async undo(): Promise<void> {
    await this.release.dispose();
  }

  /** An earlier deployment's image of exactly this, if the server still has it. */
  async #keptImage({ docker }: Machine, buildKey: string): Promise<Deployment | null> {
    const { em, deployment } = this.release;
    const { environmentId, serverId } = deployment;
    const status = [DeploymentStatus.LIVE, DeploymentStatus.SUPERSEDED];
    const where = { environmentId, serverId, buildKey, status, image: { $ne: null } };
    const kept = await em.fork().findOne(Deployment, where, { orderBy: { number: 'desc' } });
    if (kept === null || !(await hasImages(docker, kept))) return null;
    return this.#composedBefore(kept)?.isUpToDate === false ? null : kept;
  }

  async #bringBack({ docker }: Machine): Promise<void> {
    const { em, deployment } = this.release;
    const kept = await em.fork().findOne(Deployment, { id: deployment.rollbackOf ?? '' });
    if (kept === null || !(await hasImages(docker, kept)))
      throw new DeployFailure(
        'IMAGE_GONE',
        'The image of that release is no longer on the server',
        'Deploy its commit again.',
      );
    await this.#useAgain(kept, kept.buildKey ?? kept.id);
  }

  /** The compose file of an earlier release, with the variables of this one. */
  #composedBefore(kept: Deployment): Composition | null {
    const composition = this.release.means.openComposition(kept);
    return composition === null ? null : Composition.open(this.release, composition);
  }

  async #useAgain(kept: Deployment, buildKey: string): Promise<void> {
    const { image, images, appPort, commit, builder, number } = kept;
    await this.release.log.line(`The image of deployment ${number} is used again: nothing to build`);
    const composition = this.#composedBefore(kept);
    const decided = { image, images, appPort, commit, builder, buildKey };
    await this.#decide(composition === null ? decided : { ...decided, ...composedOf(composition) }, composition);
  }

  async #planNew(buildKey: string): Promise<void> {
    const { commit } = await this.release.source();
    const { port, builder, composeFile } = await this.release.plan();
    await this.release.log.line(`Commit ${commit.sha.slice(0, 12)} by ${commit.author}: ${commit.message}`);
    const composition = builder === 'COMPOSE' ? await this.#compose(composeFile) : null;
    const one = { image: imageName(this.release.deployment), images: [], appPort: port };
    const { appPort, ...images } = composition === null ? one : composedOf(composition);
    await this.release.log.line(`Builder ${builder}${appPort === null ? '' : `, port ${appPort}`}`);
    await this.#decide({ ...images, appPort, builder: builder as BuilderKind, commit, buildKey }, composition);
  }

  async #compose(file: string | null): Promise<Composition> {
    const { log, deployment, previous } = this.release;
    const composition = await Composition.plan(this.release, await this.release.source(), file);
    for (const warning of composition.project.warnings) await log.line(`${file}: ${warning}`);
    if (previous !== null && previous.serverId !== deployment.serverId)
      await log.line('The volumes of its services stay on the server it was on; here they begin empty');
    return composition;
  }

  async #decide(decided: Decision, composed: Composition | null): Promise<void> {
    const { record, means, variables, deployment, environment } = this.release;
    const { changeCount: seenChanges } = environment;
    const sealed = means.sealRelease(deployment.id, variables);
    const composition = composed === null ? null : means.sealComposition(deployment.id, composed.toString());
    await record.change(
      each => void Object.assign(each, decided, { variables: sealed, composition, seenChanges }),
      'Prepared',
    );
  }
}

const composedOf = ({ mainImage, images, project }: Composition) => ({
  image: mainImage,
  images,
  appPort: project.web?.port ?? null,
});

async function hasImages(docker: DockerApi, { image, images }: Deployment): Promise<boolean> {
  for (const each of [image, ...images]) if (each === null || !(await docker.hasImage(each))) return false;
  return true;
}

async function refuseFullDisk({ host }: Machine): Promise<void> {
  const free = await diskFreeMb(host);
  if (free >= LEAST_FREE_MB) return;
  throw new DeployFailure(
    'OUT_OF_DISK',
    `The server has ${free} MB left where Docker keeps its images; a build needs ${LEAST_FREE_MB} MB`,
    'Free space on the server, or keep fewer releases (keepReleases).',
  );
}
