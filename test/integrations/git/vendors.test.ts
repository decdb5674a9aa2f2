import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Bitbucket } from '../../../src/integrations/git/bitbucket.ts';
import { Gitea } from '../../../src/integrations/git/gitea.ts';
import { GitLab } from '../../../src/integrations/git/gitlab.ts';
import { Outbound } from '../../../src/security/outbound.ts';
import { StandIn } from '../../support/stand-in.ts';

let api: StandIn;
let outbound: Outbound;

beforeAll(async () => {
  api = await StandIn.start();
  outbound = new Outbound({ allow: ['127.0.0.0/8'], authorities: readFileSync(api.caFile, 'utf8') });
});
afterAll(async () => {
  await outbound.close();
  await api.stop();
});
beforeEach(() => void api.takeAsked());

const numbered = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, i) => make(i));
const pageOf = (url: URL, name = 'page'): number => Number(url.searchParams.get(name));

describe('GitLab', () => {
  const account = () => ({ baseUrl: `${api.url}/gitlab`, token: 'glpat-something', username: null });
  const gitlab = () => new GitLab(outbound);
  const project = (id: number) => ({
    id,
    path_with_namespace: `group/sub/shop-${id}`,
    visibility: id % 2 ? 'private' : 'public',
    default_branch: 'main',
    http_url_to_repo: `${api.url}/group/sub/shop-${id}.git`,
    description: null,
    last_activity_at: '2026-11-01T10:00:00.000+01:00',
  });

  test('tells whose a token is, what it may and when it ends', async () => {
    api.on('/gitlab/api/v4/user', ({ headers }) =>
      headers.authorization === 'Bearer glpat-something'
        ? { body: { username: 'ann', avatar_url: 'https://example.org/ann.png' } }
        : { status: 401 },
    );
    const self = { scopes: ['read_repository'], expires_at: '2026-12-24' };
    api.on('/gitlab/api/v4/personal_access_tokens/self', { body: self });
    expect(await gitlab().identify(account())).toEqual({
      username: 'ann',
      avatarUrl: 'https://example.org/ann.png',
      scopes: ['read_repository'],
      missingScopes: ['read_api'],
      expiresAt: new Date('2026-12-24T00:00:00Z'),
    });
  });

  test('may not know a token of a group, which is no fault of the token', async () => {
    api.on('/gitlab/api/v4/user', { body: { username: 'group_bot', avatar_url: null } });
    api.on('/gitlab/api/v4/personal_access_tokens/self', { status: 401 });
    expect(await gitlab().identify(account())).toMatchObject({ scopes: [], missingScopes: [], expiresAt: null });
    api.on('/gitlab/api/v4/personal_access_tokens/self', { status: 429, headers: { 'retry-after': '7' } });
    await expect(gitlab().identify(account())).rejects.toMatchObject({ kind: 'RATE_LIMITED' });
  });

  test('lists and searches by pages', async () => {
    api.on('/gitlab/api/v4/projects', ({ url }) => ({
      headers: { 'x-next-page': pageOf(url) === 1 ? '2' : '' },
      body: numbered(pageOf(url) === 1 ? 100 : 3, index => project(index)),
    }));
    const first = await gitlab().repositories(account(), 'shop', 1);
    expect([first.items.length, first.hasMore]).toEqual([100, true]);
    expect(first.items[1]).toEqual({
      id: '1',
      fullName: 'group/sub/shop-1',
      isPrivate: true,
      defaultBranch: 'main',
      cloneUrl: `${api.url}/group/sub/shop-1.git`,
      description: null,
      pushedAt: '2026-11-01T09:00:00.000Z',
    });
    expect((await gitlab().repositories(account(), null, 2)).hasMore).toBe(false);
    expect(api.takeAsked()[0]).toBe(
      '/gitlab/api/v4/projects?membership=true&order_by=last_activity_at&sort=desc&per_page=100&page=1&search=shop&search_namespaces=true',
    );
  });

  test('shows a repository by name or id, and its branches', async () => {
    api.on('/gitlab/api/v4/projects/group%2Fsub%2Fshop-4', { body: project(4) });
    api.on('/gitlab/api/v4/projects/4', { body: project(4) });
    const branch = { name: 'main', commit: { id: 'abc' }, default: true, protected: true };
    api.on('/gitlab/api/v4/projects/4/repository/branches', { body: [branch] });
    const byName = await gitlab().repository(account(), 'group/sub/shop-4');
    expect(byName).toEqual(await gitlab().repository(account(), '4'));
    expect(await gitlab().branches(account(), byName, 1)).toEqual({
      items: [{ name: 'main', sha: 'abc', isDefault: true, isProtected: true }],
      hasMore: false,
    });
  });

  test('is signed in to by git as oauth2', () => {
    expect(gitlab().login(account())).toEqual({ username: 'oauth2', password: 'glpat-something' });
  });
});

