import { randomBytes } from 'node:crypto';
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { AutoDeployMeans, Environment } from '../entities/environment.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { Project } from '../entities/project.ts';
import { transact, type UnitOfWork, workOrigin } from '../events/unit-of-work.ts';
import type { Queue } from '../jobs/queue.ts';
import type { Keyring } from '../security/keyring.ts';
import { type AutoDeployPlan, type AutoDeployPlanner } from './auto-deploy-planner.ts';
import { refuseDeletedEnvironment } from './deployment-queue.ts';
import { secretPlace } from './hook.service.ts';
import { checkVersion, type Scope } from './scope.ts';
import type { WebhookRegistry } from './webhook-registry.ts';

export interface AutoDeployWish {
  enabled: boolean;
  autoDeployBy?: AutoDeployMeans | null;
  watchPaths?: string[];
  rotateSecret?: boolean;
  ifVersion?: number | null;
}

/** How pushes to an environment are noticed. */
export interface AutoDeployFacts {
  id: string;
  enabled: boolean;
  autoDeployBy: AutoDeployMeans | null;
  watchPaths: string[];
  hookUrl: string | null;
  hookSecret: string | null;
  reason: string | null;
  version: number;
}

/** Sees to it that pushes are noticed: by a webhook at the provider, by one that the user sets up, or by looking. */
export class AutoDeployService {
  constructor(
    private readonly em: EntityManager,
    private readonly keyring: Keyring,
    private readonly queue: Pick<Queue, 'enqueue'>,
    private readonly planner: AutoDeployPlanner,
    private readonly registry: WebhookRegistry,
  ) {}

  /** Providers are asked before anything is held, and what they were told is taken back if it comes to nothing. */
  async change(scope: Scope, id: string, wish: AutoDeployWish): Promise<AutoDeployFacts> {
    const { version } = await scope.row(Environment, id);
    checkVersion({ version }, wish.ifVersion);
    const before = await scope.fork().findOneOrFail(Environment, id);
    refuseDeletedEnvironment(before);
    const plan = wish.enabled ? await this.#plan(before, wish) : undefined;
    return this.#undoing(plan, before, () =>
      scope.transact(async unit => {
        const environment = await scope.load(unit, Environment, id, before.version);
        if (wish.watchPaths !== undefined) environment.watchPaths = wish.watchPaths;
        await this.#apply(unit, environment, plan);
        environment.version += 1;
        unit.tell(EventKind.environment_updated, EventAction.UPDATED, environment, environment.projectId);
        return this.#facts(environment, plan);
      }),
    );
  }

  /** To be called where autoDeploy was set along with something else, in that transaction: the rest is arranged after it. */
  async settle(unit: UnitOfWork, { id: environmentId }: Environment): Promise<void> {
    await this.queue.enqueue(unit, 'auto-deploy.settle', { environmentId }, { lane: environmentId });
  }

  /** To be called where an environment goes: its webhook is removed from the provider as soon as that can be reached. */
  async forget(unit: UnitOfWork, environment: Environment): Promise<void> {
    const { hookId, projectId } = environment;
    Object.assign(environment, { hookId: null, hookSecret: null, autoDeployBy: null });
    if (hookId === null) return;
    const project = await unit.em.findOne(Project, projectId);
    if (project === null || project.gitProviderId === null) return;
    const { workspaceId, gitProviderId, repository } = project;
    await this.queue.enqueue(unit, 'git.unhook', { workspaceId, gitProviderId, repository, hookId });
  }

  /**
   * Brings in line what autoDeploy says and what is arranged. Nobody is there to set up a webhook by hand, or to be shown its
   * secret: where none can be registered, the branch is looked at.
   */
  async arrange(environmentId: string): Promise<void> {
    const before = await this.em.fork().findOne(Environment, environmentId);
    if (before === null || isSettled(before)) return;
    const plan = before.autoDeploy ? await this.#planUnseen(before) : undefined;
    await this.#undoing(plan, before, () =>
      transact(this.em, workOrigin('arrangeAutoDeploy', before.workspaceId), async unit => {
        const options = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
        const environment = await unit.em.findOneOrFail(Environment, environmentId, options);
        checkVersion(environment, before.version);
        await this.#apply(unit, environment, plan);
        unit.tell(EventKind.environment_updated, EventAction.UPDATED, environment, environment.projectId);
      }),
    );
  }

  async #plan(before: Environment, wish: AutoDeployWish): Promise<AutoDeployPlan> {
    const secret = wish.rotateSecret ? undefined : this.#secretOf(before);
    const project = await this.em.fork().findOneOrFail(Project, before.projectId);
    const means = wish.autoDeployBy ?? (before.autoDeploy ? before.autoDeployBy : null);
    return this.planner.plan(before, project, means, secret ?? newSecret(), secret === undefined);
  }

  async #planUnseen(before: Environment): Promise<AutoDeployPlan> {
    const project = await this.em.fork().findOneOrFail(Project, before.projectId);
    const plan = await this.planner.plan(before, project, null, newSecret(), true);
    if (plan.means !== AutoDeployMeans.BY_HAND) return plan;
    return this.planner.plan(before, project, AutoDeployMeans.POLLING, plan.secret, true);
  }

  /** A webhook that nobody could write down is taken back at once, as well as it can be. */
  async #undoing<Result>(
    plan: AutoDeployPlan | undefined,
    before: Environment,
    work: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      const { hookId = null, source } = plan ?? {};
      if (hookId !== null && hookId !== before.hookId && source?.gitProviderId != null)
        await this.registry.remove({ ...source, gitProviderId: source.gitProviderId, hookId }).catch(() => undefined);
      throw error;
    }
  }

  async #apply(unit: UnitOfWork, environment: Environment, plan: AutoDeployPlan | undefined): Promise<void> {
    if (plan === undefined || plan.hookId !== environment.hookId) await this.forget(unit, environment);
    environment.autoDeploy = plan !== undefined;
    environment.autoDeployBy = plan?.means ?? null;
    if (plan === undefined) return;
    const { means, hookId, secret, seen } = plan;
    environment.hookId = hookId;
    const isHooked = means !== AutoDeployMeans.POLLING;
    environment.hookSecret = isHooked ? this.keyring.seal(secret, secretPlace(environment.id)) : null;
    if (seen !== null) Object.assign(environment, { seenBranch: seen.branch, seenCommit: seen.commit });
  }

  #facts(environment: Environment, plan: AutoDeployPlan | undefined): AutoDeployFacts {
    const { id, autoDeploy: enabled, autoDeployBy, watchPaths, version } = environment;
    const isShown = plan?.means === AutoDeployMeans.BY_HAND && plan.isNewSecret;
    const hookUrl = autoDeployBy === null || autoDeployBy === AutoDeployMeans.POLLING ? null : this.planner.hookUrl(id);
    const hookSecret = isShown ? plan.secret : null;
    return { id, enabled, autoDeployBy, watchPaths, hookUrl, hookSecret, reason: plan?.reason ?? null, version };
  }

  #secretOf({ id, hookSecret }: Environment): string | undefined {
    return hookSecret === null ? undefined : this.keyring.open(hookSecret, secretPlace(id));
  }
}

/** What is wanted is arranged, and what is not wanted is not. */
export const isSettled = ({ autoDeploy, autoDeployBy }: Environment): boolean => autoDeploy === (autoDeployBy !== null);

/** 256 bits, in letters that every provider's form takes. */
const newSecret = (): string => randomBytes(32).toString('base64url');
