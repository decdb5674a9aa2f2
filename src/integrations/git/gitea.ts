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
  VENDOR_PAGE,
} from './git-vendor.ts';
import { type JsonAnswer, JsonApi, type WayOut } from './json-api.ts';
import { type WebhookDialect, Webhooks } from './webhooks.ts';

/** Gitea gives at most 50 in a page unless its operator says less; two of its pages make one of ours. */
const OWN_PAGE = 50;
const SEARCHED_PAGES = 20;

/** Gitea and Forgejo, wherever they run. */
export class Gitea implements GitVendor {
  readonly defaultBaseUrl = null;
  readonly isSelfHosted = true;
  readonly webhooks: Webhooks;
  readonly #api: JsonApi;

  constructor(outbound: WayOut) {
    this.webhooks = new Webhooks(outbound, giteaWebhooks);
    this.#api = new JsonApi('Gitea', outbound);
  }

  async identify(account: GitAccount): Promise<Identity> {
    const { body } = await this.#get(account, 'user');
    const avatarUrl = body.at('avatar_url').webAddress();
    return { username: body.at('login').name(), avatarUrl, scopes: [], missingScopes: [], expiresAt: null };
  }

  /** Its list of one's own repositories takes no search, so the search is ours. */
  async repositories(account: GitAccount, query: string | null, page: number): Promise<Listing<RemoteRepository>> {
    const found: RemoteRepository[] = [];
    for (let at = 1; at <= SEARCHED_PAGES; at += 1) {
      const { items, hasMore } = await this.#page(account, 'user/repos', at);
      found.push(...items.map(toRepository));
      if (!hasMore) break;
    }
    const wanted = query?.toLowerCase() ?? '';
    const meant = found.filter(({ fullName }) => fullName.toLowerCase().includes(wanted)).sort(byLatestPush);
    const start = (page - 1) * VENDOR_PAGE;
    return { items: meant.slice(start, start + VENDOR_PAGE), hasMore: meant.length > start + VENDOR_PAGE };
  }

  async repository(account: GitAccount, repository: string): Promise<RemoteRepository> {
    const path = /^\d+$/.test(repository) ? `repositories/${repository}` : `repos/${asPath(repository)}`;
    return toRepository((await this.#get(account, path)).body);
  }

  async branches(account: GitAccount, repository: RemoteRepository, page: number): Promise<Listing<Branch>> {
    const path = `repos/${asPath(repository.fullName)}/branches`;
    const first = await this.#page(account, path, page * 2 - 1);
    const second = first.hasMore ? await this.#page(account, path, page * 2) : { items: [], hasMore: false };
    const items = [...first.items, ...second.items].map(branch => ({
      name: branch.at('name').name(),
      sha: branch.at('commit').at('id').name(),
      isDefault: branch.at('name').name() === repository.defaultBranch,
      isProtected: branch.at('protected').isTrue(),
    }));
    return { items, hasMore: second.hasMore };
  }

  login({ token, username }: GitAccount) {
    return token === null ? null : { username: username ?? 'slipway', password: token };
  }

  async #page(account: GitAccount, path: string, page: number): Promise<Listing<Answer>> {
    const { body, headers } = await this.#get(account, path, { limit: String(OWN_PAGE), page: String(page) });
    const items = body.list();
    return { items, hasMore: items.length === OWN_PAGE || /rel="?next/.test(headers.get('link') ?? '') };
  }

  #get(account: GitAccount, path: string, query: Record<string, string> = {}): Promise<JsonAnswer> {
    const url = new URL(`${account.baseUrl}/api/v1/${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return this.#api.get(url, authorization(account));
  }
}

const authorization = ({ token }: GitAccount): string | null => (token === null ? null : `token ${token}`);

const giteaWebhooks: WebhookDialect = {
  vendor: 'Gitea',
  list: ({ baseUrl }, { fullName }) => `${baseUrl}/api/v1/repos/${asPath(fullName)}/hooks`,
  page: { limit: String(OWN_PAGE) },
  authorization,
  in: body => body.list(),
  idOf: webhook => webhook.at('id').id(),
  urlOf: webhook => webhook.at('config').at('url').text(),
  describe: ({ url, secret }) => ({
    ...{ type: 'gitea', active: true, events: ['push'] },
    config: { url, secret, content_type: 'json' },
  }),
  updateBy: 'PATCH',
};

const toRepository = (repository: Answer): RemoteRepository => ({
  id: repository.at('id').id(),
  fullName: repository.at('full_name').name(),
  isPrivate: repository.at('private').isTrue(),
  defaultBranch: repository.at('default_branch').text(),
  cloneUrl: repository.at('clone_url').name(),
  description: repository.at('description').text(),
  pushedAt: repository.at('updated_at').timestamp(),
});
