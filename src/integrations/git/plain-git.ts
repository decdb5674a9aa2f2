import { GitFailure } from './git-failure.ts';
import {
  type Branch,
  type GitAccount,
  type GitVendor,
  type Identity,
  type Listing,
  type RemoteRepository,
  VENDOR_PAGE,
} from './git-vendor.ts';

export interface RemoteRefs {
  defaultBranch: string | null;
  branches: { name: string; sha: string }[];
}

/** Asks a repository for its branches with git itself. */
export type ListRefs = (url: string, account: GitAccount) => Promise<RemoteRefs>;

/** Any Git server, by https or ssh. There is nobody to ask for a list: a repository is named by its address. */
export class PlainGit implements GitVendor {
  readonly defaultBaseUrl = null;

  constructor(private readonly listRefs: ListRefs) {}

  /** `baseUrl` is a repository of the account's: what cannot list its branches cannot be cloned. */
  async identify(account: GitAccount): Promise<Identity> {
    await this.listRefs(account.baseUrl, account);
    return {
      username: account.username ?? new URL(account.baseUrl).hostname,
      avatarUrl: null,
      scopes: [],
      missingScopes: [],
      expiresAt: null,
    };
  }

  async repositories(account: GitAccount, query: string | null): Promise<Listing<RemoteRepository>> {
    const repository = await this.repository(account, account.baseUrl);
    const isMeant = query === null || repository.fullName.toLowerCase().includes(query.toLowerCase());
    return { items: isMeant ? [repository] : [], hasMore: false };
  }

  async repository(account: GitAccount, repository: string): Promise<RemoteRepository> {
    const url = repositoryUrl(account, repository);
    const { defaultBranch } = await this.listRefs(url, account);
    const fullName = new URL(url).pathname.replace(/^\/|\.git$/g, '');
    return {
      id: url,
      fullName,
      isPrivate: account.token !== null,
      defaultBranch,
      cloneUrl: url,
      description: null,
      pushedAt: null,
    };
  }

  async branches(account: GitAccount, { cloneUrl }: RemoteRepository, page: number): Promise<Listing<Branch>> {
    const { branches, defaultBranch } = await this.listRefs(cloneUrl, account);
    const start = (page - 1) * VENDOR_PAGE;
    const items = branches
      .slice(start, start + VENDOR_PAGE)
      .map(({ name, sha }) => ({ name, sha, isDefault: name === defaultBranch, isProtected: false }));
    return { items, hasMore: branches.length > start + VENDOR_PAGE };
  }

  login({ token, username }: GitAccount) {
    return token === null || token.includes('PRIVATE KEY') ? null : { username: username ?? 'git', password: token };
  }
}

/** The credential of an account goes to the account's own server and to no other. */
function repositoryUrl(account: GitAccount, repository: string): string {
  const base = new URL(account.baseUrl);
  const url = URL.canParse(repository) ? new URL(repository) : new URL(`/${repository}`, base);
  if (url.host === base.host && url.protocol === base.protocol) return url.href;
  throw new GitFailure('NOT_FOUND', 'That repository is on another server than the account');
}
