import { parseRepositoryUrl, type RepositoryUrl, siblingOf } from '../../security/repository-url.ts';
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
  readonly isSelfHosted = true;
  readonly webhooks = null;

  constructor(private readonly listRefs: ListRefs) {}

  /** `baseUrl` is a repository of the account's: what cannot list its branches cannot be cloned. */
  async identify(account: GitAccount): Promise<Identity> {
    const { user, host } = addressOf(account.baseUrl);
    await this.listRefs(account.baseUrl, account);
    const username = account.username ?? user ?? host;
    return { username, avatarUrl: null, scopes: [], missingScopes: [], expiresAt: null };
  }

  async repositories(account: GitAccount, query: string | null): Promise<Listing<RemoteRepository>> {
    const repository = await this.repository(account, account.baseUrl);
    const isMeant = query === null || repository.fullName.toLowerCase().includes(query.toLowerCase());
    return { items: isMeant ? [repository] : [], hasMore: false };
  }

  /** The credential of an account goes to the account's own server and to no other. */
  async repository(account: GitAccount, repository: string): Promise<RemoteRepository> {
    const url = siblingOf(addressOf(account.baseUrl), repository);
    if (url === undefined) throw new GitFailure('NOT_FOUND', 'That is no repository on the server of the account');
    const { defaultBranch } = await this.listRefs(url.href, account);
    return {
      id: url.href,
      fullName: url.path.replace(/^\/+|\.git$/g, ''),
      isPrivate: account.token !== null,
      defaultBranch,
      cloneUrl: url.href,
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

function addressOf(baseUrl: string): RepositoryUrl {
  const url = parseRepositoryUrl(baseUrl);
  if (url === undefined) throw new GitFailure('REFUSED', 'The address of the account is none of a repository');
  return url;
}
