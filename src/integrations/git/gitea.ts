import type { Outbound } from '../../security/outbound.ts';
import {
  type Branch,
  type GitAccount,
  type GitVendor,
  type Identity,
  type Listing,
  type RemoteRepository,
  VENDOR_PAGE,
} from './git-vendor.ts';
import { type JsonAnswer, JsonApi } from './json-api.ts';

/** Gitea gives at most 50 in a page; two of its pages make one of ours. */
const OWN_PAGE = 50;
const SEARCHED_PAGES = 20;

interface GiteaRepository {
  id: number;
  full_name: string;
  private: boolean;
  default_branch: string;
  clone_url: string;
  description: string;
  updated_at: string;
}

/** Gitea and Forgejo, wherever they run. */
export class Gitea implements GitVendor {
  readonly defaultBaseUrl = null;
  readonly #api: JsonApi;

  constructor(outbound: Outbound) {
    this.#api = new JsonApi('Gitea', outbound);
  }

  async identify(account: GitAccount): Promise<Identity> {
    const { body } = await this.#get<{ login: string; avatar_url: string | null }>(account, 'user');
    return { username: body.login, avatarUrl: body.avatar_url, scopes: [], missingScopes: [], expiresAt: null };
  }

  /** Its list of one's own repositories takes no search, so the search is ours. */
  async repositories(account: GitAccount, query: string | null, page: number): Promise<Listing<RemoteRepository>> {
    const found: RemoteRepository[] = [];
    for (let at = 1; at <= SEARCHED_PAGES; at += 1) {
      const path = { limit: String(OWN_PAGE), page: String(at) };
      const { body } = await this.#get<GiteaRepository[]>(account, 'user/repos', path);
      found.push(
        ...body.map(toRepository).filter(({ fullName }) => fullName.toLowerCase().includes(query?.toLowerCase() ?? '')),
      );
      if (body.length < OWN_PAGE) break;
    }
    found.sort((a, b) => ((a.pushedAt ?? '') < (b.pushedAt ?? '') ? 1 : -1));
    const start = (page - 1) * VENDOR_PAGE;
    return { items: found.slice(start, start + VENDOR_PAGE), hasMore: found.length > start + VENDOR_PAGE };
  }

  async repository(account: GitAccount, repository: string): Promise<RemoteRepository> {
    const path = /^\d+$/.test(repository)
      ? `repositories/${repository}`
      : `repos/${repository.split('/').map(encodeURIComponent).join('/')}`;
    return toRepository((await this.#get<GiteaRepository>(account, path)).body);
  }

  async branches(account: GitAccount, repository: RemoteRepository, page: number): Promise<Listing<Branch>> {
    const path = `repos/${repository.fullName.split('/').map(encodeURIComponent).join('/')}/branches`;
    const ask = (at: number) =>
      this.#get<{ name: string; commit: { id: string }; protected: boolean }[]>(account, path, {
        limit: String(OWN_PAGE),
        page: String(at),
      });
    const [first, second] = [await ask(page * 2 - 1), await ask(page * 2)];
    const items = [...first.body, ...second.body].map(({ name, commit, protected: isProtected }) => ({
      name,
      sha: commit.id,
      isDefault: name === repository.defaultBranch,
      isProtected,
    }));
    return { items, hasMore: second.body.length === OWN_PAGE };
  }

  login({ token, username }: GitAccount) {
    return token === null ? null : { username: username ?? 'slipway', password: token };
  }

  #get<Body>(
    { baseUrl, token }: GitAccount,
    path: string,
    query: Record<string, string> = {},
  ): Promise<JsonAnswer<Body>> {
    const url = new URL(`${baseUrl}/api/v1/${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return this.#api.get<Body>(url, token === null ? null : `token ${token}`);
  }
}

const toRepository = (repository: GiteaRepository): RemoteRepository => ({
  id: String(repository.id),
  fullName: repository.full_name,
  isPrivate: repository.private,
  defaultBranch: repository.default_branch || null,
  cloneUrl: repository.clone_url,
  description: repository.description || null,
  pushedAt: new Date(repository.updated_at).toISOString(),
});
