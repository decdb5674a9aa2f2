import type { Octokit as OctokitClient } from '@octokit/rest';
import { clock } from '../../clock.ts';
import type { Outbound } from '../../security/outbound.ts';
import { failureOf } from './git-failure.ts';
import {
  type Branch,
  type GitAccount,
  type GitVendor,
  type Identity,
  type Listing,
  type RemoteRepository,
  VENDOR_PAGE,
} from './git-vendor.ts';
import { unreachable } from './json-api.ts';

/** How many pages of an account's repositories a search looks through: GitHub's own search does not see private ones reliably. */
const SEARCHED_PAGES = 10;
const NEEDED_SCOPES = ['repo'];

type Repo = Awaited<ReturnType<OctokitClient['repos']['listForAuthenticatedUser']>>['data'][number];

/** github.com and GitHub Enterprise, by GitHub's own client. */
export class GitHub implements GitVendor {
  readonly defaultBaseUrl = 'https://github.com';

  constructor(private readonly outbound: Outbound) {}

  async identify(account: GitAccount): Promise<Identity> {
    const { data, headers } = await this.#call(account, client => client.users.getAuthenticated());
    const scopes = splitScopes(headers['x-oauth-scopes']);
    const expiry = headers['github-authentication-token-expiration'];
    return {
      username: data.login,
      avatarUrl: data.avatar_url ?? null,
      scopes,
      // Fine-grained tokens name no scopes at all; what they may do shows when they do it.
      missingScopes: scopes.length === 0 ? [] : NEEDED_SCOPES.filter(scope => !scopes.includes(scope)),
      expiresAt: typeof expiry === 'string' ? new Date(expiry.replace(' UTC', 'Z').replace(' ', 'T')) : null,
    };
  }

  async repositories(account: GitAccount, query: string | null, page: number): Promise<Listing<RemoteRepository>> {
    if (query === null) return this.#page(account, page);
    const found: RemoteRepository[] = [];
    for (let at = 1; at <= SEARCHED_PAGES; at += 1) {
      const { items, hasMore } = await this.#page(account, at);
      found.push(...items.filter(({ fullName }) => fullName.toLowerCase().includes(query.toLowerCase())));
      if (!hasMore) break;
    }
    const start = (page - 1) * VENDOR_PAGE;
    return { items: found.slice(start, start + VENDOR_PAGE), hasMore: found.length > start + VENDOR_PAGE };
  }

  async repository(account: GitAccount, repository: string): Promise<RemoteRepository> {
    const { data } = await this.#call(account, client =>
      /^\d+$/.test(repository)
        ? client.request('GET /repositories/{id}', { id: Number(repository) })
        : client.repos.get(splitName(repository)),
    );
    return toRepository(data as Repo);
  }

  async branches(account: GitAccount, repository: RemoteRepository, page: number): Promise<Listing<Branch>> {
    const { data } = await this.#call(account, client =>
      client.repos.listBranches({ ...splitName(repository.fullName), per_page: VENDOR_PAGE, page }),
    );
    const items = data.map(({ name, commit, protected: isProtected }) => ({
      name,
      sha: commit.sha,
      isDefault: name === repository.defaultBranch,
      isProtected,
    }));
    return { items, hasMore: data.length === VENDOR_PAGE };
  }

  login({ token }: GitAccount) {
    return token === null ? null : { username: 'x-access-token', password: token };
  }

  async #page(account: GitAccount, page: number): Promise<Listing<RemoteRepository>> {
    const { data } = await this.#call(account, client =>
      client.repos.listForAuthenticatedUser({ sort: 'pushed', direction: 'desc', per_page: VENDOR_PAGE, page }),
    );
    return { items: data.map(toRepository), hasMore: data.length === VENDOR_PAGE };
  }

  async #call<Answer>(
    { baseUrl, token }: GitAccount,
    ask: (client: OctokitClient) => Promise<Answer>,
  ): Promise<Answer> {
    // Loaded when somebody uses GitHub: the client knows a thousand routes and is nobody's idle memory.
    const { Octokit } = await import('@octokit/rest');
    const apiUrl = baseUrl === this.defaultBaseUrl ? 'https://api.github.com' : `${baseUrl}/api/v3`;
    const request = { fetch: this.outbound.fetch };
    const client = new Octokit({
      ...(token === null ? {} : { auth: token }),
      baseUrl: apiUrl,
      request,
      log: quiet,
      userAgent: 'slipway',
    });
    try {
      return await ask(client);
    } catch (error) {
      const { status, response } = error as {
        status?: number;
        response?: { headers: Record<string, string | undefined> };
      };
      if (typeof status !== 'number' || response === undefined) throw unreachable('GitHub', error);
      throw failureOf('GitHub', status, { get: name => response.headers[name] ?? null }, clock.now());
    }
  }
}

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

const splitScopes = (header: unknown): string[] =>
  typeof header === 'string'
    ? header
        .split(',')
        .map(scope => scope.trim())
        .filter(scope => scope !== '')
    : [];

function splitName(fullName: string): { owner: string; repo: string } {
  const [owner = '', repo = ''] = fullName.split('/');
  return { owner, repo };
}

const toRepository = (repo: Repo): RemoteRepository => ({
  id: String(repo.id),
  fullName: repo.full_name,
  isPrivate: repo.private,
  defaultBranch: repo.default_branch ?? null,
  cloneUrl: repo.clone_url ?? `https://github.com/${repo.full_name}.git`,
  description: repo.description ?? null,
  pushedAt: repo.pushed_at === null || repo.pushed_at === undefined ? null : new Date(repo.pushed_at).toISOString(),
});
