import type { BuilderKind } from '../../../entities/build.ts';
import { Deployment, DeploymentPhase, DeploymentStatus } from '../../../entities/deployment.ts';
import { DeployFailure } from '../deploy-failure.ts';
import type { DeployStep, Machine } from '../deploy-step.ts';
import { imageName } from '../names.ts';
import type { Release } from '../release.ts';
import { diskFreeMb } from '../server-ports.ts';

/** With less than this a build would fill the disk under what serves there. */
const LEAST_FREE_MB = 512;

type Decision = Pick<Deployment, 'image' | 'appPort' | 'commit' | 'builder' | 'buildKey'>;

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
    return kept?.image != null && (await docker.hasImage(kept.image)) ? kept : null;
  }

  async #bringBack({ docker }: Machine): Promise<void> {
    const { em, deployment } = this.release;
    const kept = await em.fork().findOne(Deployment, { id: deployment.rollbackOf ?? '' });
    if (kept?.image == null || !(await docker.hasImage(kept.image)))
      throw new DeployFailure(
        'IMAGE_GONE',
        'The image of that release is no longer on the server',
        'Deploy its commit again.',
      );
    await this.#useAgain(kept, kept.buildKey ?? kept.id);
  }

  async #useAgain({ image, appPort, commit, builder, number }: Deployment, buildKey: string): Promise<void> {
    await this.release.log.line(`The image of deployment ${number} is used again: nothing to build`);
    await this.#decide({ image, appPort, commit, builder, buildKey });
  }

  async #planNew(buildKey: string): Promise<void> {
    const { commit } = await this.release.source();
    const { port, builder } = await this.release.plan();
    await this.release.log.line(`Commit ${commit.sha.slice(0, 12)} by ${commit.author}: ${commit.message}`);
    await this.release.log.line(`Builder ${builder}${port === null ? '' : `, port ${port}`}`);
    await this.#decide({
      image: imageName(this.release.deployment),
      appPort: port,
      builder: builder as BuilderKind,
      commit,
      buildKey,
    });
  }

  async #decide(decided: Decision): Promise<void> {
    const { record, means, variables, deployment } = this.release;
    const sealed = means.sealRelease(deployment.id, variables);
    await record.change(each => void Object.assign(each, decided, { variables: sealed }), 'Prepared');
  }
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
