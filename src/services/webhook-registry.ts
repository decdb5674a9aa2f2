import type { EntityManager } from '@mikro-orm/postgresql';
import { GitProvider } from '../entities/git-provider.ts';
import { GitFailure } from '../integrations/git/git-failure.ts';
import type { Webhook, Webhooks } from '../integrations/git/webhooks.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { GitAccessService } from './git-access.service.ts';

export interface HookedSource {
  workspaceId: string;
  gitProviderId: string | null;
  repository: string;
}

/** Webhooks of ours at the providers. */
export class WebhookRegistry {
  constructor(
    private readonly em: EntityManager,
    private readonly git: GitAccessService,
  ) {}

  /** The account that can be told, with its provider's webhooks; undefined where there is nobody to tell. */
  async counterpart({ workspaceId, gitProviderId }: HookedSource): Promise<Counterpart | undefined> {
    if (gitProviderId === null) return undefined;
    const provider = await this.em.fork().findOne(GitProvider, { id: gitProviderId, workspaceId });
    if (provider === null || provider.token === null) return undefined;
    const { webhooks } = this.git.vendor(provider.provider);
    return webhooks === null ? undefined : { provider, webhooks };
  }

  /** Makes it, or changes the one that is known by `hookId`. Gives the provider's id of it. */
  async save(
    { provider, webhooks }: Counterpart,
    { repository }: HookedSource,
    hookId: string | null,
    webhook: Webhook,
  ): Promise<string> {
    return this.git.ask(provider, async (vendor, account) => {
      const remote = await vendor.repository(account, repository);
      return hookId === null
        ? webhooks.create(account, remote, webhook)
        : webhooks.update(account, remote, hookId, webhook);
    });
  }

  /** Fails only where trying again may help. What the provider does not let us do, nobody can do for the user. */
  async remove({ hookId, ...source }: Jobs['git.unhook']): Promise<void> {
    const counterpart = await this.counterpart(source);
    if (counterpart === undefined) return;
    const { provider, webhooks } = counterpart;
    try {
      await this.git.ask(provider, async (vendor, account) => {
        await webhooks.delete(account, await vendor.repository(account, source.repository), hookId);
      });
    } catch (error) {
      if (!isFinal(error)) throw error;
    }
  }
}

export interface Counterpart {
  provider: GitProvider;
  webhooks: Webhooks;
}

/** What the provider says to this token, and will say again. */
export const isFinal = (error: unknown): error is GitFailure =>
  error instanceof GitFailure && ['TOKEN_REJECTED', 'FORBIDDEN', 'NOT_FOUND', 'MOVED', 'REFUSED'].includes(error.kind);
