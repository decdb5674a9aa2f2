import { SECOND } from '../clock.ts';
import { GitProvider } from '../entities/git-provider.ts';
import { Invalid } from '../errors.ts';
import { GitFailure } from '../integrations/git/git-failure.ts';
import { byLatestPush, type RemoteRepository, VENDOR_PAGE } from '../integrations/git/git-vendor.ts';
import type { GitAccessService } from './git-access.service.ts';
import type { Scope } from './scope.ts';

export interface SearchWish {
  query?: string | null;
  gitProviderId?: string | null;
  limit: number;
  after?: string | null;
}

export type FoundRepository = RemoteRepository & { gitProviderId: string };

/** How many of each account's repositories were given already. */
type Cursor = Record<string, number>;

/** Searches all connected accounts at once. One that fails is named in a warning and does not hide the others. */
export class RepositorySearchService {
  constructor(private readonly access: GitAccessService) {}

  async search(scope: Scope, { query, gitProviderId, limit, after }: SearchWish): Promise<FoundRepository[]> {
    const cursor = readCursor(after);
    const providers = await this.#providers(scope, gitProviderId);
    const looks = await Promise.all(
      providers.map(provider => this.#look(provider, query || null, cursor[provider.id] ?? 0, limit)),
    );
    scope.notes.warnings = [...(scope.notes.warnings ?? []), ...looks.flatMap(({ warning }) => warning ?? [])];
    const found = merge(looks.map(({ repositories }) => repositories));
    const page = found.slice(0, limit);
    for (const { gitProviderId: id } of page) cursor[id] = (cursor[id] ?? 0) + 1;
    scope.notes.hasMore = found.length > limit;
    scope.notes.nextCursor = Buffer.from(JSON.stringify(cursor)).toString('base64url');
    return page;
  }

  async #providers(scope: Scope, id: string | null | undefined): Promise<GitProvider[]> {
    const { workspaceId } = scope.viewer;
    if (id != null) return [await this.access.provider(workspaceId, id)];
    return scope.fork().find(GitProvider, { workspaceId }, { orderBy: { id: 'desc' }, limit: 50 });
  }

  async #look(provider: GitProvider, query: string | null, offset: number, limit: number): Promise<Look> {
    const { signal, clear } = patience();
    try {
      return { repositories: await Promise.race([this.#read(provider, query, offset, limit), signal]) };
    } catch (error) {
      if (!(error instanceof GitFailure)) throw error;
      return { repositories: [], warning: `${provider.label ?? provider.username}: ${error.message}` };
    } finally {
      clear();
    }
  }

  /** One more than asked for from each, to know whether there is more. */
  async #read(provider: GitProvider, query: string | null, offset: number, limit: number): Promise<FoundRepository[]> {
    const repositories: FoundRepository[] = [];
    for (let page = Math.floor(offset / VENDOR_PAGE) + 1; repositories.length <= limit; page += 1) {
      const skip = Math.max(0, offset - (page - 1) * VENDOR_PAGE);
      const { items, hasMore } = await this.access.ask(provider, (vendor, account) =>
        vendor.repositories(account, query, page),
      );
      repositories.push(...items.slice(skip).map(item => ({ ...item, gitProviderId: provider.id })));
      if (!hasMore) break;
    }
    return repositories.slice(0, limit + 1);
  }
}

interface Look {
  repositories: FoundRepository[];
  warning?: string;
}

/** Nobody's search waits longer than this for the slowest of its accounts. */
const PATIENCE_MS = 8 * SECOND;

function patience(): { signal: Promise<never>; clear: () => void } {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new GitFailure('UNREACHABLE', 'it did not answer in time')), PATIENCE_MS);
  return { signal: promise, clear: () => clearTimeout(timer) };
}

/** Latest push first over all accounts, but each account's own order is kept: the cursor counts in it. */
function merge(lists: readonly FoundRepository[][]): FoundRepository[] {
  const heads = lists.map(() => 0);
  const merged: FoundRepository[] = [];
  for (;;) {
    const open = lists.flatMap((list, index) => {
      const head = list[heads[index] ?? 0];
      return head === undefined ? [] : [{ index, head }];
    });
    const [next] = open.sort((a, b) => byLatestPush(a.head, b.head));
    if (next === undefined) return merged;
    merged.push(next.head);
    heads[next.index] = (heads[next.index] ?? 0) + 1;
  }
}

function readCursor(after: string | null | undefined): Cursor {
  if (after == null) return {};
  try {
    const parsed: unknown = JSON.parse(Buffer.from(after, 'base64url').toString());
    const entries = Object.entries(parsed as object);
    const isSound = entries.every(
      ([id, count]) => /^[0-9a-f-]{36}$/.test(id) && Number.isSafeInteger(count) && count >= 0 && count < 100_000,
    );
    if (isSound) return Object.fromEntries(entries) as Cursor;
  } catch {
    // Not ours, whatever it is: the same answer as for one of the wrong shape.
  }
  throw new Invalid({ field: 'after', message: 'must be the cursor of the page before' });
}
