import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { EnvironmentBench } from '../support/environments.ts';
import { eventually } from '../support/eventually.ts';
import { FakeGitLab } from '../support/fake-gitlab.ts';
import { deliver } from '../support/hooks.ts';
import { fromGitHub, fromGitLab, sha } from '../support/push-payloads.ts';
import { StandIn } from '../support/stand-in.ts';

const PUBLIC_URL = 'https://slipway.example.org';

interface AutoDeploy {
  id: string;
  enabled: boolean;
  autoDeployBy: string | null;
  watchPaths: string[];
  hookUrl: string | null;
  hookSecret: string | null;
  reason: string | null;
  version: number;
}

let api: StandIn;
let bench: EnvironmentBench;
let gitlab: FakeGitLab;
let projectId: string;

beforeAll(async () => {
  api = await StandIn.start();
  bench = await EnvironmentBench.start({ PUBLIC_URL, OUTBOUND_CA_FILE: api.caFile });
  gitlab = new FakeGitLab(api, '/gitlab', 'ann');
  gitlab.fill(1, new Date());
  const { token } = bench.ann;
  const account = await bench.app.rest<{ id: string }>('POST', '/git-provider/save-token', {
    token,
    body: gitlab.account,
  });
  const body = { name: 'Shop', repository: 'ann/app-0', gitProviderId: account.body.id };
  projectId = (await bench.app.rest<{ id: string }>('POST', '/projects', { token, body })).body.id;
  await failedAnalysis(projectId);
}, 60_000);
afterAll(async () => {
  await bench.stop();
  await api.stop();
});
beforeEach(() => {
  gitlab.hookTrouble = undefined;
  gitlab.trouble = undefined;
  gitlab.hooks.clear();
});

/** What FakeGitLab has is no repository that git could read. */
const failedAnalysis = (id: string) =>
  eventually(async () => {
    const project = await bench.app.rest<{ status: string }>('GET', `/projects/${id}`, { token: bench.ann.token });
    return project.body.status === 'ANALYSIS_FAILED';
  });

const accountId = async () => (await bench.app.sql<{ id: string }>('select id from git_provider'))[0]?.id;

/** Of the project that is read with the account of GitLab. */
const make = (wish: object = {}) => bench.environment({ projectId, build: { builder: 'DOCKERFILE' }, ...wish });

const set = (id: string, body: object) =>
  bench.app.rest<AutoDeploy>('PATCH', `/environments/${id}/auto-deploy`, { token: bench.ann.token, body });

const get = (id: string) =>
  bench.app.rest<{ autoDeploy: boolean; autoDeployBy: string | null }>('GET', `/environments/${id}`, {
    token: bench.ann.token,
  });

