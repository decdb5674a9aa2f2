import { AutoDeployMeans, type Environment } from '../entities/environment.ts';
import type { Project } from '../entities/project.ts';
import { Invalid } from '../errors.ts';
import { reachOf } from '../security/reachable.ts';
import { asDomain, type GitAccessService } from './git-access.service.ts';
import { type Counterpart, type HookedSource, isFinal, type WebhookRegistry } from './webhook-registry.ts';

/** How pushes will be noticed, with all that was done for it outside. */
export interface AutoDeployPlan {
  means: AutoDeployMeans;
  /** Why it is this one. */
  reason: string;
  secret: string;
  isNewSecret: boolean;
  hookId: string | null;
  /** Where looking begins: what was pushed before is not news. */
  seen: { branch: string; commit: string } | null;
  source: HookedSource;
}

/** Finds the best way to notice pushes, and registers the webhook where that is it. */
export class AutoDeployPlanner {
  constructor(
    private readonly git: GitAccessService,
    private readonly registry: WebhookRegistry,
    private readonly publicUrl: string,
  ) {}

  hookUrl(environmentId: string): string {
    return `${this.publicUrl}/api/v1/hooks/git/${environmentId}`;
  }

  /** `wanted` is what the user chose; null leaves the choice to us. */
  async plan(
    environment: Environment,
    project: Project,
    wanted: AutoDeployMeans | null,
    secret: string,
    isNewSecret: boolean,
  ): Promise<AutoDeployPlan> {
    const base = { secret, isNewSecret, hookId: null, seen: null, source: sourceOf(project) };
    if (wanted === AutoDeployMeans.POLLING) return this.#poll(environment, project, base, 'It was chosen');
    if (wanted === AutoDeployMeans.BY_HAND) return { ...base, means: wanted, reason: 'It was chosen' };
    const counterpart = await this.registry.counterpart(project);
    if (wanted === AutoDeployMeans.WEBHOOK)
      return asDomain(this.#register(environment, counterpart, base), 'autoDeployBy');
    if (!this.#canBeCalledBy(counterpart)) return this.#poll(environment, project, base, UNREACHABLE);
    if (counterpart === undefined) return { ...base, means: AutoDeployMeans.BY_HAND, reason: NOBODY };
    try {
      return await this.#register(environment, counterpart, base);
    } catch (error) {
      if (!isFinal(error)) return asDomain(Promise.reject(error));
      const reason = `The webhook could not be registered: ${error.message}`;
      return { ...base, means: AutoDeployMeans.BY_HAND, reason };
    }
  }

  async #register(environment: Environment, counterpart: Counterpart | undefined, base: Base): Promise<AutoDeployPlan> {
    if (counterpart === undefined)
      throw new Invalid({ field: 'autoDeployBy', message: `cannot be WEBHOOK: ${NOBODY}` });
    const webhook = { url: this.hookUrl(environment.id), secret: base.secret };
    const hookId = await this.registry.save(counterpart, base.source, environment.hookId, webhook);
    const reason = `${counterpart.provider.username} registered it`;
    return { ...base, hookId, means: AutoDeployMeans.WEBHOOK, reason };
  }

  async #poll(environment: Environment, project: Project, base: Base, reason: string): Promise<AutoDeployPlan> {
    const { defaultBranch, branches } = await this.git.refs(project);
    const branch = environment.branch ?? project.branch ?? defaultBranch;
    const found = branches.find(({ name }) => name === branch);
    const seen = found === undefined ? null : { branch: found.name, commit: found.sha };
    return { ...base, seen, means: AutoDeployMeans.POLLING, reason };
  }

  /** Providers inside the same network may reach what others cannot. */
  #canBeCalledBy(counterpart: Counterpart | undefined): boolean {
    const reach = reachOf(this.publicUrl);
    if (reach === 'ANYWHERE') return true;
    if (counterpart === undefined) return false;
    const theirs = reachOf(counterpart.provider.baseUrl);
    return reach === 'INSIDE' ? theirs !== 'ANYWHERE' : theirs === 'THIS_MACHINE';
  }
}

type Base = Omit<AutoDeployPlan, 'means' | 'reason'>;

const UNREACHABLE = 'PUBLIC_URL cannot be reached from where the provider is, so the branch is looked at every minute';
const NOBODY = 'no Git account is connected to the project whose provider can be told';

const sourceOf = ({ workspaceId, gitProviderId, repository }: Project): HookedSource => ({
  workspaceId,
  gitProviderId,
  repository,
});
