import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { BuildSettings } from '../../entities/build.ts';
import { Deployment, DeploymentStatus, DeploymentTrigger } from '../../entities/deployment.ts';
import { Environment } from '../../entities/environment.ts';
import { Project } from '../../entities/project.ts';
import { Server } from '../../entities/server.ts';
import { VariableScope } from '../../entities/variable.ts';
import { type BuildPlan, planBuild } from './build-plan.ts';
import { Composition } from './compose/composition.ts';
import { DeployFailure } from './deploy-failure.ts';
import type { DeployMeans, DeploySource, PlanVariable } from './deploy-means.ts';
import type { DeploymentRecord } from './deployment-record.ts';
import type { LogWriter } from './log-writer.ts';

/** How the work on a deployment can be ended: cancelled for good, or left to whoever takes it up next. */
export interface Endings {
  cancelled: AbortSignal;
  leave: AbortSignal;
}

interface Parts {
  project: Project;
  environment: Environment;
  server: Server;
  variables: PlanVariable[];
  /** What serves now, and goes on doing so until this one has taken over. */
  previous: Deployment | null;
}

/** What a deployment is about to put on a server, and all that its steps need for it. */
export class Release {
  readonly project: Project;
  readonly environment: Environment;
  readonly server: Server;
  readonly variables: readonly PlanVariable[];
  readonly previous: Deployment | null;
  #source: Promise<DeploySource> | undefined;
  #composition: Composition | undefined;

  private constructor(
    readonly em: EntityManager,
    readonly means: DeployMeans,
    readonly record: DeploymentRecord,
    readonly log: LogWriter,
    readonly endings: Endings,
    parts: Parts,
  ) {
    this.project = parts.project;
    this.environment = parts.environment;
    this.server = parts.server;
    this.variables = parts.variables;
    this.previous = parts.previous;
  }

  static async gather(
    em: EntityManager,
    means: DeployMeans,
    record: DeploymentRecord,
    log: (secrets: readonly string[]) => LogWriter,
    endings: Endings,
  ): Promise<Release> {
    const { projectId, environmentId, serverId } = record.now;
    const fork = em.fork();
    const project = await fork.findOneOrFail(Project, projectId);
    const environment = await fork.findOneOrFail(Environment, environmentId);
    const server = serverId === null ? null : await fork.findOne(Server, serverId);
    if (server === null) throw new DeployFailure('SERVER_LOST', 'Its server was removed', 'Choose another server.');
    const previous = await previousOf(fork, environment, record.now);
    const variables = await variablesFor(fork, means, record.now);
    const secrets = variables.filter(({ isSecret }) => isSecret).map(({ value }) => value);
    const parts = { project, environment, server, previous, variables };
    return new Release(em, means, record, log(secrets), endings, parts);
  }

  get deployment(): Deployment {
    return this.record.now;
  }

  get isRollback(): boolean {
    return this.deployment.trigger === DeploymentTrigger.ROLLBACK;
  }

  /** What a rollback brings back was prepared when it was first deployed; migrations do not run backwards. */
  get runsPreDeploy(): boolean {
    return this.environment.preDeployCommand !== null && !this.isRollback;
  }

  /** What a person decided, for the environment before the project; the rest follows the analysis. */
  get settings(): BuildSettings {
    const decided = Object.entries(this.environment.build).filter(([, value]) => value !== null);
    return { ...this.project.build, ...Object.fromEntries(decided) };
  }

  get buildVariables(): PlanVariable[] {
    return this.variables.filter(({ scope }) => scope !== VariableScope.RUNTIME);
  }

  /** Each is mounted by the builds that ask for it. */
  get buildSecrets(): Record<string, string> {
    return Object.fromEntries(this.buildVariables.map(({ key, value }) => [key, value]));
  }

  get runtimeVariables(): PlanVariable[] {
    return this.variables.filter(({ scope }) => scope !== VariableScope.BUILD);
  }

  /** The same key is the same image: commit, folder, settings and what the build is told. */
  buildKeyOf(sha: string): string {
    const told = this.buildVariables.map(({ key, value, isSecret }) => [key, value, isSecret]);
    const parts = [sha, this.project.rootDirectory, Object.entries(this.settings).sort(), told.sort()];
    return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  }

  /** Fetched when a step first needs it, which is not at all where an image is kept or a build is under way already. */
  source(): Promise<DeploySource> {
    const { branch, wantedCommit, commit } = this.deployment;
    this.#source ??= this.means.checkOut(
      this.project,
      { branch, commit: commit?.sha ?? wantedCommit },
      AbortSignal.any([this.endings.cancelled, this.endings.leave]),
    );
    return this.#source;
  }

  async plan(): Promise<BuildPlan> {
    return planBuild(await this.source(), this);
  }

  /** Of a release that is made of a compose file; null before that is decided, and for all others. */
  composition(): Composition | null {
    if (this.deployment.composition === null) return null;
    this.#composition ??= Composition.open(this, this.means.openComposition(this.deployment) ?? '');
    return this.#composition;
  }

  composed(): Composition {
    const composition = this.composition();
    if (composition === null) throw new Error('The release is not made of a compose file');
    return composition;
  }

  async dispose(): Promise<void> {
    const source = await this.#source?.catch(() => undefined);
    await source?.dispose();
  }
}

/** What a release cannot be brought back without, once it is gone. */
export const FORGOTTEN: Pick<Deployment, 'image' | 'images' | 'variables' | 'composition'> = {
  ...{ image: null, images: [], variables: null, composition: null },
};

/** What served when it began. Once it is live itself, that is whom it has superseded. */
function previousOf(em: EntityManager, environment: Environment, { id }: Deployment): Promise<Deployment | null> {
  const { currentDeploymentId: current } = environment;
  if (current !== null && current !== id) return em.findOne(Deployment, current);
  return em.findOne(Deployment, { supersededBy: id, status: DeploymentStatus.SUPERSEDED });
}

/**
 * What was decided when it was prepared stays, whoever takes it up. A rollback brings back what its release was started with, unless
 * it was asked for with today's.
 */
async function variablesFor(em: EntityManager, means: DeployMeans, deployment: Deployment): Promise<PlanVariable[]> {
  const { environmentId, rollbackOf, usesCurrentVariables, variables } = deployment;
  if (variables !== null) return means.openRelease(deployment);
  if (rollbackOf === null || usesCurrentVariables) return means.variables(environmentId);
  const release = await em.findOne(Deployment, rollbackOf);
  if (release?.variables == null)
    throw new DeployFailure('IMAGE_GONE', 'The release to roll back to is gone', 'Deploy its commit again.');
  return means.openRelease(release);
}