describe('by a webhook that is registered', () => {
  test('the provider is told address and secret, and nobody else is', async () => {
    const { id } = await make({ serverId: await bench.server(), branch: 'main' });
    const answer = await set(id, { enabled: true });
    const hookUrl = `${PUBLIC_URL}/api/v1/hooks/git/${id}`;
    expect(answer).toMatchObject({
      status: 200,
      body: {
        id,
        enabled: true,
        autoDeployBy: 'WEBHOOK',
        hookUrl,
        hookSecret: null,
        reason: 'ann registered it',
        version: 2,
      },
    });
    expect(answer.headers.get('etag')).toBe('"2"');
    const [hook] = gitlab.hooks.values();
    expect(hook).toMatchObject({ url: hookUrl, push_events: true });
    const secret = String(hook?.token);
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect((await deliver(bench, id, fromGitLab({ secret, after: sha(1) }))).status).toBe(202);
  });

  test('again it is the same one, with a new secret where that is asked for, and anew where somebody removed it', async () => {
    const { id } = await make();
    await set(id, { enabled: true });
    const [[hookId, first] = [0, {}]] = gitlab.hooks;
    await set(id, { enabled: true, watchPaths: ['src/**'] });
    expect([...gitlab.hooks]).toEqual([[hookId, first]]);
    await set(id, { enabled: true, rotateSecret: true });
    const [[sameId, second] = [0, {}]] = gitlab.hooks;
    expect(sameId).toBe(hookId);
    expect(second.token).not.toBe(first.token);
    expect((await deliver(bench, id, fromGitLab({ secret: String(first.token) }))).status).toBe(401);
    expect((await deliver(bench, id, fromGitLab({ secret: String(second.token) }))).status).toBe(200);
    gitlab.hooks.clear();
    await set(id, { enabled: true });
    expect([...gitlab.hooks.values()]).toEqual([second]);
  });

  test('off removes it', async () => {
    const { id } = await make();
    await set(id, { enabled: true });
    const secret = String([...gitlab.hooks.values()][0]?.token);
    const off = await set(id, { enabled: false });
    expect(off.body).toMatchObject({ enabled: false, autoDeployBy: null, hookUrl: null, hookSecret: null });
    await eventually(() => gitlab.hooks.size === 0);
    expect((await deliver(bench, id, fromGitLab({ secret }))).status).toBe(401);
  });

  test('off while the provider is away removes it when it is back', async () => {
    const { id } = await make();
    await set(id, { enabled: true });
    gitlab.trouble = { status: 503 };
    expect((await set(id, { enabled: false })).status).toBe(200);
    gitlab.trouble = undefined;
    await eventually(() => gitlab.hooks.size === 0, 60_000);
  }, 90_000);

  test('the deletion of its environment removes it', async () => {
    const { id } = await make();
    await set(id, { enabled: true });
    await bench.app.rest('DELETE', `/environments/${id}`, { token: bench.ann.token });
    await eventually(() => gitlab.hooks.size === 0);
  });

  test('and so does that of its project', async () => {
    const { token } = bench.ann;
    const body = { name: 'Other', repository: 'ann/app-0', gitProviderId: await accountId() };
    const other = (await bench.app.rest<{ id: string }>('POST', '/projects', { token, body })).body.id;
    await failedAnalysis(other);
    for (const name of ['one', 'two']) await set((await make({ projectId: other, name })).id, { enabled: true });
    expect(gitlab.hooks.size).toBe(2);
    await bench.app.rest('DELETE', `/projects/${other}`, { token });
    await eventually(() => gitlab.hooks.size === 0);
  });

  test('one that nobody could write down is taken back', async () => {
    const { id } = await make();
    gitlab.trouble = undefined;
    const answers = await Promise.all([1, 2, 3].map(() => set(id, { enabled: true })));
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1);
    await eventually(() => gitlab.hooks.size <= 1);
    await set(id, { enabled: true });
    const [hook] = gitlab.hooks.values();
    expect((await deliver(bench, id, fromGitLab({ secret: String(hook?.token) }))).status).toBe(200);
  });
});

describe('by hand', () => {
  test('where the token may not, with the reason, and the secret once', async () => {
    gitlab.hookTrouble = { status: 403 };
    const { id } = await make();
    const answer = await set(id, { enabled: true });
    expect(answer.body).toMatchObject({
      autoDeployBy: 'BY_HAND',
      hookUrl: `${PUBLIC_URL}/api/v1/hooks/git/${id}`,
      reason: 'The webhook could not be registered: The token may not do this at GitLab',
    });
    const secret = answer.body.hookSecret ?? '';
    expect(secret).toMatch(/^[\w-]{43}$/);
    const again = await set(id, { enabled: true });
    expect(again.body).toMatchObject({ autoDeployBy: 'BY_HAND', hookSecret: null });
    expect((await deliver(bench, id, fromGitHub({ secret, event: 'ping' }))).status).toBe(200);
    const rotated = await set(id, { enabled: true, rotateSecret: true });
    expect(rotated.body.hookSecret).not.toBe(secret);
    expect((await deliver(bench, id, fromGitHub({ secret, event: 'ping' }))).status).toBe(401);
    gitlab.hookTrouble = undefined;
    expect((await set(id, { enabled: true, autoDeployBy: 'WEBHOOK' })).body.autoDeployBy).toBe('WEBHOOK');
  });

  test('where there is nobody to tell', async () => {
    const other = await make();
    await bench.app.sql('update project set git_provider_id = null where id = $1', [projectId]);
    try {
      const answer = await set(other.id, { enabled: true });
      expect(answer.body).toMatchObject({ autoDeployBy: 'BY_HAND', reason: /no Git account is connected/ });
      expect(await set(other.id, { enabled: true, autoDeployBy: 'WEBHOOK' })).toMatchObject({
        status: 400,
        body: { code: 'BAD_INPUT', fields: [{ field: 'autoDeployBy' }] },
      });
    } finally {
      await bench.app.sql('update project set git_provider_id = (select id from git_provider limit 1) where id = $1', [
        projectId,
      ]);
    }
  });

  test('the secret lies sealed, and stands in no answer and no event', async () => {
    const { id } = await make();
    const secret = (await set(id, { enabled: true, autoDeployBy: 'BY_HAND' })).body.hookSecret ?? '';
    const rows = await bench.app.sql<{ text: string }>(
      `select to_jsonb(environment)::text as text from environment union all select to_jsonb(event)::text from event
       union all select to_jsonb(audit_entry)::text from audit_entry union all select data::text from pgboss.job`,
    );
    expect(rows.filter(({ text }) => text.includes(secret))).toEqual([]);
    expect(JSON.stringify((await get(id)).body)).not.toContain(secret);
  });
});

