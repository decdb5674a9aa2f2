import { clock, DAY } from '../clock.ts';
import type { Page, Row } from '../database/rows.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { GitProvider, GitProviderState, GitVendorKind } from '../entities/git-provider.ts';
import { Project } from '../entities/project.ts';
import { DomainError, Invalid } from '../errors.ts';
import type { UnitOfWork } from '../events/unit-of-work.ts';
import { GitFailure } from '../integrations/git/git-failure.ts';
import type { Branch, Identity } from '../integrations/git/git-vendor.ts';
import type { Keyring } from '../security/keyring.ts';
import { asDomain, type GitAccessService, tokenPlace } from './git-access.service.ts';
import { readAccount, type TokenWish } from './git-account.ts';
import type { Scope } from './scope.ts';

const EXPIRING_WITHIN_MS = 14 * DAY;
const MOST_PAGES = 100;

/** Connected Git accounts. */
export class GitProviderService {
  constructor(
    private readonly access: GitAccessService,
    private readonly keyring: Keyring,
  ) {}

  list(scope: Scope, page: Page): Promise<Row<GitProvider>[]> {
    return scope.list(GitProvider, {}, page);
  }

  /** The token is tried before anything is stored. The same account again keeps its id and gets the new token. */
  async saveToken(scope: Scope, wish: TokenWish): Promise<GitProvider> {
    const vendor = this.access.vendor(wish.provider);
    const account = await readAccount(wish, vendor);
    const identity = await asDomain(vendor.identify(account).catch(notThere(wish)), 'baseUrl');
    return scope.transact(async unit => {
      const { workspaceId } = scope.viewer;
      await oneByOne(unit, workspaceId);
      const key = { workspaceId, provider: wish.provider, baseUrl: account.baseUrl, username: identity.username };
      const known = await unit.em.findOne(GitProvider, key);
      const provider = known ?? unit.em.create(GitProvider, { ...key, checkedAt: clock.now() });
      if (known) known.version += 1;
      describe(provider, identity);
      if (wish.label !== undefined) provider.label = wish.label;
      provider.loginName = account.username;
      provider.token = account.token === null ? null : this.keyring.seal(account.token, tokenPlace(provider.id));
      scope.notes.status = known ? 200 : 201;
      unit.note(provider);
      return provider;
    });
  }

  async branches(scope: Scope, providerId: string, repo: string, { limit, after }: Page): Promise<Branch[]> {
    const provider = await this.access.provider(scope.viewer.workspaceId, providerId);
    const repository = await this.access.repository(provider, repo);
    const branches: Branch[] = [];
    for (let page = 1; ; page += 1) {
      const listing = await asDomain(
        this.access.ask(provider, (vendor, account) => vendor.branches(account, repository, page)),
      );
      branches.push(...listing.items);
      const start = startOf(branches, after);
      const isEnough = start !== undefined && branches.length > start + limit;
      if (!listing.hasMore || isEnough || page >= MOST_PAGES)
        return this.#pageOf(scope, branches, start ?? branches.length, limit);
    }
  }

  /** By force the projects lose the account they are read with, and those who watch them are told. */
  async delete(scope: Scope, id: string, force: boolean, ifVersion?: number | null): Promise<{ id: string }> {
    return scope.transact(async unit => {
      const provider = await scope.load(unit, GitProvider, id, ifVersion);
      const users = await unit.em.find(Project, { workspaceId: scope.viewer.workspaceId, gitProviderId: id });
      if (users.length > 0 && !force) {
        const usedBy = users.slice(0, 20).map(({ name }) => name);
        throw new DomainError('IN_USE', `Projects are read with this account: ${usedBy.join(', ')}; use force=true`, {
          usedBy,
        });
      }
      for (const project of users) {
        project.gitProviderId = null;
        project.version += 1;
        unit.tell(EventKind.project_updated, EventAction.UPDATED, project, project.id);
      }
      unit.note(provider);
      unit.em.remove(provider);
      return { id };
    });
  }

  #pageOf(scope: Scope, branches: Branch[], start: number, limit: number): Branch[] {
    const page = branches.slice(start, start + limit);
    scope.notes.hasMore = branches.length > start + limit;
    const last = page.at(-1);
    if (last) scope.notes.nextCursor = last.name;
    return page;
  }
}

/** A branch that is gone is not begun anew behind: providers list by name, so the next one is the next name. */
function startOf(branches: readonly Branch[], after: string | null | undefined): number | undefined {
  if (after == null) return 0;
  const index = branches.findIndex(({ name }) => name === after);
  if (index >= 0) return index + 1;
  const next = branches.findIndex(({ name }) => name > after);
  return next >= 0 ? next : undefined;
}

/** The same account may be saved twice at the same moment. */
const oneByOne = (unit: UnitOfWork, workspaceId: string): Promise<unknown> =>
  unit.em.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`git accounts ${workspaceId}`]);

/** What is not found when an account is tried is the provider itself. */
const notThere =
  ({ provider }: TokenWish) =>
  (error: unknown): never => {
    const isElsewhere = error instanceof GitFailure && (error.kind === 'NOT_FOUND' || error.kind === 'MOVED');
    if (isElsewhere && provider !== GitVendorKind.GIT)
      throw new Invalid({ field: 'baseUrl', message: 'there is no such provider at this address' });
    throw error;
  };

function describe(provider: GitProvider, { avatarUrl, scopes, missingScopes, expiresAt }: Identity): void {
  const isExpiring = expiresAt !== null && expiresAt.getTime() - clock.now().getTime() < EXPIRING_WITHIN_MS;
  const sound = isExpiring ? GitProviderState.EXPIRING : GitProviderState.CONNECTED;
  const state = missingScopes.length > 0 ? GitProviderState.INSUFFICIENT_SCOPE : sound;
  Object.assign(provider, { avatarUrl, scopes, expiresAt, state, checkedAt: clock.now() });
}

/** What a look at an account came to, when it failed. A limit of theirs says nothing about the token. */
export function stateAfter(error: unknown): GitProviderState | undefined {
  if (!(error instanceof GitFailure)) return undefined;
  if (error.kind === 'TOKEN_REJECTED') return GitProviderState.REVOKED;
  if (error.kind === 'FORBIDDEN') return GitProviderState.INSUFFICIENT_SCOPE;
  return error.kind === 'RATE_LIMITED' ? undefined : GitProviderState.UNREACHABLE;
}

export { describe as describeIdentity };
