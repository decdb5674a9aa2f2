import type { EntityManager } from '@mikro-orm/postgresql';
import { SECOND } from '../clock.ts';
import { Masker } from '../engine/deploy/masker.ts';
import { openDocker } from '../engine/deploy/server-docker.ts';
import { type FollowMeans, OutputFollower } from '../engine/runtime/output-follower.ts';
import { type OutputWish, readTail, type WatchedRelease } from '../engine/runtime/release-output.ts';
import type { RuntimeLine } from '../engine/runtime/runtime-line.ts';
import { Deployment } from '../entities/deployment.ts';
import { Environment } from '../entities/environment.ts';
import { DomainError } from '../errors.ts';
import { storyBell } from '../events/deployment-story.ts';
import type { RowBell } from '../events/row-bell.ts';
import type { DockerApi } from '../integrations/docker/docker-api.ts';
import type { Host } from '../remote/host.ts';
import { explainOutput } from './explain-output.ts';
import type { Scope } from './scope.ts';
import type { ServerAccessService } from './server-access.service.ts';
import type { VariableStore } from './variable-store.ts';

export interface RuntimeLogWish {
  tail?: number | null;
  since?: Date | null;
}

const USUAL_TAIL = 100;
const LONGEST_TAIL = 1000;
const READ_MS = 30 * SECOND;
/** Each is a connection to the server. */
const FOLLOWERS = 16;

/** What running applications print: their last lines, or all of them as they come. Nothing of it is stored here. */
export class RuntimeLogService {
  readonly #places = new Map<string, Set<number>>();

  constructor(
    private readonly em: EntityManager,
    private readonly servers: ServerAccessService,
    private readonly variables: VariableStore,
    private readonly bell: RowBell,
  ) {}

  async list(scope: Scope, environmentId: string, { tail, since }: RuntimeLogWish): Promise<RuntimeLine[]> {
    const release = await this.#serving(scope, environmentId);
    const most = tail ?? (since == null ? USUAL_TAIL : LONGEST_TAIL);
    const signal = AbortSignal.timeout(READ_MS);
    const read = (docker: DockerApi) => readTail(docker, release, { tail: most, since: since ?? undefined, signal });
    try {
      return await this.servers.use(release.serverId, host => withDocker(host, read));
    } catch (error) {
      throw explainOutput(error);
    }
  }

  /** Fails before it begins where there is nothing to follow. */
  async open(scope: Scope, environmentId: string, wish: RuntimeLogWish): Promise<AsyncIterable<RuntimeLine>> {
    const release = await this.#serving(scope, environmentId);
    const { place, give } = this.#takePlace(release.serverId);
    const follower = new OutputFollower(this.#means(environmentId, place), give);
    scope.request.onLeave(() => follower.leave());
    try {
      return await follower.start(release, outputWish(wish));
    } catch (error) {
      throw explainOutput(error);
    }
  }

  #means(environmentId: string, place: number): FollowMeans {
    return {
      useDocker: (serverId, work) =>
        this.servers.useBeside(serverId, `output ${place}`, host => withDocker(host, work)),
      current: () => this.#current(environmentId),
      watch: (deploymentId, ring) => this.bell.watch(storyBell(deploymentId), ring),
      explain: error => explainOutput(error).message,
    };
  }

  async #serving(scope: Scope, environmentId: string): Promise<WatchedRelease> {
    await scope.row(Environment, environmentId);
    const release = await this.#current(environmentId);
    if (release === undefined)
      throw new DomainError('NOT_DEPLOYED', 'Nothing of this environment runs yet; deploy it first');
    return release;
  }

  async #current(environmentId: string): Promise<WatchedRelease | undefined> {
    const em = this.em.fork();
    const environment = await em.findOne(Environment, { id: environmentId });
    const deployment = await em.findOne(Deployment, { id: environment?.currentDeploymentId ?? environmentId });
    if (deployment === null || deployment.serverId === null) return undefined;
    const { id, number, serverId } = deployment;
    const secrets = this.variables.openRelease(deployment).filter(({ isSecret }) => isSecret);
    const masker = new Masker(secrets.map(({ value }) => value));
    return { id, environmentId, number, serverId, masker };
  }

  #takePlace(serverId: string): { place: number; give: () => void } {
    const taken = this.#places.get(serverId) ?? new Set();
    const place = Array.from({ length: FOLLOWERS }, (_, number) => number).find(number => !taken.has(number));
    if (place === undefined)
      throw new DomainError('RATE_LIMITED', `Only ${FOLLOWERS} may follow what runs on one server at a time`, {
        retryAfterSeconds: 10,
      });
    this.#places.set(serverId, taken.add(place));
    return { place, give: () => void taken.delete(place) };
  }
}

/** Whoever says since when wants all of it. */
const outputWish = ({ tail, since }: RuntimeLogWish): OutputWish => ({
  since: since ?? undefined,
  tail: tail ?? (since == null ? USUAL_TAIL : undefined),
});

async function withDocker<Result>(host: Host, work: (docker: DockerApi) => Promise<Result>): Promise<Result> {
  const docker = await openDocker(host);
  try {
    return await work(docker);
  } finally {
    docker.close();
  }
}
