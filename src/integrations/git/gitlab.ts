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

const NEEDED_SCOPES = ['read_api', 'read_repository'];

interface GitLabProject {
  id: number;
  path_with_namespace: string;
  visibility: string;
  default_branch: string | null;
  http_url_to_repo: string;
  description: string | null;
  last_activity_at: string | null;
}

interface GitLabToken {
  scopes?: string[];
  expires_at?: string | null;
}

/** gitlab.com and self-hosted GitLab, by its own REST API. */
export class GitLab implements GitVendor {
  readonly defaultBaseUrl = 'https://gitlab.com';
  readonly #api: JsonApi;

  constructor(outbound: Outbound) {
    this.#api = new JsonApi('GitLab', outbound);
  }

  async identify(account: GitAccount): Promise<Identity> {
    const { body: user } = await this.#get<{ username: string; avatar_url: string | null }>(account, 'user');
    // Tokens of groups and projects cannot ask about themselves; then nothing is known of their scopes.
    const token = await this.#get<GitLabToken>(account, 'personal_access_tokens/self').then(
      ({ body }) => body,
      (): GitLabToken => ({}),
    );
    const scopes = token.scopes ?? [];
    const hasAll = scopes.length === 0 || scopes.includes('api');
    return {
      username: user.username,
      avatarUrl: user.avatar_url,
      scopes,
      missingScopes: hasAll ? [] : NEEDED_SCOPES.filter(scope => !scopes.includes(scope)),
      expiresAt: token.expires_at == null ? null : new Date(`${token.expires_at}T00:00:00Z`),
    };
  }

  async repositories(account: GitAccount, query: string | null, page: number): Promise<Listing<RemoteRepository>> {
    const search: Record<string, string> = query === null ? {} : { search: query, search_namespaces: 'true' };
    const order = { order_by: 'last_activity_at', sort: 'desc', per_page: String(VENDOR_PAGE), page: String(page) };
    const answer = await this.#get<GitLabProject[]>(account, 'projects', { membership: 'true', ...order, ...search });
    return { items: answer.body.map(toRepository), hasMore: hasNext(answer) };
  }

  async repository(account: GitAccount, repository: string): Promise<RemoteRepository> {
    return toRepository((await this.#get<GitLabProject>(account, `projects/${encodeURIComponent(repository)}`)).body);
  }

  async branches(account: GitAccount, { id }: RemoteRepository, page: number): Promise<Listing<Branch>> {
    type GitLabBranch = { name: string; commit: { id: string }; default: boolean; protected: boolean };
    const answer = await this.#get<GitLabBranch[]>(account, `projects/${encodeURIComponent(id)}/repository/branches`, {
      per_page: String(VENDOR_PAGE),
      page: String(page),
    });
    const items = answer.body.map(branch => ({
      name: branch.name,
      sha: branch.commit.id,
      isDefault: branch.default,
      isProtected: branch.protected,
    }));
    return { items, hasMore: hasNext(answer) };
  }

  login({ token }: GitAccount) {
    return token === null ? null : { username: 'oauth2', password: token };
  }

  #get<Body>(
    { baseUrl, token }: GitAccount,
    path: string,
    query: Record<string, string> = {},
  ): Promise<JsonAnswer<Body>> {
    const url = new URL(`${baseUrl}/api/v4/${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return this.#api.get<Body>(url, token === null ? null : `Bearer ${token}`);
  }
}

const hasNext = ({ headers }: JsonAnswer<unknown>): boolean => (headers.get('x-next-page') ?? '') !== '';

const toRepository = (project: GitLabProject): RemoteRepository => ({
  id: String(project.id),
  fullName: project.path_with_namespace,
  isPrivate: project.visibility !== 'public',
  defaultBranch: project.default_branch,
  cloneUrl: project.http_url_to_repo,
  description: project.description,
  pushedAt: project.last_activity_at === null ? null : new Date(project.last_activity_at).toISOString(),
});
