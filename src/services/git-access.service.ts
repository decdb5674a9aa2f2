import type { EntityManager } from '@mikro-orm/postgresql';
import { clock, SECOND } from '../clock.ts';
import type { Checkout, GitCheckouts, GitLogin } from '../engine/git-checkouts.ts';
import { GitProvider, GitVendorKind } from '../entities/git-provider.ts';
import { DomainError, Invalid, NotFound } from '../errors.ts';
import { GitFailure } from '../integrations/git/git-failure.ts';
import type { GitAccount, GitVendor, RemoteRepository } from '../integrations/git/git-vendor.ts';
import type { Vendors } from '../integrations/git/vendors.ts';
import type { Keyring } from '../security/keyring.ts';
import { isRepositoryName, parseRepositoryUrl } from '../security/repository-url.ts';

export interface Source {
  workspaceId: string;
  gitProviderId: string | null;
  repository: string;
  branch: string | null;
}

const NO_LOGIN: GitLogin = { username: null, password: null, privateKey: null };

/** Opens connected accounts for use. The only one who sees their tokens. */
export class GitAccessService {
  constructor(
    private readonly em: EntityManager,
    private readonly keyring: Keyring,
    private readonly vendors: Vendors,
    private readonly checkouts: GitCheckouts,
  ) {}

  vendor(kind: GitVendorKind): GitVendor {
    return this.vendors[kind];
  }

  open(provider: GitProvider): GitAccount {
    const token = provider.token === null ? null : this.keyring.open(provider.token, tokenPlace(provider.id));
    return { baseUrl: provider.baseUrl, token, username: provider.loginName };
  }

  async provider(workspaceId: string, id: string): Promise<GitProvider> {
    const provider = await this.em.fork().findOne(GitProvider, { id, workspaceId });
    if (provider === null) throw new NotFound('GitProvider');
    return provider;
  }

  async repository(provider: GitProvider, repository: string): Promise<RemoteRepository> {
    const isAddress = provider.provider === GitVendorKind.GIT;
    if (!isAddress && !isRepositoryName(repository) && !/^(\d{1,18}|\{[0-9a-f-]{36}\})$/.test(repository)) {
      throw new Invalid({ field: 'repository', message: "must be the repository's full name or id at the provider" });
    }
    return asDomain(this.vendor(provider.provider).repository(this.open(provider), repository));
  }

  /** The address to clone from and what to sign in with. */
  async locate({ workspaceId, gitProviderId, repository }: Source): Promise<{ url: string; login: GitLogin }> {
    if (gitProviderId === null) return { url: checkAddress(repository), login: NO_LOGIN };
    const provider = await this.provider(workspaceId, gitProviderId);
    const { cloneUrl } = await this.repository(provider, repository);
    return { url: cloneUrl, login: this.loginOf(provider) };
  }

  async clone(source: Source, signal?: AbortSignal): Promise<Checkout> {
    const { url, login } = await this.locate(source);
    return asDomain(this.checkouts.clone(url, source.branch, login, signal));
  }

  loginOf(provider: GitProvider): GitLogin {
    const account = this.open(provider);
    return accountLogin(this.vendor(provider.provider), account);
  }
}

export function accountLogin(vendor: GitVendor, account: GitAccount): GitLogin {
  const login = vendor.login(account);
  if (login) return { ...login, privateKey: null };
  return { ...NO_LOGIN, privateKey: account.token?.includes('PRIVATE KEY') ? account.token : null };
}

export const tokenPlace = (id: string) => ({ table: 'git_provider', row: id, column: 'token' });

function checkAddress(repository: string): string {
  const url = parseRepositoryUrl(repository);
  if (url?.protocol === 'https') return url.href;
  throw new Invalid({ field: 'repository', message: 'must be a public https address when no gitProviderId is given' });
}

/** What another system did to us, as our callers see it. */
export async function asDomain<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof GitFailure ? toDomainError(error) : error;
  }
}

function toDomainError({ kind, message, resetAt }: GitFailure): DomainError {
  if (kind === 'NOT_FOUND') return new DomainError('REPOSITORY_NOT_FOUND', message);
  if (kind === 'TOKEN_REJECTED' || kind === 'FORBIDDEN') return new DomainError('TOKEN_REJECTED', message);
  if (kind === 'REFUSED') return new Invalid({ field: 'repository', message });
  const waitMs = resetAt === null ? 0 : resetAt.getTime() - clock.now().getTime();
  return new DomainError(
    'UPSTREAM_FAILED',
    message,
    resetAt === null ? {} : { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / SECOND)) },
  );
}
