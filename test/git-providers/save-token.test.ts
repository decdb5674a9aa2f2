import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Person, TestApp } from '../support/create-app.ts';
import { FakeGitLab } from '../support/fake-gitlab.ts';
import { StandIn } from '../support/stand-in.ts';
import { ThreeDoors } from '../support/three-doors.ts';

let api: StandIn;
let gitlab: FakeGitLab;
let app: TestApp;
let doors: ThreeDoors;
let ann: Person;

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
  ann = await app.register();
});

const stored = () => app.sql<{ id: string }>('select * from git_provider where workspace_id = $1', [ann.workspaceId]);

describe.each(['rest', 'graphql'] as const)('connecting an account at the door of %s', door => {
  const save = (body: object, { token } = ann) => doors.call(door, 'Mutation.saveGitToken', { ...body }, { token });

  test('tries the token first, and stores it sealed', async () => {
    const saved = await save(gitlab.account);
    expect(saved).toMatchObject({ status: door === 'rest' ? 201 : 200, code: undefined });
    expect(saved.value).toEqual({
      id: expect.any(String),
      provider: 'GITLAB',
      baseUrl: gitlab.baseUrl,
      username: 'ann',
      avatarUrl: null,
      label: 'ann',
      scopes: ['api'],
      state: 'CONNECTED',
      expiresAt: null,
      checkedAt: expect.any(String),
      createdAt: expect.any(String),
      version: 1,
    });
    expect(gitlab.asked).toEqual(['user', 'personal_access_tokens/self']);
    expect(saved.text).not.toContain('glpat-good');
    const [row] = await stored();
    expect(JSON.stringify(row)).not.toContain('glpat-good');
    expect(JSON.stringify(row)).toMatch(/"token":"v1\./);
  });

  test('refuses a wrong token, and stores nothing', async () => {
    const refused = await save({ ...gitlab.account, token: 'glpat-bad' });
    expect(refused).toMatchObject({ status: 400, code: 'TOKEN_REJECTED' });
    expect(refused.text).not.toContain('glpat-bad');
    expect(await stored()).toEqual([]);
  });

  test('says when the provider is away, or asks us to wait, or is no such provider', async () => {
    gitlab.trouble = { status: 503 };
    expect(await save(gitlab.account)).toMatchObject({ status: 502, code: 'UPSTREAM_FAILED' });
    gitlab.trouble = { status: 429, headers: { 'retry-after': '30' } };
    const limited = await save(gitlab.account);
    expect(limited).toMatchObject({ status: 502, code: 'UPSTREAM_FAILED' });
    expect(limited.text).toContain('"retryAfterSeconds":30');
    if (door === 'rest') expect(limited.headers.get('retry-after')).toBe('30');
    const away = { ...gitlab.account, baseUrl: 'https://localhost:1' };
    expect(await save(away)).toMatchObject({ status: 502, code: 'UPSTREAM_FAILED' });
    const other = { ...gitlab.account, baseUrl: `${api.url}/website` };
    expect(await save(other)).toMatchObject({ status: 400, code: 'BAD_INPUT', fields: [{ field: 'baseUrl' }] });
    api.on('/website/*', { headers: { 'content-type': 'text/html' }, body: '<h1>Welcome</h1>' });
    expect(await save(other)).toMatchObject({ status: 502, code: 'UPSTREAM_FAILED' });
    api.on('/website/*', { status: 404 });
    expect(await stored()).toEqual([]);
  });

  test('gives the same account its new token and keeps its id', async () => {
    const first = await save(gitlab.account);
    gitlab.token = 'glpat-renewed';
    const { label: _, ...unlabelled } = gitlab.account;
    const second = await save(unlabelled);
    expect(second.status).toBe(200);
    expect(second.value).toMatchObject({ id: (first.value as { id: string }).id, label: 'ann', version: 2 });
    expect(await save({ ...gitlab.account, label: null })).toMatchObject({ value: { label: null } });
    expect(await stored()).toHaveLength(1);
  });

  test('sees what the token lacks, and when it ends', async () => {
    gitlab.scopes = ['read_user'];
    expect((await save(gitlab.account)).value).toMatchObject({ state: 'INSUFFICIENT_SCOPE', scopes: ['read_user'] });
    gitlab.scopes = ['api'];
    gitlab.expiresAt = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
    expect((await save(gitlab.account)).value).toMatchObject({ state: 'EXPIRING', expiresAt: expect.any(String) });
  });

  test.each([
    ['no baseUrl where there is no usual one', { provider: 'GITEA', token: 'x' }, 'baseUrl'],
    ['plain http', { provider: 'GITEA', token: 'x', baseUrl: 'http://git.example.org' }, 'baseUrl'],
    ['a password in the address', { provider: 'GITEA', token: 'x', baseUrl: 'https://a:b@git.example.org' }, 'baseUrl'],
    ['a private address', { provider: 'GITEA', token: 'x', baseUrl: 'https://10.0.0.1' }, 'baseUrl'],
    ['a private address by ssh', { provider: 'GIT', baseUrl: 'ssh://git@10.0.0.1/x.git' }, 'baseUrl'],
    ['metadata', { provider: 'GITLAB', token: 'x', baseUrl: 'https://169.254.169.254' }, 'baseUrl'],
    ['another Bitbucket', { provider: 'BITBUCKET', token: 'x', baseUrl: 'https://bitbucket.example.org' }, 'baseUrl'],
    ['no token', { provider: 'GITHUB' }, 'token'],
    ['a token of two lines', { provider: 'GITHUB', token: 'a\nb' }, 'token'],
    ['a token no header can hold', { provider: 'GITHUB', token: 'tökén' }, 'token'],
    ['a password of two lines', { provider: 'GIT', baseUrl: 'https://git.example.org/x', token: 'a\nb' }, 'token'],
    ['an option as a user', { provider: 'GITHUB', token: 'x', username: '--x y' }, 'username'],
    ['two lines as a label', { provider: 'GITHUB', token: 'x', label: 'a\nb' }, 'label'],
  ])('refuses %s', async (_, body, field) => {
    const refused = await save(body);
    expect(refused).toMatchObject({ status: 400, code: 'BAD_INPUT', fields: [{ field }] });
    expect(refused.text).not.toContain('a:b@');
  });

  test('is not for those who only read', async () => {
    const viewer = await app.join(ann, 'VIEWER');
    expect(await save(gitlab.account, viewer)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    expect(gitlab.asked).toEqual([]);
  });
});

test('two at the same moment make one account', async () => {
  const wishes = Array.from({ length: 6 }, () =>
    app.rest<{ id: string }>('POST', '/git-provider/save-token', { token: ann.token, body: gitlab.account }),
  );
  const answers = await Promise.all(wishes);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201]);
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
});
