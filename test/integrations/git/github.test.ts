import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { GitHub } from '../../../src/integrations/git/github.ts';
import type { WayOut } from '../../../src/integrations/git/json-api.ts';
import { Outbound } from '../../../src/security/outbound.ts';
import { Prism } from '../../support/prism.ts';

const PATIENCE = 60_000;

/** Some of GitHub's own examples break its description; that is not ours. */
function requestFaults(violations: string | null): string[] {
  const faults = JSON.parse(violations ?? '[]') as { location: string[]; message: string }[];
  return faults.flatMap(({ location, message }) => (location[0] === 'request' ? [message] : []));
}

/** The two that GitHub publishes for itself, and where its client looks for each. */
describe.each([
  ['github.com', 'github', 'https://github.com', 'https://api.github.com'],
  ['Enterprise', 'github-enterprise', 'https://github.example.org', 'https://github.example.org/api/v3'],
])("GitHub's own description of %s", (_, folder, baseUrl, apiUrl) => {
  let prism: Prism;
  let outbound: Outbound;
  const asked: string[] = [];
  const faults: string[] = [];
  const account = { baseUrl, token: 'ghp_something', username: null };

  beforeAll(async () => {
    prism = await Prism.start(join(process.cwd(), 'test/fixtures', folder, 'openapi.json'));
    outbound = new Outbound({ allow: ['127.0.0.0/8'], authorities: undefined });
  }, PATIENCE);
  afterEach(() => expect(faults).toEqual([]));
  afterAll(async () => {
    await outbound.close();
    await prism.stop();
  });

  /** To Prism instead of GitHub; what breaks the description is a fault of ours. */
  const github = (prefer = 'dynamic=false'): GitHub => {
    const fetch: WayOut['fetch'] = async (input, init = {}) => {
      const url = String(input);
      expect(url.startsWith(`${apiUrl}/`)).toBe(true);
      asked.push(url.slice(apiUrl.length));
      const sent = init.headers as Record<string, string>;
      expect(sent.authorization).toBe('token ghp_something');
      // The media type of GitHub's own is in its guide, not in its description.
      expect(sent.accept).toMatch(/^application\/vnd\.github\.v3\+json/);
      const headers = { ...sent, accept: 'application/json', prefer };
      const response = await outbound.fetch(url.replace(apiUrl, prism.url), { ...init, headers });
      faults.push(...requestFaults(response.headers.get('sl-violations')));
      return response;
    };
    return new GitHub({ fetch });
  };

  test('tells whose a token is', async () => {
    expect(await github().identify(account)).toMatchObject({
      username: 'octocat',
      avatarUrl: 'https://github.com/images/error/octocat_happy.gif',
      scopes: [],
      missingScopes: [],
      expiresAt: null,
    });
  });

  test('lists repositories, latest push first', async () => {
    asked.length = 0;
    const { items, hasMore } = await github().repositories(account, null, 1);
    expect(asked).toEqual(['/user/repos?sort=pushed&direction=desc&per_page=100&page=1']);
    expect(hasMore).toBe(false);
    expect(items).toEqual([
      {
        id: '1296269',
        fullName: 'octocat/Hello-World',
        isPrivate: false,
        defaultBranch: 'master',
        cloneUrl: expect.stringMatching(/^https:\/\/github\.com\/octocat\/Hello-World\.git$/),
        description: 'This your first repo!',
        pushedAt: '2011-01-26T19:06:43.000Z',
      },
    ]);
    expect((await github().repositories(account, 'hello', 1)).items).toHaveLength(1);
    expect((await github().repositories(account, 'nowhere', 1)).items).toEqual([]);
  });

  test('shows one repository and its branches', async () => {
    const repository = await github().repository(account, 'octocat/Hello-World');
    expect(repository).toMatchObject({ id: '1296269', fullName: 'octocat/Hello-World', defaultBranch: 'master' });
    const { items } = await github().branches(account, repository, 1);
    expect(items).toEqual([
      { name: 'master', sha: 'c5b97d5ae6c19d5c5df71a34c7fbeeda2479ccbc', isDefault: true, isProtected: true },
    ]);
  });

  test.each([
    ['code=401', 'TOKEN_REJECTED'],
    ['code=403', 'FORBIDDEN'],
  ])('answers %s, which is %s', async (prefer, kind) => {
    await expect(github(prefer).identify(account)).rejects.toMatchObject({ kind });
  });

  test.each([
    ['code=404', 'NOT_FOUND'],
    ['code=301', 'MOVED'],
  ])('answers %s to a repository, which is %s', async (prefer, kind) => {
    await expect(github(prefer).repository(account, 'octocat/gone')).rejects.toMatchObject({ kind });
  });

  test(
    'may answer anything it allows',
    async () => {
      const any = github('dynamic=true');
      for (let count = 0; count < 10; count += 1) {
        expect(typeof (await any.identify(account)).username).toBe('string');
        const repository = await any.repository(account, 'octocat/Hello-World');
        expect(repository.cloneUrl).not.toBe('');
        expect(Array.isArray((await any.repositories(account, null, 1)).items)).toBe(true);
        expect(Array.isArray((await any.branches(account, { ...repository, fullName: 'a/b' }, 1)).items)).toBe(true);
      }
    },
    PATIENCE,
  );
});
