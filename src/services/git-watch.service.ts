import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { clock } from '../clock.ts';
import { GitProvider, type GitProviderState } from '../entities/git-provider.ts';
import type { Identity } from '../integrations/git/git-vendor.ts';
import type { GitAccessService } from './git-access.service.ts';
import { describeIdentity, stateAfter } from './git-provider.service.ts';

/** Looks at every connected account from time to time, so that a token that ended is known before a deployment needs it. */
export class GitWatchService {
  constructor(
    private readonly em: EntityManager,
    private readonly access: GitAccessService,
  ) {}

  async checkAll(signal: AbortSignal): Promise<void> {
    for (const { id } of await this.em.fork().find(GitProvider, {}, { fields: ['id'] })) {
      if (signal.aborted) return;
      await this.#check(id);
    }
  }

  async #check(id: string): Promise<void> {
    const provider = await this.em.fork().findOne(GitProvider, id);
    if (provider === null) return;
    const look = await this.#look(provider);
    await this.em.fork().transactional(async em => {
      const current = await em.findOne(GitProvider, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
      // A token that was replaced while we looked at the old one is not judged by it.
      if (current === null || current.token?.sealed !== provider.token?.sealed) return;
      if ('identity' in look) describeIdentity(current, look.identity);
      else if (look.state !== undefined) Object.assign(current, { state: look.state, checkedAt: clock.now() });
    });
  }

  async #look(provider: GitProvider): Promise<{ identity: Identity } | { state: GitProviderState | undefined }> {
    try {
      return { identity: await this.access.ask(provider, (vendor, account) => vendor.identify(account)) };
    } catch (error) {
      return { state: stateAfter(error) };
    }
  }
}
