import type { EntityManager } from '@mikro-orm/postgresql';
import { LRUCache } from 'lru-cache';
import { clock, SECOND } from '../clock.ts';
import { DeployFailure } from '../engine/deploy/deploy-failure.ts';
import type { Checkout, GitCheckouts } from '../engine/git-checkouts.ts';
import { type GitLogin, NO_LOGIN } from '../engine/git-sessions.ts';
import type { Source as CheckedOut, SourceCheckouts } from '../engine/source/source-checkouts.ts';
import { GitProvider, GitVendorKind } from '../entities/git-provider.ts';
import { DomainError, type ErrorCode, Invalid, NotFound, printableName } from '../errors.ts';
import { GitFailure, type GitFailureKind } from '../integrations/git/git-failure.ts';
import type { GitAccount, GitVendor, RemoteRepository } from '../integrations/git/git-vendor.ts';
import type { RemoteRefs } from '../integrations/git/plain-git.ts';
import type { Vendors } from '../integrations/git/vendors.ts';
import type { Keyring } from '../security/keyring.ts';
import { isRepositoryName, parseRepositoryUrl } from '../security/repository-url.ts';

export interface Source {
  workspaceId: string;
  gitProviderId: string | null;
  repository: string;
  branch: string | null;
}

export interface WantedSource {
  /** Null for the default one. */
  branch: string | null;
  /** Null for the newest of the branch. */
  commit: string | null;
  onLine?: (line: string) => void;
}

/** Opens connected accounts for use. The only one who sees their tokens. */
export class GitAccessService {
  readonly #waits = new LRUCache<string, GitFailure>({ max: 10_000 });

  constructor(
    private readonly em: EntityManager,
    private readonly keyring: Keyring,
    private readonly vendors: Vendors,
    private readonly checkouts: GitCheckouts,
    private readonly sources: SourceCheckouts,
  ) {}

  vendor(kind: GitVendorKind): GitVendor {
    return this.vendors[kind];
  }

  /** Asks an account's provider. One that told us to wait is left alone until then. */
  async ask<Result>(
    provider: GitProvider,
    call: (vendor: GitVendor, account: GitAccount) => Promise<Result>,
  ): Promise<Result> {
    const key = `${provider.id}:${provider.version}`;
    const wait = this.#waits.get(key);
    if (wait?.resetAt != null && wait.resetAt > clock.now()) throw wait;
    this.#waits.delete(key);
    try {
      return await call(this.vendor(provider.provider), this.open(provider));
    } catch (error) {
      if (error instanceof GitFailure && error.resetAt !== null) this.#waits.set(key, error);
      throw error;
    }
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
    checkName(provider.provider, repository);
    return asDomain(this.ask(provider, (vendor, account) => vendor.repository(account, repository)));
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

  /** All that is built of, on this machine. Fails as a deployment does. */
  async checkOut(source: Source, wanted: WantedSource, signal: AbortSignal): Promise<CheckedOut> {
    const { branch, commit, onLine } = wanted;
    const { url, login } = await this.locate(source).catch(error => {
      throw deployFailure(error);
    });
    return this.sources.checkOut({ url, login, branch, commit, signal, onLine: onLine ?? (() => undefined) });
  }

  /** The newest commit of the branch; of the default one where none is named. */
  async newestCommit(source: Source): Promise<string> {
    const { defaultBranch, branches } = await this.refs(source);
    const wanted = source.branch ?? defaultBranch;
    const found = branches.find(({ name }) => name === wanted);
    if (found === undefined)
      throw new DomainError(
        'BRANCH_NOT_FOUND',
        `There is no branch ${printableName(wanted ?? 'HEAD')} in the repository`,
      );
    return found.sha;
  }

  /** The branches of a repository with their newest commits, as git lists them. */
  async refs(source: Source): Promise<RemoteRefs> {
    const { url, login } = await this.locate(source);
    return asDomain(this.checkouts.listRefs(url, login));
  }

  async defaultBranch(source: Source): Promise<string | null> {
    if (source.gitProviderId === null) return (await this.refs(source)).defaultBranch;
    const provider = await this.provider(source.workspaceId, source.gitProviderId);
    return (await this.repository(provider, source.repository)).defaultBranch;
  }

  loginOf(provider: GitProvider): GitLogin {
    const account = this.open(provider);
    return accountLogin(this.vendor(provider.provider), account);
  }
}

export function accountLogin(vendor: GitVendor, account: GitAccount): GitLogin {
  const login = vendor.login(account);
  if (login) return { ...login, privateKey: null };
  const privateKey = account.token?.includes('PRIVATE KEY') ? account.token : null;
  return { ...NO_LOGIN, username: account.username, privateKey };
}

export const tokenPlace = (id: string) => ({ table: 'git_provider', row: id, column: 'token' });

/** Refuses what cannot be a repository at such a provider; null is a public address. */
export function checkName(kind: GitVendorKind | null, repository: string): void {
  if (kind === null) checkAddress(repository);
  const isName = isRepositoryName(repository) || /^(\d{1,18}|\{[0-9a-f-]{36}\})$/.test(repository);
  if (kind === null || kind === GitVendorKind.GIT || isName) return;
  throw new Invalid({ field: 'repository', message: "must be the repository's full name or id at the provider" });
}

function checkAddress(repository: string): string {
  const url = parseRepositoryUrl(repository);
  if (url?.protocol === 'https') return url.href;
  throw new Invalid({ field: 'repository', message: 'must be a public https address when no gitProviderId is given' });
}

/** What another system did to us, as our callers see it. `field` is where they named that system. */
export async function asDomain<Result>(work: Promise<Result>, field = 'repository'): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof GitFailure ? toDomainError(error, field) : error;
  }
}

function toDomainError({ kind, message, resetAt }: GitFailure, field: string): DomainError {
  if (kind === 'REFUSED') return new Invalid({ field, message });
  const waitMs = resetAt === null ? 0 : resetAt.getTime() - clock.now().getTime();
  const details = resetAt === null ? {} : { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / SECOND)) };
  return new DomainError(CODES[kind] ?? 'UPSTREAM_FAILED', message, details);
}

const CODES: { readonly [Kind in GitFailureKind]?: ErrorCode } = {
  NOT_FOUND: 'REPOSITORY_NOT_FOUND',
  MOVED: 'REPOSITORY_NOT_FOUND',
  NO_BRANCH: 'BRANCH_NOT_FOUND',
  TOO_LARGE: 'REPOSITORY_TOO_LARGE',
  TOKEN_REJECTED: 'TOKEN_REJECTED',
  FORBIDDEN: 'TOKEN_REJECTED',
};

/** The same, where a deployment asked. */
function deployFailure(error: unknown): unknown {
  if (!(error instanceof DomainError)) return error;
  const isRefused = error.code === 'TOKEN_REJECTED' || error instanceof NotFound;
  const message =
    error instanceof NotFound ? 'The Git account of the project is not connected any more' : error.message;
  return isRefused
    ? new DeployFailure('CLONE_AUTH', message, 'Connect the account again, or save a new token for it, then deploy.')
    : new DeployFailure('CLONE_FAILED', message, 'Check the repository and the Git account of the project.');
}