describe('Gitea', () => {
  const account = () => ({ baseUrl: api.url, token: 'abc', username: null });
  const gitea = () => new Gitea(outbound);
  const repository = (id: number) => ({
    id,
    full_name: `ann/shop-${id}`,
    private: true,
    default_branch: 'main',
    clone_url: `${api.url}/ann/shop-${id}.git`,
    description: '',
    updated_at: new Date(1_700_000_000_000 + id * 1000).toISOString(),
  });

  test('tells whose a token is', async () => {
    api.on('/api/v1/user', ({ headers }) =>
      headers.authorization === 'token abc'
        ? { body: { login: 'ann', avatar_url: 'https://example.org/a' } }
        : { status: 401 },
    );
    expect(await gitea().identify(account())).toMatchObject({ username: 'ann', avatarUrl: 'https://example.org/a' });
  });

  test('is searched by us, over all its pages, also where its operator made them small', async () => {
    const all = numbered(150, repository);
    const size = 30;
    api.on('/api/v1/user/repos', ({ url }) => {
      const items = all.slice((pageOf(url) - 1) * size, pageOf(url) * size);
      const next = pageOf(url) * size < all.length ? `<${url}>; rel="next",` : '';
      return { body: items, headers: { link: `${next}<${url}>; rel="last"` } };
    });
    const first = await gitea().repositories(account(), null, 1);
    expect([first.items.length, first.hasMore, first.items[0]?.fullName]).toEqual([100, true, 'ann/shop-149']);
    const second = await gitea().repositories(account(), null, 2);
    expect([second.items.length, second.hasMore, second.items.at(-1)?.fullName]).toEqual([50, false, 'ann/shop-0']);
    expect((await gitea().repositories(account(), 'SHOP-14', 1)).items).toHaveLength(11);
  });

  test('shows a repository by name or id, and its branches by two of its pages', async () => {
    api.on('/api/v1/repos/ann/shop-7', { body: repository(7) });
    api.on('/api/v1/repositories/7', { body: repository(7) });
    const found = await gitea().repository(account(), 'ann/shop-7');
    expect(found).toEqual(await gitea().repository(account(), '7'));
    api.on('/api/v1/repos/ann/shop-7/branches', ({ url }) => ({
      body: numbered(pageOf(url) < 4 ? 50 : 1, index => ({
        name: `b-${pageOf(url)}-${index}`,
        commit: { id: 'abc' },
        protected: false,
      })),
    }));
    expect(await gitea().branches(account(), found, 1)).toMatchObject({ hasMore: true });
    const last = await gitea().branches(account(), found, 2);
    expect([last.items.length, last.hasMore, last.items.at(-1)?.name]).toEqual([51, false, 'b-4-0']);
  });
});

