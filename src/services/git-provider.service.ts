import { clock, DAY } from '../clock.ts';
import type { Page, Row } from '../database/rows.ts';
import { GitProvider, GitProviderState, GitVendorKind } from '../entities/git-provider.ts';
import { Project } from '../entities/project.ts';
import { DomainError, Invalid } from '../errors.ts';
import { GitFailure } from '../integrations/git/git-failure.ts';
import type { Branch, GitAccount, Identity } from '../integrations/git/git-vendor.ts';
import { VENDOR_PAGE } from '../integrations/git/git-vendor.ts';
import type { Keyring } from '../security/keyring.ts';
import { parseRepositoryUrl } from '../security/repository-url.ts';
import { asDomain, type GitAccessService, tokenPlace } from './git-access.service.ts';
import type { Scope } from './scope.ts';

export interface TokenWish {
  provider: GitVendorKind;
  token?: string | null;
  baseUrl?: string | null;
  username?: string | null;
  label?: string | null;
}

const EXPIRING_WITHIN_MS = 14 * DAY;

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
    const account = this.#account(wish);
    const identity = await asDomain(this.access.vendor(wish.provider).identify(account));
    return scope.transact(async unit => {
      const { workspaceId } = scope.viewer;
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
        this.access.vendor(provider.provider).branches(this.access.open(provider), repository, page),
      );
      branches.push(...listing.items);
      const start = after == null ? 0 : branches.findIndex(({ name }) => name === after) + 1;
      const isEnough = (after == null || start > 0) && branches.length > start + limit;
      if (!listing.hasMore || isEnough || page * VENDOR_PAGE >= 10_000)
        return this.#pageOf(scope, branches, start, limit);
    }
  }

  async delete(scope: Scope, id: string, force: boolean, ifVersion?: number | null): Promise<{ id: string }> {
    return scope.transact(async unit => {
      const provider = await scope.load(unit, GitProvider, id, ifVersion);
      const users = await unit.em.find(
        Project,
        { workspaceId: scope.viewer.workspaceId, gitProviderId: id },
        { limit: 20 },
      );
      if (users.length > 0 && !force) {
        const usedBy = users.map(({ name }) => name);
        throw new DomainError('IN_USE', `Projects are read with this account: ${usedBy.join(', ')}; use force=true`, {
          usedBy,
        });
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

  #account({ provider, token, baseUrl, username }: TokenWish): GitAccount {
    const base = baseUrl ?? this.access.vendor(provider).defaultBaseUrl;
    if (base === null) throw new Invalid({ field: 'baseUrl', message: 'is required for this provider' });
    const isGit = provider === GitVendorKind.GIT;
    if (!isGit && token == null) throw new Invalid({ field: 'token', message: 'is required for this provider' });
    if (isGit && parseRepositoryUrl(base) === undefined) {
      throw new Invalid({
        field: 'baseUrl',
        message: 'must be the address of a repository of the account, by https or ssh',
      });
    }
    return {
      baseUrl: isGit ? (parseRepositoryUrl(base)?.href ?? base) : base.replace(/\/+$/, ''),
      token: token ?? null,
      username: username ?? null,
    };
  }
}

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
