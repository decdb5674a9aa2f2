import type { EntityManager } from '@mikro-orm/postgresql';
import { clock } from '../clock.ts';
import { GitProvider } from '../entities/git-provider.ts';
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
    const em = this.em.fork();
    const provider = await em.findOne(GitProvider, id);
    if (provider === null) return;
    const tokenThen = provider.token?.sealed;
    const look = await this.access
      .vendor(provider.provider)
      .identify(this.access.open(provider))
      .then(
        identity => ({ identity }),
        (error: unknown) => ({ error }),
      );
    // A token that was replaced while we looked at the old one is not judged by it.
    const current = await em.fork().findOne(GitProvider, id);
    if (current === null || current.token?.sealed !== tokenThen) return;
    if ('identity' in look) describeIdentity(provider, look.identity);
    else {
      const state = stateAfter(look.error);
      if (state !== undefined) Object.assign(provider, { state, checkedAt: clock.now() });
    }
    await em.flush();
  }
}
