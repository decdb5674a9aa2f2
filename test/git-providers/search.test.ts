import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { joinFiles } from '../support/certificate.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { FakeGitLab } from '../support/fake-gitlab.ts';
import { GitServer } from '../support/git-server.ts';
import { later } from '../support/moved-clock.ts';
import { OpenApiCheck } from '../support/openapi-check.ts';
import { StandIn } from '../support/stand-in.ts';
import { ThreeDoors } from '../support/three-doors.ts';

interface Found {
  gitProviderId: string;
  fullName: string;
  pushedAt: string | null;
}

let api: StandIn;
let git: GitServer;
let app: TestApp;
let doors: ThreeDoors;
let check: OpenApiCheck;
let ann: Person;
let first: FakeGitLab;
let second: FakeGitLab;
let ids: string[];

beforeAll(async () => {
  api = await StandIn.start();
  git = await GitServer.start();
  const caFile = joinFiles(git.folder, api.caFile, git.caFile);
  app = await TestApp.start({ OUTBOUND_ALLOW: '127.0.0.0/8', OUTBOUND_CA_FILE: caFile });
  doors = await ThreeDoors.of(app);
  check = await OpenApiCheck.of(app);
}, 60_000);
afterAll(async () => {
  await app.stop();
  await git.stop();
  await api.stop();
});

beforeEach(async () => {
  first = new FakeGitLab(api, '/first', 'ann');
  second = new FakeGitLab(api, '/second', 'work');
  first.fill(230, new Date('2026-11-10T00:00:00Z'));
  second.fill(120, new Date('2026-11-10T12:00:00Z'));
  ann = await app.register();
  ids = [await connect(first.account), await connect(second.account)];
  first.asked.length = 0;
  second.asked.length = 0;
});

async function connect(body: object): Promise<string> {
  return (await app.rest<{ id: string }>('POST', '/git-provider/save-token', { token: ann.token, body })).body.id;
}

async function page(path: string) {
  const answer = await app.rest<Found[]>('GET', path, { token: ann.token });
  check.check('GET', path, answer);
  const { status, headers, body } = answer;
  const next = /^<\/api\/v1(.*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
  return { status, found: body, next, warnings: headers.get('x-warnings') };
}

async function all(path: string): Promise<Found[]> {
  const found: Found[] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const answer: Awaited<ReturnType<typeof page>> = await page(next);
    found.push(...answer.found);
    next = answer.next;
  }
  return found;
}

describe('a search', () => {
  test('goes over every account at once, latest push first, page by page, without gap or repeat', async () => {
    const found = await all('/git-providers/repositories?limit=37');
    expect(found).toHaveLength(350);
    expect(new Set(found.map(({ fullName }) => fullName)).size).toBe(350);
    const pushed = found.map(({ pushedAt }) => pushedAt ?? '');
    expect(pushed).toEqual([...pushed].sort().reverse());
    expect(new Set(found.slice(0, 10).map(({ gitProviderId }) => gitProviderId))).toEqual(new Set(ids));
  });

  test('keeps each account in its order where pushes are alike', async () => {
    for (const each of [...first.projects, ...second.projects]) each.pushedAt = '2026-11-10T00:00:00.000Z';
    const found = await all('/git-providers/repositories?limit=50');
    expect(new Set(found.map(({ fullName }) => fullName)).size).toBe(350);
  });

  test('finds by a part of the name, in one account or in all', async () => {
    expect((await all('/git-providers/repositories?query=app-22')).map(({ fullName }) => fullName).sort()).toEqual(
      ['ann/app-22', ...Array.from({ length: 10 }, (_, index) => `ann/app-22${index}`), 'work/app-22'].sort(),
    );
    const [, work] = ids;
    const inWork = await all(`/git-providers/repositories?query=app-11&gitProviderId=${work}`);
    expect(inWork.every(({ fullName }) => fullName.startsWith('work/'))).toBe(true);
    expect(inWork).toHaveLength(11);
    expect(first.asked).toEqual(expect.arrayContaining([expect.stringContaining('search=app-22')]));
  });

  test('names the repository of an account of plain Git', async () => {
    const baseUrl = await git.publish('ledger', { 'a.txt': 'a' }, { isPrivate: true });
    const id = await connect({ provider: 'GIT', baseUrl, username: 'ann', token: 'secret' });
    expect(await all('/git-providers/repositories?query=ledger')).toEqual([
      {
        gitProviderId: id,
        id: baseUrl,
        fullName: 'private/ledger',
        private: true,
        defaultBranch: 'main',
        cloneUrl: baseUrl,
        description: null,
        pushedAt: null,
      },
    ]);
  });

  test.each(['', 'nonsense', Buffer.from('{"x":1}').toString('base64url')])(
    'takes no cursor such as %j',
    async after => {
      expect(await page(`/git-providers/repositories?after=${after}`)).toMatchObject({ status: 400 });
    },
  );
});

