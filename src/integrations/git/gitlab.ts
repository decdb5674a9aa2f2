import { Answer } from './answer.ts';
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
import { type JsonAnswer, JsonApi, type WayOut } from './json-api.ts';
import { type WebhookDialect, Webhooks } from './webhooks.ts';

const NEEDED_SCOPES = ['read_api', 'read_repository'];

/** gitlab.com and self-hosted GitLab, by its own REST API. */
export class GitLab implements GitVendor {
  readonly defaultBaseUrl = 'https://gitlab.com';
  readonly isSelfHosted = true;
  readonly webhooks: Webhooks;
  readonly #api: JsonApi;

  constructor(outbound: WayOut) {
    this.webhooks = new Webhooks(outbound, gitlabWebhooks);
    this.#api = new JsonApi('GitLab', outbound);
  }

  async identify(account: GitAccount): Promise<Identity> {
    const { body: user } = await this.#get(account, 'user');
    const token = await this.#describeToken(account);
    const scopes = token.at('scopes').names();
    const hasAll = scopes.length === 0 || scopes.includes('api');
    return {
      username: user.at('username').name(),
      avatarUrl: user.at('avatar_url').webAddress(),
      scopes,
      missingScopes: hasAll ? [] : NEEDED_SCOPES.filter(scope => !scopes.includes(scope)),
      expiresAt: token.at('expires_at').moment(),
    };
  }

  async repositories(account: GitAccount, query: string | null, page: number): Promise<Listing<RemoteRepository>> {
    const search: Record<string, string> = query === null ? {} : { search: query, search_namespaces: 'true' };
    const order = { order_by: 'last_activity_at', sort: 'desc', per_page: String(VENDOR_PAGE), page: String(page) };
    const answer = await this.#get(account, 'projects', { membership: 'true', ...order, ...search });
    return { items: answer.body.list().map(toRepository), hasMore: hasNext(answer) };
  }

  async repository(account: GitAccount, repository: string): Promise<RemoteRepository> {
    return toRepository((await this.#get(account, `projects/${encodeURIComponent(repository)}`)).body);
  }

  async branches(account: GitAccount, { id }: RemoteRepository, page: number): Promise<Listing<Branch>> {
    const wish = { per_page: String(VENDOR_PAGE), page: String(page) };
    const answer = await this.#get(account, `projects/${encodeURIComponent(id)}/repository/branches`, wish);
    const items = answer.body.list().map(branch => ({
      name: branch.at('name').name(),
      sha: branch.at('commit').at('id').name(),
      isDefault: branch.at('default').isTrue(),
      isProtected: branch.at('protected').isTrue(),
    }));
    return { items, hasMore: hasNext(answer) };
  }

  login({ token }: GitAccount) {
    return token === null ? null : { username: 'oauth2', password: token };
  }

  /** Tokens of groups, of projects and of OAuth cannot ask about themselves; then nothing is known of their scopes. */
  async #describeToken(account: GitAccount): Promise<Answer> {
    try {
      return (await this.#get(account, 'personal_access_tokens/self')).body;
    } catch (error) {
      const isUnknown =
        error instanceof GitFailure && ['TOKEN_REJECTED', 'FORBIDDEN', 'NOT_FOUND'].includes(error.kind);
      if (!isUnknown) throw error;
      return new Answer('GitLab', {});
    }
  }

  #get(account: GitAccount, path: string, query: Record<string, string> = {}): Promise<JsonAnswer> {
    const url = new URL(`${account.baseUrl}/api/v4/${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return this.#api.get(url, authorization(account));
  }
}

const authorization = ({ token }: GitAccount): string | null => (token === null ? null : `Bearer ${token}`);

const gitlabWebhooks: WebhookDialect = {
  vendor: 'GitLab',
  list: ({ baseUrl }, { id }) => `${baseUrl}/api/v4/projects/${encodeURIComponent(id)}/hooks`,
  page: { per_page: '100' },
  authorization,
  in: body => body.list(),
  idOf: webhook => webhook.at('id').id(),
  urlOf: webhook => webhook.at('url').text(),
  describe: ({ url, secret }) => ({
    ...{ url, token: secret, push_events: true, tag_push_events: false },
    enable_ssl_verification: true,
  }),
  updateBy: 'PUT',
};

const hasNext = ({ headers }: JsonAnswer): boolean => (headers.get('x-next-page') ?? '') !== '';

const toRepository = (project: Answer): RemoteRepository => ({
  id: project.at('id').id(),
  fullName: project.at('path_with_namespace').name(),
  isPrivate: project.at('visibility').text() !== 'public',
  defaultBranch: project.at('default_branch').text(),
  cloneUrl: project.at('http_url_to_repo').name(),
  description: project.at('description').text(),
  pushedAt: project.at('last_activity_at').timestamp(),
});
