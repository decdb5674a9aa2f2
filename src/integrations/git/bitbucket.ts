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

const API = 'https://api.bitbucket.org/2.0';
const NEEDED_SCOPES = ['repository'];

interface Page<Item> {
  values: Item[];
  next?: string;
}

interface BitbucketRepository {
  uuid: string;
  full_name: string;
  is_private: boolean;
  mainbranch: { name: string } | null;
  description: string | null;
  updated_on: string | null;
  links: { clone: { name: string; href: string }[] };
}

/** bitbucket.org. With a username the token is an app password or an API token, without one an access token. */
export class Bitbucket implements GitVendor {
  readonly defaultBaseUrl = 'https://bitbucket.org';
  readonly #api: JsonApi;

  constructor(outbound: Outbound) {
    this.#api = new JsonApi('Bitbucket', outbound);
  }

  async identify(account: GitAccount): Promise<Identity> {
    type BitbucketUser = { username?: string; nickname?: string; links: { avatar?: { href: string } } };
    const { body, headers } = await this.#get<BitbucketUser>(account, 'user');
    const scopes = (headers.get('x-oauth-scopes') ?? '')
      .split(',')
      .map(scope => scope.trim())
      .filter(scope => scope !== '');
    const holds = (needed: string) => scopes.some(scope => scope === needed || scope.startsWith(`${needed}:`));
    return {
      username: body.username ?? body.nickname ?? account.username ?? 'bitbucket',
      avatarUrl: body.links.avatar?.href ?? null,
      scopes,
      missingScopes: scopes.length === 0 ? [] : NEEDED_SCOPES.filter(scope => !holds(scope)),
      expiresAt: null,
    };
  }

  async repositories(account: GitAccount, query: string | null, page: number): Promise<Listing<RemoteRepository>> {
    const filter: Record<string, string> = query === null ? {} : { q: `full_name ~ "${query.replace(/["\\]/g, '')}"` };
    const { body } = await this.#get<Page<BitbucketRepository>>(account, 'repositories', {
      ...{ role: 'member', sort: '-updated_on', pagelen: String(VENDOR_PAGE), page: String(page) },
      ...filter,
    });
    return { items: body.values.map(toRepository), hasMore: body.next !== undefined };
  }

  async repository(account: GitAccount, repository: string): Promise<RemoteRepository> {
    const path = repository.startsWith('{')
      ? `%7B%7D/${encodeURIComponent(repository)}`
      : repository.split('/').map(encodeURIComponent).join('/');
    return toRepository((await this.#get<BitbucketRepository>(account, `repositories/${path}`)).body);
  }

  async branches(account: GitAccount, repository: RemoteRepository, page: number): Promise<Listing<Branch>> {
    const path = repository.fullName.split('/').map(encodeURIComponent).join('/');
    const { body } = await this.#get<Page<{ name: string; target: { hash: string } }>>(
      account,
      `repositories/${path}/refs/branches`,
      {
        pagelen: String(VENDOR_PAGE),
        page: String(page),
      },
    );
    const items = body.values.map(({ name, target }) => ({
      name,
      sha: target.hash,
      isDefault: name === repository.defaultBranch,
      isProtected: false,
    }));
    return { items, hasMore: body.next !== undefined };
  }

  login({ token, username }: GitAccount) {
    return token === null ? null : { username: username ?? 'x-token-auth', password: token };
  }

  #get<Body>(
    { token, username }: GitAccount,
    path: string,
    query: Record<string, string> = {},
  ): Promise<JsonAnswer<Body>> {
    const url = new URL(`${API}/${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const basic = username === null ? null : `Basic ${Buffer.from(`${username}:${token}`).toString('base64')}`;
    return this.#api.get<Body>(url, token === null ? null : (basic ?? `Bearer ${token}`));
  }
}

const toRepository = (repository: BitbucketRepository): RemoteRepository => ({
  id: repository.uuid,
  fullName: repository.full_name,
  isPrivate: repository.is_private,
  defaultBranch: repository.mainbranch?.name ?? null,
  cloneUrl: `https://bitbucket.org/${repository.full_name}.git`,
  description: repository.description,
  pushedAt: repository.updated_on === null ? null : new Date(repository.updated_on).toISOString(),
});
