import type { Asked, Reply, StandIn } from './stand-in.ts';

interface FakeProject {
  name: string;
  pushedAt: string;
}

/** A GitLab with one account, below a path of a stand-in. Everything about it can change while it is used. */
export class FakeGitLab {
  token = 'glpat-good';
  scopes = ['api'];
  expiresAt: string | null = null;
  projects: FakeProject[] = [];
  branches: string[] = ['main'];
  /** Webhooks by their ids, as they were sent. */
  readonly hooks = new Map<number, Record<string, unknown>>();
  /** Says this about webhooks instead. */
  hookTrouble: Reply | undefined;
  /** Says this to everything instead. */
  trouble: Reply | (() => Promise<Reply>) | undefined;
  readonly asked: string[] = [];

  constructor(
    private readonly standIn: StandIn,
    private readonly prefix: string,
    readonly username: string,
  ) {
    standIn.on(`${prefix}/*`, asked => this.#reply(asked));
  }

  get baseUrl(): string {
    return `${this.standIn.url}${this.prefix}`;
  }

  /** What saves its token. */
  get account(): { provider: string; baseUrl: string; token: string; label: string } {
    return { provider: 'GITLAB', baseUrl: this.baseUrl, token: this.token, label: this.username };
  }

  /** So many projects, the first pushed to last, a day apart. */
  fill(count: number, newest: Date): void {
    const dayBefore = (days: number) => new Date(newest.getTime() - days * 86_400_000).toISOString();
    this.projects = Array.from({ length: count }, (_, index) => ({
      name: `${this.username}/app-${index}`,
      pushedAt: dayBefore(index),
    }));
  }

  #reply(asked: Asked): Reply | Promise<Reply> {
    const { url, headers } = asked;
    const path = url.pathname.slice(`${this.prefix}/api/v4/`.length);
    this.asked.push(`${path}${url.search}`);
    if (this.trouble !== undefined) return typeof this.trouble === 'function' ? this.trouble() : this.trouble;
    if (headers.authorization !== `Bearer ${this.token}`) return { status: 401 };
    if (path === 'user') return { body: { username: this.username, avatar_url: null } };
    if (path === 'personal_access_tokens/self') return { body: { scopes: this.scopes, expires_at: this.expiresAt } };
    if (path === 'projects') return this.#list(url);
    if (/^projects\/[^/]+\/hooks(\/|$)/.test(path)) return this.hookTrouble ?? this.#hook(asked, path);
    const [, id = '', rest] = /^projects\/([^/]+)(\/repository\/branches)?$/.exec(path) ?? [];
    const index = this.projects.findIndex((_, at) => [String(at), this.#name(at)].includes(decodeURIComponent(id)));
    if (index < 0) return { status: 404 };
    return { body: rest === undefined ? this.#project(index) : this.#branches() };
  }

  #hook({ method, body }: Asked, path: string): Reply {
    const id = Number(path.split('/')[3] ?? 0);
    if (method === 'GET') return { body: [...this.hooks].map(([each, hook]) => ({ id: each, ...hook })) };
    if (method === 'DELETE') return { status: this.hooks.delete(id) ? 204 : 404, body: '' };
    if (method === 'PUT' && !this.hooks.has(id)) return { status: 404 };
    const made = method === 'PUT' ? id : 1 + Math.max(0, ...this.hooks.keys());
    this.hooks.set(made, JSON.parse(body) as Record<string, unknown>);
    return { status: method === 'PUT' ? 200 : 201, body: { id: made } };
  }

  #list(url: URL): Reply {
    const query = url.searchParams.get('search') ?? '';
    const [page, size] = [Number(url.searchParams.get('page')), Number(url.searchParams.get('per_page'))];
    const meant = this.projects.flatMap(({ name }, index) => (name.includes(query) ? [this.#project(index)] : []));
    const next = page * size < meant.length ? String(page + 1) : '';
    return { headers: { 'x-next-page': next }, body: meant.slice((page - 1) * size, page * size) };
  }

  #project(index: number): object {
    const { name = '', pushedAt } = this.projects[index] ?? {};
    return {
      ...{ id: index, path_with_namespace: name, visibility: 'private', default_branch: 'main' },
      ...{ http_url_to_repo: `${this.baseUrl}/${name}.git`, description: null, last_activity_at: pushedAt },
    };
  }

  #branches(): object[] {
    return this.branches.map(name => ({
      name,
      commit: { id: 'a'.repeat(40) },
      default: name === 'main',
      protected: name === 'main',
    }));
  }

  #name(index: number): string {
    return this.projects[index]?.name ?? '';
  }
}
