import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Person, TestApp } from '../support/create-app.ts';
import { FakeGitLab } from '../support/fake-gitlab.ts';
import { SseClient } from '../support/sse-client.ts';
import { StandIn } from '../support/stand-in.ts';
import { ThreeDoors } from '../support/three-doors.ts';

let api: StandIn;
let gitlab: FakeGitLab;
let app: TestApp;
let doors: ThreeDoors;
let ann: Person;
let accountId: string;

beforeAll(async () => {
  api = await StandIn.start();
  app = await TestApp.start({ OUTBOUND_ALLOW: '127.0.0.0/8', OUTBOUND_CA_FILE: api.caFile });
  doors = await ThreeDoors.of(app);
});
afterAll(async () => {
  await app.stop();
  await api.stop();
});
beforeEach(async () => {
  gitlab = new FakeGitLab(api, '/gitlab', 'ann');
  gitlab.fill(3, new Date('2026-11-01T00:00:00Z'));
  ann = await app.register();
  const body = gitlab.account;
  accountId = (await app.rest<{ id: string }>('POST', '/git-provider/save-token', { token: ann.token, body })).body.id;
  gitlab.asked.length = 0;
});

describe.each(['rest', 'graphql'] as const)('accounts at the door of %s', door => {
  const call = (name: Parameters<ThreeDoors['call']>[1], args: object = {}, { token } = ann) =>
    doors.call(door, name, { ...args }, { token });

  test('are listed, newest first, without their tokens', async () => {
    const other = new FakeGitLab(api, '/other', 'bob');
    await app.rest('POST', '/git-provider/save-token', { token: ann.token, body: other.account });
    const listed = await call('Query.gitProviders');
    expect((listed.value as { username: string }[]).map(({ username }) => username)).toEqual(['bob', 'ann']);
    expect(listed.text).not.toContain('glpat');
  });

  test("are nobody else's", async () => {
    const eve = await app.register();
    expect((await call('Query.gitProviders', {}, eve)).value).toEqual([]);
    const foreign = { status: 404, code: 'NOT_FOUND' };
    expect(await call('Query.repositories', { gitProviderId: accountId }, eve)).toMatchObject(foreign);
    expect(await call('Query.branches', { providerId: accountId, repo: '1' }, eve)).toMatchObject(foreign);
    expect(await call('Mutation.deleteGitProvider', { id: accountId }, eve)).toMatchObject(foreign);
    const wish = { repository: 'ann/app-1', gitProviderId: accountId };
    expect(await call('Query.analyzeRepo', wish, eve)).toMatchObject(foreign);
    expect(await call('Mutation.createProject', { name: 'Mine', ...wish }, eve)).toMatchObject(foreign);
    expect(gitlab.asked).toEqual([]);
  });

  test('tell the branches of a repository, by its id or its name', async () => {
    gitlab.branches = ['feature/login', 'main'];
    const expected = [
      { name: 'feature/login', sha: 'a'.repeat(40), isDefault: false, isProtected: false },
      { name: 'main', sha: 'a'.repeat(40), isDefault: true, isProtected: true },
    ];
    for (const repo of ['1', 'ann/app-1'])
      expect((await call('Query.branches', { providerId: accountId, repo })).value).toEqual(expected);
  });

  test('tell branches by pages, also behind one that is gone', async () => {
    gitlab.branches = Array.from({ length: 7 }, (_, index) => `b-${index}`);
    const page = async (after?: string) => {
      const args = { providerId: accountId, repo: '1', limit: 3, ...(after ? { after } : {}) };
      return ((await call('Query.branches', args)).value as { name: string }[]).map(({ name }) => name);
    };
    expect(await page()).toEqual(['b-0', 'b-1', 'b-2']);
    expect(await page('b-2')).toEqual(['b-3', 'b-4', 'b-5']);
    gitlab.branches.splice(2, 1);
    expect(await page('b-2')).toEqual(['b-3', 'b-4', 'b-5']);
    expect(await page('b-5')).toEqual(['b-6']);
    expect(await page('z')).toEqual([]);
  });

  test('answer clearly for what is not there', async () => {
    const branches = (repo: string) => call('Query.branches', { providerId: accountId, repo });
    expect(await branches('ann/nowhere')).toMatchObject({ status: 404, code: 'REPOSITORY_NOT_FOUND' });
    expect(await branches('../../user')).toMatchObject({ status: 400, code: 'BAD_INPUT' });
    expect(await branches('--upload-pack=id')).toMatchObject({ status: 400, code: 'BAD_INPUT' });
    gitlab.token = 'glpat-revoked';
    expect(await branches('1')).toMatchObject({ status: 400, code: 'TOKEN_REJECTED' });
    gitlab.trouble = { status: 500 };
    expect(await branches('1')).toMatchObject({ status: 502, code: 'UPSTREAM_FAILED' });
  });

  test('are disconnected, unless projects are read with them', async () => {
    const wish = { name: 'Shop', repository: 'ann/app-1', gitProviderId: accountId };
    const made = await app.rest<{ id: string }>('POST', '/projects', { token: ann.token, body: wish });
    const refused = await call('Mutation.deleteGitProvider', { id: accountId });
    expect(refused).toMatchObject({ status: 409, code: 'IN_USE' });
    expect(refused.text).toContain('"usedBy":["Shop"]');
    expect(await call('Mutation.deleteGitProvider', { id: accountId, force: true })).toMatchObject({
      status: 200,
      value: { id: accountId },
    });
    const { body } = await app.rest('GET', `/projects/${made.body.id}`, { token: ann.token });
    expect(body).toMatchObject({ gitProviderId: null });
    expect(await call('Mutation.deleteGitProvider', { id: accountId })).toMatchObject({ status: 404 });
  });

  test('are not disconnected on the strength of an old version', async () => {
    const args = { id: accountId, ...(door === 'graphql' ? { ifVersion: 7 } : {}) };
    const headers: Record<string, string> = door === 'rest' ? { 'if-match': '"7"' } : {};
    const refused = await doors.call(door, 'Mutation.deleteGitProvider', args, { token: ann.token, headers });
    expect(refused).toMatchObject({ status: 412, code: 'VERSION_MISMATCH' });
  });
});

test('a page of branches links to the next', async () => {
  gitlab.branches = ['a', 'b&c', 'd'];
  const first = await app.rest('GET', `/git-providers/${accountId}/repos/ann%2Fapp-1/branches?limit=2`, {
    token: ann.token,
  });
  const next = /^<\/api\/v1(.*)>; rel="next"$/.exec(first.headers.get('link') ?? '')?.[1];
  const second = await app.rest<{ name: string }[]>('GET', next ?? '', { token: ann.token });
  expect(second.body.map(({ name }) => name)).toEqual(['d']);
  expect(second.headers.get('link')).toBeNull();
});

test('those who watch a project learn that it lost its account', async () => {
  const wish = { name: 'Shop', repository: 'ann/app-1', gitProviderId: accountId };
  const { id } = (await app.rest<{ id: string }>('POST', '/projects', { token: ann.token, body: wish })).body;
  const stream = await SseClient.open(`${app.url}/api/v1/events?kinds=project_updated`, { token: ann.token });
  await app.rest('DELETE', `/git-providers/${accountId}?force=true`, { token: ann.token });
  for (;;) {
    const [event] = await stream.read<{ resourceId: string; data: { gitProviderId: string | null } }>(1);
    expect(event).toMatchObject({ resourceId: id });
    if (event?.data.gitProviderId === null) break;
  }
  await stream.cut();
});