describe('one account that fails', () => {
  test('does not hide the others, and is named', async () => {
    first.trouble = { status: 500 };
    const { status, found, warnings } = await page('/git-providers/repositories?limit=100');
    expect({ status, count: found.length, warnings }).toEqual({
      status: 200,
      count: 100,
      warnings: 'ann: GitLab answered with status 500',
    });
    expect(found.every(({ gitProviderId }) => gitProviderId === ids[1])).toBe(true);
  });

  test('is named in the extensions of GraphQL, once for every search of a request', async () => {
    first.trouble = { status: 401 };
    const query = '{ a: repositories(limit: 2) { fullName } b: repositories(limit: 1) { fullName } }';
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    expect(await response.json()).toEqual({
      data: {
        a: [{ fullName: 'work/app-0' }, { fullName: 'work/app-1' }],
        b: [{ fullName: 'work/app-0' }],
      },
      extensions: { warnings: Array(2).fill('ann: GitLab does not accept the token') },
    });
  });

  test('may be called anything, and still fits into a header', async () => {
    await connect({ ...first.account, label: 'Änn’s "work"' });
    first.trouble = { body: 'no JSON' };
    const { warnings } = await page('/git-providers/repositories?limit=1');
    expect(warnings).toMatch(/^\?nn\?s "work": GitLab answered in a form we do not know/);
  });

  test('that hangs does not hold the others up for long', async () => {
    const { promise, resolve } = Promise.withResolvers<{ status: number }>();
    first.trouble = () => promise;
    const { found, warnings } = await page('/git-providers/repositories?limit=1');
    resolve({ status: 500 });
    expect(found).toHaveLength(1);
    expect(warnings).toMatch(/^ann: .*did not answer in time$/);
  });
});

describe('an account that asks us to wait', () => {
  beforeEach(() => {
    first.trouble = { status: 429, headers: { 'retry-after': '600' } };
  });

  const branches = () => doors.call('rest', 'Query.branches', { providerId: ids[0], repo: '1' }, { token: ann.token });

  test('is told of with the time, and not asked before that', async () => {
    const refused = await branches();
    expect(refused).toMatchObject({ status: 502, code: 'UPSTREAM_FAILED' });
    expect(Number(refused.headers.get('retry-after'))).toBe(600);
    expect(first.asked).toHaveLength(1);
    first.trouble = undefined;
    const again = await branches();
    expect(again).toMatchObject({ status: 502, code: 'UPSTREAM_FAILED' });
    expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(590);
    const { warnings, found } = await page('/git-providers/repositories?limit=5');
    expect(warnings).toMatch(/^ann: GitLab asks us to wait until 20/);
    expect(found).toHaveLength(5);
    expect(first.asked).toHaveLength(1);
  });

  test('is asked again when its time is over', async () => {
    await branches();
    first.trouble = undefined;
    expect(await later(601_000, branches)).toMatchObject({ status: 200 });
  });

  test('is asked again with a new token', async () => {
    await branches();
    first.trouble = undefined;
    await connect(first.account);
    expect(await branches()).toMatchObject({ status: 200 });
  });
});
