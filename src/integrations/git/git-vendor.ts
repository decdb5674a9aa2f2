import type { Webhooks } from './webhooks.ts';

/** A connected account, opened for one use. */
export interface GitAccount {
  baseUrl: string;
  token: string | null;
  username: string | null;
}

export interface Identity {
  username: string;
  avatarUrl: string | null;
  scopes: string[];
  /** What is missing of what we need, in the vendor's own words. */
  missingScopes: string[];
  expiresAt: Date | null;
}

export interface RemoteRepository {
  id: string;
  fullName: string;
  isPrivate: boolean;
  defaultBranch: string | null;
  cloneUrl: string;
  description: string | null;
  pushedAt: string | null;
}

export interface Branch {
  name: string;
  sha: string;
  isDefault: boolean;
  isProtected: boolean;
}

export interface Listing<Item> {
  items: Item[];
  hasMore: boolean;
}

/** How many a vendor gives in one page, for all of them: the cursor of a search counts in these. */
export const VENDOR_PAGE = 100;

/** One file per vendor behind this. Pages count from 1; repositories come with the latest push first. */
export interface GitVendor {
  readonly defaultBaseUrl: string | null;
  /** Whether it may be anywhere else than at its default address. */
  readonly isSelfHosted: boolean;
  identify(account: GitAccount): Promise<Identity>;
  repositories(account: GitAccount, query: string | null, page: number): Promise<Listing<RemoteRepository>>;
  /** `repository` is the vendor's id or the full name. */
  repository(account: GitAccount, repository: string): Promise<RemoteRepository>;
  branches(account: GitAccount, repository: RemoteRepository, page: number): Promise<Listing<Branch>>;
  /** How it is told to call us; null where there is nobody to tell. */
  readonly webhooks: Webhooks | null;
  /** What git itself signs in with over https. */
  login(account: GitAccount): { username: string; password: string } | null;
}

/** Scopes as GitHub and Bitbucket tell them in a header. */
export const splitScopes = (header: unknown): string[] =>
  typeof header === 'string'
    ? header
        .split(',')
        .map(scope => scope.trim())
        .filter(scope => scope !== '')
        .slice(0, 100)
    : [];

/** A full name as a path of an address. */
export const asPath = (fullName: string): string => fullName.split('/').map(encodeURIComponent).join('/');

/** The order of every list. Where two are alike, or not known, theirs stays. */
export const byLatestPush = (a: RemoteRepository, b: RemoteRepository): number =>
  (b.pushedAt ?? '') > (a.pushedAt ?? '') ? 1 : (b.pushedAt ?? '') < (a.pushedAt ?? '') ? -1 : 0;
