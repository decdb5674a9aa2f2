import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { clock, fromNow, MINUTE } from '../clock.ts';
import type { FoundPush, PushReader } from '../engine/source/push-reader.ts';
import { AutoDeployMeans, Environment, EnvironmentStatus } from '../entities/environment.ts';
import { Project } from '../entities/project.ts';
import { transact, workOrigin } from '../events/unit-of-work.ts';
import type { RemoteRefs } from '../integrations/git/plain-git.ts';
import { type AutoDeployService, isSettled } from './auto-deploy.service.ts';
import type { GitAccessService } from './git-access.service.ts';
import type { PushLedger } from './push-ledger.ts';

/** So many repositories at once, so that one that does not answer holds up nobody. */
const SIDE_BY_SIDE = 8;
const LONGEST_REST_MS = 15 * MINUTE;

interface Tip {
  branch: string;
  commit: string;
}

/** Looks every minute at the branches of environments whose pushes nobody tells of. */
export class PushPollService {
  /** Repositories that could not be read are left alone for a while, each time longer. */
  readonly #resting = new Map<string, { until: Date; failures: number }>();

  constructor(
    private readonly em: EntityManager,
    private readonly git: GitAccessService,
    private readonly reader: PushReader,
    private readonly ledger: PushLedger,
    private readonly autoDeploy: AutoDeployService,
    private readonly warn: (message: string, error: unknown) => void,
  ) {}

  async pollAll(signal: AbortSignal): Promise<void> {
    const waiting = await this.#due();
    const work = async () => {
      for (let next = waiting.pop(); next !== undefined && !signal.aborted; next = waiting.pop())
        await this.#pollSafely(next, signal);
    };
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
  }

  /** Those that are read in the same way from the same place are looked at once. */
  async #due(): Promise<Polled[]> {
    const status = { $nin: [EnvironmentStatus.DELETING, EnvironmentStatus.DELETE_FAILED] };
    const polled = { autoDeploy: true, autoDeployBy: AutoDeployMeans.POLLING };
    const unsettled = [
      { autoDeploy: true, autoDeployBy: null },
      { autoDeploy: false, autoDeployBy: { $ne: null } },
    ];
    const environments = await this.em.fork().find(Environment, { status, $or: [polled, ...unsettled] });
    const ids = [...new Set(environments.map(({ projectId }) => projectId))];
    const projects = new Map((await this.em.fork().find(Project, { id: ids })).map(each => [each.id, each]));
    const all = environments.flatMap(environment => {
      const project = projects.get(environment.projectId);
      return project === undefined ? [] : [{ environment, project }];
    });
    const groups = Map.groupBy(all, ({ project }) =>
      [project.workspaceId, project.gitProviderId ?? '', project.repository].join(' '),
    );
    return [...groups].map(([key, all]) => ({ key, all })).filter(({ key }) => this.#isAwake(key));
  }

  #isAwake(key: string): boolean {
    const rest = this.#resting.get(key);
    return rest === undefined || rest.until <= clock.now();
  }

  async #pollSafely({ key, all }: Polled, signal: AbortSignal): Promise<void> {
    try {
      await this.#poll(all, signal);
      this.#resting.delete(key);
    } catch (error) {
      if (signal.aborted) return;
      const failures = (this.#resting.get(key)?.failures ?? 0) + 1;
      const restMs = Math.min(MINUTE * 2 ** (failures - 1), LONGEST_REST_MS);
      this.#resting.set(key, { failures, until: fromNow(restMs) });
      // One look that fails proves nothing; that it goes on failing is worth knowing.
      if (failures === 3) this.warn('A repository that is looked at for pushes cannot be read', error);
    }
  }

  async #poll(all: Polled['all'], signal: AbortSignal): Promise<void> {
    for (const { environment } of all.filter(({ environment }) => !isSettled(environment)))
      await this.autoDeploy.arrange(environment.id);
    const polled = all.filter(({ environment }) => isSettled(environment));
    const [first] = polled;
    if (first === undefined) return;
    const refs = await this.git.refs(first.project);
    for (const { environment, project } of polled) {
      const tip = tipOf(environment, project, refs);
      if (tip !== undefined && !isSeen(environment, tip)) await this.#notice(environment, project, tip, signal);
    }
  }

  /** Of a branch that was not looked at before everything is old. */
  async #notice(before: Environment, project: Project, tip: Tip, signal: AbortSignal): Promise<void> {
    const isFollowed = before.seenBranch === tip.branch && before.seenCommit !== null;
    const found = isFollowed ? await this.#read(project, before.seenCommit ?? '', tip, signal) : undefined;
    await transact(this.em, workOrigin('pollBranch', before.workspaceId), async unit => {
      const options = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
      const environment = await unit.em.findOne(Environment, before.id, options);
      // Another instance, or a change of the environment, was faster.
      if (environment === null || environment.autoDeployBy !== AutoDeployMeans.POLLING) return;
      if (environment.seenCommit !== before.seenCommit || environment.seenBranch !== before.seenBranch) return;
      if (environment.branch !== before.branch) return;
      if (found === undefined) Object.assign(environment, { seenBranch: tip.branch, seenCommit: tip.commit });
      else {
        const push = { event: 'poll', branch: tip.branch, sha: tip.commit, ...found };
        await this.ledger.enter(unit, environment, push, { branch: tip.branch });
      }
    });
  }

  /** What cannot be read of it is not known: it is deployed all the same. */
  async #read(project: Project, from: string, { branch, commit: to }: Tip, signal: AbortSignal): Promise<Known> {
    try {
      const { url, login } = await this.git.locate(project);
      return await this.reader.read({ url, login, branch, from, to }, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.warn('What a push brought could not be read', error);
      return { message: null, author: null, changedPaths: null };
    }
  }
}

type Known = FoundPush | { [Name in keyof FoundPush]: null };

interface Polled {
  key: string;
  all: { environment: Environment; project: Project }[];
}

function tipOf({ branch }: Environment, project: Project, refs: RemoteRefs): Tip | undefined {
  const wanted = branch ?? project.branch ?? refs.defaultBranch;
  const found = refs.branches.find(({ name }) => name === wanted);
  return found === undefined ? undefined : { branch: found.name, commit: found.sha };
}

const isSeen = ({ seenBranch, seenCommit }: Environment, { branch, commit }: Tip): boolean =>
  seenBranch === branch && seenCommit === commit;
