import type { Octokit as OctokitClient } from '@octokit/rest';
import { clock, fromNow } from '../../clock.ts';
import { Answer } from './answer.ts';
import { failureOf, limited, USUAL_WAIT_MS } from './git-failure.ts';
import {
  asPath,
  type Branch,
  type GitAccount,
  type GitVendor,
  type Identity,
  type Listing,
  type RemoteRepository,
  splitScopes,
  VENDOR_PAGE,
} from './git-vendor.ts';
import { unreachable, type WayOut } from './json-api.ts';
import { type WebhookDialect, Webhooks } from './webhooks.ts';

/** How many pages of an account's repositories a search looks through: GitHub's own search does not see private ones reliably. */
const SEARCHED_PAGES = 10;
const NEEDED_SCOPES = ['repo'];

type Headers = Readonly<Record<string, string | number | undefined>>;

interface Called {
  status: number;
  data: unknown;
  headers: Headers;
}

/** github.com and GitHub Enterprise, by GitHub's own client. */
export class GitHub implements GitVendor {
  readonly defaultBaseUrl = 'https://github.com';
  readonly isSelfHosted = true;
  readonly webhooks: Webhooks;

  constructor(private readonly outbound: WayOut) {
    this.webhooks = new Webhooks(outbound, githubWebhooks);
  }

  async identify(account: GitAccount): Promise<Identity> {
    const { data, headers } = await this.#call(account, client => client.users.getAuthenticated());
    const scopes = splitScopes(headers['x-oauth-scopes']);
    return {
      username: data.at('login').name(),
      avatarUrl: data.at('avatar_url').webAddress(),
      scopes,
      // Fine-grained tokens name no scopes at all; what they may do shows when they do it.
      missingScopes: scopes.length === 0 ? [] : NEEDED_SCOPES.filter(scope => !scopes.includes(scope)),
      expiresAt: readExpiry(headers['github-authentication-token-expiration']),
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
    return toRepository(data);
  }

  async branches(account: GitAccount, repository: RemoteRepository, page: number): Promise<Listing<Branch>> {
    const { data } = await this.#call(account, client =>
      client.repos.listBranches({ ...splitName(repository.fullName), per_page: VENDOR_PAGE, page }),
    );
    const items = data.list().map(branch => ({
      name: branch.at('name').name(),
      sha: branch.at('commit').at('sha').name(),
      isDefault: branch.at('name').name() === repository.defaultBranch,
      isProtected: branch.at('protected').isTrue(),
    }));
    return { items, hasMore: items.length === VENDOR_PAGE };
  }

  login({ token }: GitAccount) {
    return token === null ? null : { username: 'x-access-token', password: token };
  }

  async #page(account: GitAccount, page: number): Promise<Listing<RemoteRepository>> {
    const { data } = await this.#call(account, client =>
      client.repos.listForAuthenticatedUser({ sort: 'pushed', direction: 'desc', per_page: VENDOR_PAGE, page }),
    );
    const items = data.list().map(toRepository);
    return { items, hasMore: items.length === VENDOR_PAGE };
  }

  async #call(
    { baseUrl, token }: GitAccount,
    ask: (client: OctokitClient) => Promise<Called>,
  ): Promise<{ data: Answer; headers: Headers }> {
    // Loaded when somebody uses GitHub: the client knows a thousand routes and is nobody's idle memory.
    const { Octokit } = await import('@octokit/rest');
    const client = new Octokit({
      ...(token === null ? {} : { auth: token }),
      baseUrl: apiOf(baseUrl),
      request: { fetch: this.outbound.fetch },
      log: quiet,
      userAgent: 'slipway',
    });
    const { status, data, headers } = await ask(client).catch((error: unknown) => {
      throw explain(error);
    });
    // To the client a redirect that was not followed is a success.
    if (status >= 300) throw failureOf('GitHub', status, reading(headers), clock.now());
    return { data: new Answer('GitHub', data), headers };
  }
}

const apiOf = (baseUrl: string): string =>
  baseUrl === 'https://github.com' ? 'https://api.github.com' : `${baseUrl}/api/v3`;

const githubWebhooks: WebhookDialect = {
  vendor: 'GitHub',
  list: ({ baseUrl }, { fullName }) => `${apiOf(baseUrl)}/repos/${asPath(fullName)}/hooks`,
  page: { per_page: '100' },
  authorization: ({ token }) => (token === null ? null : `Bearer ${token}`),
  in: body => body.list(),
  idOf: webhook => webhook.at('id').id(),
  urlOf: webhook => webhook.at('config').at('url').text(),
  describe: ({ url, secret }) => ({
    ...{ name: 'web', active: true, events: ['push'] },
    config: { url, secret, content_type: 'json', insecure_ssl: '0' },
  }),
  updateBy: 'PATCH',
};

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

const reading = (headers: Headers) => ({
  get: (name: string) => (headers[name] === undefined ? null : String(headers[name])),
});

/** GitHub's second kind of limit is told in the text alone. */
function explain(error: unknown): Error {
  const { status, response } = error as { status?: number; response?: { headers: Headers; data?: unknown } };
  if (typeof status !== 'number' || response === undefined) return unreachable('GitHub', error);
  const failure = failureOf('GitHub', status, reading(response.headers), clock.now());
  const isLimit = failure.kind === 'FORBIDDEN' && /rate limit/i.test(JSON.stringify(response.data ?? ''));
  return isLimit ? limited('GitHub', fromNow(USUAL_WAIT_MS)) : failure;
}

/** "2026-12-01 09:30:00 UTC", or with "+0200" at the end. */
function readExpiry(header: unknown): Date | null {
  const [, day, time, zone] = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) (UTC|[+-]\d{4})$/.exec(String(header)) ?? [];
  if (day === undefined) return null;
  const at = new Date(`${day}T${time}${zone === 'UTC' ? 'Z' : zone?.replace(/(\d\d)$/, ':$1')}`);
  return Number.isNaN(at.getTime()) ? null : at;
}

function splitName(fullName: string): { owner: string; repo: string } {
  const [owner = '', repo = ''] = fullName.split('/');
  return { owner, repo };
}

const toRepository = (repo: Answer): RemoteRepository => ({
  id: repo.at('id').id(),
  fullName: repo.at('full_name').name(),
  isPrivate: repo.at('private').isTrue(),
  defaultBranch: repo.at('default_branch').text(),
  cloneUrl: repo.at('clone_url').text() ?? `https://github.com/${repo.at('full_name').name()}.git`,
  description: repo.at('description').text(),
  pushedAt: repo.at('pushed_at').timestamp(),
});
