import type { Answer } from './answer.ts';
import {
  asPath,
  type Branch,
  byLatestPush,
  type GitAccount,
  type GitVendor,
  type Identity,
  type Listing,
  type RemoteRepository,
  splitScopes,
  VENDOR_PAGE,
} from './git-vendor.ts';
import { type JsonAnswer, JsonApi, type WayOut } from './json-api.ts';
import { type WebhookDialect, Webhooks } from './webhooks.ts';

const API = 'https://api.bitbucket.org/2.0';
/** How much of an account a search looks through. */
const SEARCHED_WORKSPACES = 20;
const SEARCHED_PAGES = 5;

/** bitbucket.org. With a username the token is an API token of that e-mail address, without one an access token. */
export class Bitbucket implements GitVendor {
  readonly defaultBaseUrl = 'https://bitbucket.org';
  readonly isSelfHosted = false;
  readonly webhooks: Webhooks;
  readonly #api: JsonApi;

  constructor(
    outbound: WayOut,
    private readonly apiUrl = API,
  ) {
    this.webhooks = new Webhooks(outbound, bitbucketWebhooks(apiUrl));
    this.#api = new JsonApi('Bitbucket', outbound);
  }

  async identify(account: GitAccount): Promise<Identity> {
    const { body, headers } = await this.#get(account, 'user');
    const scopes = splitScopes(headers.get('x-oauth-scopes'));
    const canRead = scopes.length === 0 || scopes.some(scope => /(^|:)repository(:|$)/.test(scope));
    const named = body.at('username').isAbsent ? body.at('nickname') : body.at('username');
    return {
      username: named.isAbsent ? (account.username ?? 'bitbucket') : named.name(),
      avatarUrl: body.at('links').at('avatar').isAbsent ? null : body.at('links').at('avatar').at('href').webAddress(),
      scopes,
      missingScopes: canRead ? [] : ['repository'],
      expiresAt: null,
    };
  }

  /** There is no list over all workspaces any more, so they are asked one by one and laid together. */
  async repositories(account: GitAccount, query: string | null, page: number): Promise<Listing<RemoteRepository>> {
    const { body } = await this.#get(account, 'user/workspaces', { pagelen: String(SEARCHED_WORKSPACES) });
    const slugs = body
      .at('values')
      .list()
      .map(each => each.at('workspace').at('slug').name());
    const found = (await Promise.all(slugs.map(slug => this.#inWorkspace(account, slug, query))))
      .flat()
      .sort(byLatestPush);
    const start = (page - 1) * VENDOR_PAGE;
    return { items: found.slice(start, start + VENDOR_PAGE), hasMore: found.length > start + VENDOR_PAGE };
  }

  async repository(account: GitAccount, repository: string): Promise<RemoteRepository> {
    const path = repository.startsWith('{') ? `%7B%7D/${encodeURIComponent(repository)}` : asPath(repository);
    return toRepository((await this.#get(account, `repositories/${path}`)).body);
  }

  async branches(account: GitAccount, repository: RemoteRepository, page: number): Promise<Listing<Branch>> {
    const path = `repositories/${asPath(repository.fullName)}/refs/branches`;
    const { body } = await this.#get(account, path, { pagelen: String(VENDOR_PAGE), page: String(page) });
    const items = body
      .at('values')
      .list()
      .map(branch => ({
        name: branch.at('name').name(),
        sha: branch.at('target').at('hash').name(),
        isDefault: branch.at('name').name() === repository.defaultBranch,
        isProtected: false,
      }));
    return { items, hasMore: !body.at('next').isAbsent };
  }

  /** The API wants the e-mail address of an API token, and git wants anything but that. */
  login({ token, username }: GitAccount) {
    if (token === null) return null;
    if (username?.includes('@')) return { username: 'x-bitbucket-api-token-auth', password: token };
    return { username: username ?? 'x-token-auth', password: token };
  }

  async #inWorkspace(account: GitAccount, slug: string, query: string | null): Promise<RemoteRepository[]> {
    const filter: Record<string, string> = query === null ? {} : { q: `full_name ~ "${query.replace(/["\\]/g, '')}"` };
    const wish = { role: 'member', sort: '-updated_on', pagelen: String(VENDOR_PAGE), ...filter };
    const found: RemoteRepository[] = [];
    for (let page = 1; page <= SEARCHED_PAGES; page += 1) {
      const path = `repositories/${encodeURIComponent(slug)}`;
      const { body } = await this.#get(account, path, { ...wish, page: String(page) });
      found.push(...body.at('values').list().map(toRepository));
      if (body.at('next').isAbsent) break;
    }
    return found;
  }

  #get(account: GitAccount, path: string, query: Record<string, string> = {}): Promise<JsonAnswer> {
    const url = new URL(`${this.apiUrl}/${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return this.#api.get(url, authorization(account));
  }
}

function authorization({ token, username }: GitAccount): string | null {
  if (token === null) return null;
  return username === null ? `Bearer ${token}` : `Basic ${Buffer.from(`${username}:${token}`).toString('base64')}`;
}

const bitbucketWebhooks = (apiUrl: string): WebhookDialect => ({
  vendor: 'Bitbucket',
  list: (_, { fullName }) => `${apiUrl}/repositories/${asPath(fullName)}/hooks`,
  page: { pagelen: '100' },
  authorization,
  in: body => body.at('values').list(),
  idOf: webhook => webhook.at('uuid').name(),
  urlOf: webhook => webhook.at('url').text(),
  describe: ({ url, secret }) => ({ description: 'Slipway', url, secret, active: true, events: ['repo:push'] }),
  updateBy: 'PUT',
});

const toRepository = (repository: Answer): RemoteRepository => ({
  id: repository.at('uuid').name(),
  fullName: repository.at('full_name').name(),
  isPrivate: repository.at('is_private').isTrue(),
  defaultBranch: repository.at('mainbranch').isAbsent ? null : repository.at('mainbranch').at('name').text(),
  cloneUrl: `https://bitbucket.org/${repository.at('full_name').name()}.git`,
  description: repository.at('description').text(),
  pushedAt: repository.at('updated_on').timestamp(),
});
