import type { Answer } from './answer.ts';
import { GitFailure } from './git-failure.ts';
import type { GitAccount, RemoteRepository } from './git-vendor.ts';
import { JsonApi, type WayOut } from './json-api.ts';

/** What a vendor is to call when somebody pushes. */
export interface Webhook {
  url: string;
  secret: string;
}

/** How a vendor's API speaks of webhooks; all of them have one list of them for each repository. */
export interface WebhookDialect {
  vendor: string;
  /** The address of the list. */
  list(account: GitAccount, repository: RemoteRepository): string;
  /** How much of it comes in one page. */
  page: Readonly<Record<string, string>>;
  authorization(account: GitAccount): string | null;
  /** The webhooks in an answer of the list. */
  in(body: Answer): Answer[];
  idOf(webhook: Answer): string;
  urlOf(webhook: Answer): string | null;
  describe(webhook: Webhook): object;
  updateBy: 'PATCH' | 'PUT';
}

/** Registers webhooks with a vendor, and removes them. */
export class Webhooks {
  readonly #api: JsonApi;

  constructor(
    outbound: WayOut,
    private readonly dialect: WebhookDialect,
  ) {
    this.#api = new JsonApi(dialect.vendor, outbound);
  }

  /**
   * Makes it, and gives the vendor's id of it. One for the same address is changed instead: it is what was left of a registration
   * that nobody could write down, and some vendors refuse a second.
   */
  async create(account: GitAccount, repository: RemoteRepository, webhook: Webhook): Promise<string> {
    const { idOf, urlOf } = this.dialect;
    const existing = (await this.#list(account, repository)).find(each => urlOf(each) === webhook.url);
    if (existing !== undefined) return this.update(account, repository, idOf(existing), webhook);
    return idOf(await this.#say('POST', account, repository, '', this.dialect.describe(webhook)));
  }

  /** One that was removed by somebody is made anew. */
  async update(account: GitAccount, repository: RemoteRepository, id: string, webhook: Webhook): Promise<string> {
    const { updateBy, describe } = this.dialect;
    try {
      const path = `/${encodeURIComponent(id)}`;
      return this.dialect.idOf(await this.#say(updateBy, account, repository, path, describe(webhook)));
    } catch (error) {
      if (!isGone(error)) throw error;
      return this.create(account, repository, webhook);
    }
  }

  /** One that is gone already is as good as removed. */
  async delete(account: GitAccount, repository: RemoteRepository, id: string): Promise<void> {
    try {
      await this.#say('DELETE', account, repository, `/${encodeURIComponent(id)}`);
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }

  async #list(account: GitAccount, repository: RemoteRepository): Promise<Answer[]> {
    const url = new URL(this.dialect.list(account, repository));
    for (const [name, value] of Object.entries(this.dialect.page)) url.searchParams.set(name, value);
    return this.dialect.in((await this.#api.get(url, this.dialect.authorization(account))).body);
  }

  async #say(
    method: 'POST' | 'PATCH' | 'PUT' | 'DELETE',
    account: GitAccount,
    repository: RemoteRepository,
    path: string,
    body?: object,
  ): Promise<Answer> {
    const url = new URL(`${this.dialect.list(account, repository)}${path}`);
    return (await this.#api.send(method, url, this.dialect.authorization(account), body)).body;
  }
}

const isGone = (error: unknown): boolean => error instanceof GitFailure && error.kind === 'NOT_FOUND';