describe('Bitbucket', () => {
  const account = () => ({ baseUrl: 'https://bitbucket.org', token: 'ATATT', username: 'ann@example.org' });
  const bitbucket = () => new Bitbucket(outbound, `${api.url}/2.0`);
  const uuid = '{01234567-89ab-cdef-0123-456789abcdef}';
  const repository = (name: string, updated: string) => ({
    uuid,
    full_name: name,
    is_private: true,
    mainbranch: { name: 'main', type: 'branch' },
    description: 'A shop',
    updated_on: updated,
    links: { clone: [{ name: 'https', href: 'https://ann@bitbucket.org/x.git' }] },
  });

  test('tells whose a token is', async () => {
    const basic = `Basic ${Buffer.from('ann@example.org:ATATT').toString('base64')}`;
    api.on('/2.0/user', ({ headers }) => {
      const links = { avatar: { href: 'https://example.org/a' } };
      const scopes = { 'x-oauth-scopes': 'read:user:bitbucket, read:repository:bitbucket' };
      return headers.authorization === basic ? { headers: scopes, body: { username: 'ann', links } } : { status: 401 };
    });
    expect(await bitbucket().identify(account())).toMatchObject({
      username: 'ann',
      scopes: ['read:user:bitbucket', 'read:repository:bitbucket'],
      missingScopes: [],
    });
    await expect(bitbucket().identify({ ...account(), token: 'guess' })).rejects.toMatchObject({
      kind: 'TOKEN_REJECTED',
    });
    api.on('/2.0/user', { headers: { 'x-oauth-scopes': 'account' }, body: { nickname: 'ann', links: {} } });
    expect(await bitbucket().identify(account())).toMatchObject({ username: 'ann', missingScopes: ['repository'] });
  });

  test('lists every workspace, as there is no list over all any more', async () => {
    const values = ['acme', 'zeta'].map(slug => ({
      type: 'workspace_access',
      workspace: { type: 'workspace_base', slug },
    }));
    api.on('/2.0/user/workspaces', { body: { values } });
    api.on('/2.0/repositories/acme', ({ url }) => ({
      body:
        pageOf(url) === 1
          ? { values: [repository('acme/a', '2026-01-01T00:00:00Z')], next: 'x' }
          : { values: [repository('acme/b', '2025-01-01T00:00:00Z')] },
    }));
    api.on('/2.0/repositories/zeta', { body: { values: [repository('zeta/c', '2025-06-01T00:00:00Z')] } });
    const { items, hasMore } = await bitbucket().repositories(account(), 'a"b\\', 1);
    expect(items.map(({ fullName }) => fullName)).toEqual(['acme/a', 'zeta/c', 'acme/b']);
    expect(hasMore).toBe(false);
    expect(items[0]).toMatchObject({ id: uuid, cloneUrl: 'https://bitbucket.org/acme/a.git', defaultBranch: 'main' });
    const [, first] = api.takeAsked();
    expect(new URL(`https://x${first}`).searchParams.get('q')).toBe('full_name ~ "ab"');
  });

  test('shows a repository by name or id, and its branches', async () => {
    api.on('/2.0/repositories/acme/a', { body: repository('acme/a', '2026-01-01T00:00:00Z') });
    api.on(`/2.0/repositories/%7B%7D/${encodeURIComponent(uuid)}`, {
      body: repository('acme/a', '2026-01-01T00:00:00Z'),
    });
    const found = await bitbucket().repository(account(), 'acme/a');
    expect(found).toEqual(await bitbucket().repository(account(), uuid));
    const values = [{ name: 'main', target: { hash: 'abc' } }];
    api.on('/2.0/repositories/acme/a/refs/branches', { body: { values, next: 'https://evil.example/' } });
    expect(await bitbucket().branches(account(), found, 1)).toEqual({
      items: [{ name: 'main', sha: 'abc', isDefault: true, isProtected: false }],
      hasMore: true,
    });
  });

  test.each([
    ['ann@example.org', 'x-bitbucket-api-token-auth'],
    ['ann', 'ann'],
    [null, 'x-token-auth'],
  ])('of %s is signed in to by git as %s', (username, expected) => {
    expect(bitbucket().login({ ...account(), username })).toEqual({ username: expected, password: 'ATATT' });
  });
});