describe('a provider that is away', () => {
  test('is told as such, and nothing is changed', async () => {
    const { id } = await make();
    gitlab.hookTrouble = { status: 503 };
    expect(await set(id, { enabled: true })).toMatchObject({ status: 502, body: { code: 'UPSTREAM_FAILED' } });
    expect((await get(id)).body).toMatchObject({ autoDeploy: false, autoDeployBy: null, version: 1 });
  });

  test('is asked outside of every transaction', async () => {
    const { id } = await make();
    let open: unknown[] | undefined;
    gitlab.trouble = async () => {
      gitlab.trouble = undefined;
      open = await bench.app.sql(
        `select query from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`,
      );
      return { status: 403 };
    };
    await set(id, { enabled: true });
    expect(open).toEqual([]);
  });
});

describe('set with something else', () => {
  test('a new environment is arranged for by itself, and so is a change', async () => {
    const { id } = await make({ autoDeploy: true });
    await eventually(() => gitlab.hooks.size === 1);
    await eventually(async () => (await get(id)).body.autoDeployBy === 'WEBHOOK');
    const patch = (autoDeploy: boolean) =>
      bench.app.rest('PATCH', `/environments/${id}`, { token: bench.ann.token, body: { autoDeploy } });
    await patch(false);
    await eventually(() => gitlab.hooks.size === 0);
    expect((await get(id)).body).toMatchObject({ autoDeploy: false, autoDeployBy: null });
    await patch(true);
    await eventually(() => gitlab.hooks.size === 1);
  });
});

describe('refusals', () => {
  test.each([
    [{ watchPaths: ['../x'] }],
    [{ watchPaths: ['/x'] }],
    [{ watchPaths: [''] }],
    [{ watchPaths: ['x'.repeat(201)] }],
    [{ watchPaths: Array.from({ length: 51 }, (_, i) => `p${i}`) }],
    [{ watchPaths: ['a\nb'] }],
    [{ autoDeployBy: 'PIGEON' }],
    [{ rotateSecret: null }],
    [{ enabled: null }],
  ])('%j', async wish => {
    const { id } = await make();
    expect(await set(id, { enabled: true, ...wish })).toMatchObject({ status: 400, body: { code: 'BAD_INPUT' } });
  });

  test('an old version, an environment that goes', async () => {
    const { id } = await make();
    const options = { token: bench.ann.token, headers: { 'if-match': '"7"' }, body: { enabled: false } };
    expect((await bench.app.rest('PATCH', `/environments/${id}/auto-deploy`, options)).status).toBe(412);
    await bench.app.sql(`update environment set status = 'DELETING' where id = $1`, [id]);
    expect(await set(id, { enabled: true })).toMatchObject({ status: 409, body: { code: 'BEING_DELETED' } });
  });
});
