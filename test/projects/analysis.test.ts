import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Person, TestApp } from '../support/create-app.ts';
import { GitServer } from '../support/git-server.ts';
import { SseClient } from '../support/sse-client.ts';
import { ThreeDoors } from '../support/three-doors.ts';
import { type Progress, watchAnalysis } from '../support/watching.ts';

const STEPS = ['FETCHING', 'LISTING', 'DETECTING', 'APPS', 'SERVICES', 'VARIABLES', 'DONE'];
const SHOP = {
  'package.json': JSON.stringify({ scripts: { start: 'node .' }, dependencies: { express: '5.0.0' } }),
  'index.js': 'listen(process.env.PORT)',
};

let git: GitServer;
let app: TestApp;
let doors: ThreeDoors;
let ann: Person;
let shop: string;

beforeAll(async () => {
  git = await GitServer.start();
  shop = await git.publish('shop', SHOP);
  await git.publish('hidden', SHOP, { isPrivate: true });
  await git.publish('prose', { 'novel.txt': 'Once' });
  git.init('void');
  app = await TestApp.start({ OUTBOUND_ALLOW: '127.0.0.0/8', OUTBOUND_CA_FILE: git.caFile });
  doors = await ThreeDoors.of(app);
}, 60_000);
afterAll(async () => {
  await app.stop();
  await git.stop();
});
beforeEach(async () => {
  ann = await app.register();
});
afterEach(() => {
  git.intercept = undefined;
});

async function create(repository = shop, extra: object = {}): Promise<string> {
  const body = { name: 'Shop', repository, ...extra };
  return (await app.rest<{ id: string }>('POST', '/projects', { token: ann.token, body })).body.id;
}

const stateOf = async (id: string) =>
  (await app.rest<{ status: string; analysis: object }>('GET', `/projects/${id}`, { token: ann.token })).body;

/** Lets git wait at its first question until it is told to go on. */
function hold(): { asked: Promise<void>; release: () => void } {
  const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  git.intercept = async () => {
    asked.resolve();
    await released.promise;
    return false;
  };
  return { asked: asked.promise, release: released.resolve };
}

describe('the stream of an analysis', () => {
  test('tells every step once, in order, and ends', async () => {
    const messages = await watchAnalysis(app, ann, await create());
    expect(messages.map(({ step }) => step)).toEqual(STEPS);
    expect(messages.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    const progress = messages.map(({ progress: percent }) => percent);
    expect(progress).toEqual([...progress].sort((a, b) => a - b));
    expect(messages.slice(0, -1).every(({ status, result }) => status === 'RUNNING' && result === null)).toBe(true);
    expect(messages.at(-1)).toMatchObject({ status: 'SUCCEEDED', progress: 100, result: { framework: 'express' } });
  });

  test('tells a finished one again from its beginning', async () => {
    const id = await create();
    expect(await watchAnalysis(app, ann, id)).toEqual(await watchAnalysis(app, ann, id));
  });

  test('resumes behind any message without gap or repeat, by header and by argument', async () => {
    const id = await create();
    const whole = await watchAnalysis(app, ann, id);
    for (const [index, message] of whole.entries()) {
      const rest = whole.slice(index + 1);
      expect(await watchAnalysis(app, ann, id, { lastEventId: message.id })).toEqual(rest);
      expect(await watchAnalysis(app, ann, id, { after: message.id })).toEqual(rest);
      expect(await watchAnalysis(app, ann, id, { after: String(message.seq) })).toEqual(rest);
    }
  });

  test('resumes while it goes on', async () => {
    const { asked, release } = hold();
    const id = await create();
    await asked;
    const url = `${app.url}/api/v1/projects/${id}/analysis-status`;
    const first = await SseClient.open(url, { token: ann.token });
    expect((await first.read<Progress>(1))[0]).toMatchObject({ step: 'FETCHING', status: 'RUNNING' });
    await first.cut();
    const reading = watchAnalysis(app, ann, id, { lastEventId: first.lastId ?? '' });
    release();
    expect((await reading).map(({ step }) => step)).toEqual(STEPS.slice(1));
  });

  test('of a later analysis begins at its beginning, wherever one was in the earlier', async () => {
    const id = await create();
    const earlier = await watchAnalysis(app, ann, id);
    await app.rest('POST', `/projects/${id}/retry-analysis`, { token: ann.token });
    const later = await watchAnalysis(app, ann, id, { lastEventId: earlier.at(-1)?.id ?? '' });
    expect(later.map(({ step }) => step)).toEqual(STEPS);
    expect(later[0]?.id).not.toBe(earlier[0]?.id);
  });

  test('ends when its project is deleted', async () => {
    const { asked, release } = hold();
    const id = await create();
    await asked;
    const stream = await SseClient.open(`${app.url}/api/v1/projects/${id}/analysis-status`, { token: ann.token });
    await stream.read(1);
    await app.rest('DELETE', `/projects/${id}`, { token: ann.token });
    await stream.ended;
    release();
  });

  test('is the same as the subscription', async () => {
    const id = await create();
    const plain = await watchAnalysis(app, ann, id);
    const query = `subscription ($id: ID!, $after: String) { analysisStatus(id: $id, after: $after) {
      seq at status step message progress result { language framework } } }`;
    const subscribed = async (after: string | null) => {
      const body = { query, variables: { id, after } };
      const stream = await SseClient.open(`${app.url}/graphql/stream`, {
        token: ann.token,
        headers: { accept: 'text/event-stream' },
        body,
      });
      await stream.ended;
      const messages = stream.drain();
      expect(messages.at(-1)?.event).toBe('complete');
      return messages
        .slice(0, -1)
        .map(({ data }) => (JSON.parse(data) as { data: { analysisStatus: Progress } }).data.analysisStatus);
    };
    const same = plain.map(({ id: _, result, ...message }) => ({
      ...message,
      result: result && { language: result.language, framework: result.framework },
    }));
    expect(await subscribed(null)).toEqual(same);
    expect(await subscribed('4')).toEqual(same.slice(4));
  });

  test.each(['nonsense', '-1', `${'a'.repeat(36)}:x`])('takes no cursor such as %s', async after => {
    const id = await create();
    const stream = await SseClient.open(`${app.url}/api/v1/projects/${id}/analysis-status?after=${after}`, {
      token: ann.token,
    });
    expect(stream.status).toBe(400);
    await stream.cut();
  });

  test("is nobody else's", async () => {
    const id = await create();
    const { token } = await app.register();
    expect((await SseClient.open(`${app.url}/api/v1/projects/${id}/analysis-status`, { token })).status).toBe(404);
  });
});

describe('an analysis that fails', () => {
  test.each([
    ['an unknown repository', '/nowhere.git', {}, 'REPOSITORY_NOT_FOUND'],
    ['an unknown branch', '/shop.git', { branch: 'nowhere' }, 'BRANCH_NOT_FOUND'],
    ['a private repository', '/private/hidden.git', {}, 'REPOSITORY_NOT_FOUND'],
    ['an empty repository', '/void.git', {}, 'REPOSITORY_EMPTY'],
    ['nothing that can run', '/prose.git', {}, 'NOTHING_RECOGNISED'],
  ])('because of %s says so, and what to do', async (_, path, extra, code) => {
    const id = await create(`${git.url}${path}`, extra);
    const [last] = (await watchAnalysis(app, ann, id)).slice(-1);
    expect(last).toMatchObject({ status: 'FAILED', step: 'DONE', result: null });
    const { status, analysis } = await stateOf(id);
    expect(status).toBe('ANALYSIS_FAILED');
    expect(analysis).toMatchObject({ status: 'FAILED', error: { code, message: last?.message, hint: /\w/ } });
  });
});

describe.each(['rest', 'graphql'] as const)('at the door of %s', door => {
  const call = (name: Parameters<ThreeDoors['call']>[1], args: object) =>
    doors.call(door, name, { ...args }, { token: ann.token });

  test('an analysis is asked for again, and not while one runs', async () => {
    const { asked, release } = hold();
    const id = await create();
    await asked;
    expect(await call('Mutation.retryAnalysis', { id })).toMatchObject({ status: 409, code: 'ANALYSIS_RUNNING' });
    release();
    await watchAnalysis(app, ann, id);
    const again = await call('Mutation.retryAnalysis', { id });
    expect(again).toMatchObject({ status: door === 'rest' ? 202 : 200, value: { projectId: id, status: 'QUEUED' } });
    if (door === 'rest') expect(again.headers.get('location')).toBe(`/api/v1/projects/${id}/analysis-status`);
    await watchAnalysis(app, ann, id);
    expect(await stateOf(id)).toMatchObject({
      status: 'ANALYZED',
      analysis: { id: (again.value as { id: string }).id },
    });
  });

  test('a project in use stays READY and shows the new analysis beside its build', async () => {
    const id = await create();
    await watchAnalysis(app, ann, id);
    const body = { environment: { name: 'production' }, build: { port: 4000 } };
    await app.rest('POST', `/projects/${id}/finalize`, { token: ann.token, body });
    await call('Mutation.retryAnalysis', { id });
    expect(await stateOf(id)).toMatchObject({ status: 'READY' });
    await watchAnalysis(app, ann, id);
    expect(await stateOf(id)).toMatchObject({
      status: 'READY',
      build: { port: 4000 },
      analysis: { status: 'SUCCEEDED', result: { framework: 'express' } },
    });
  });

  test('a repository is analysed while one waits, and nothing is stored', async () => {
    const before = await counts();
    const analysed = await call('Query.analyzeRepo', { repository: shop });
    expect(analysed).toMatchObject({
      status: 200,
      value: { language: 'node', framework: 'express', builder: 'GENERATED' },
    });
    expect(await counts()).toEqual(before);
  });

  test.each([
    ['an unknown repository', { repository: '/nowhere.git' }, 404, 'REPOSITORY_NOT_FOUND'],
    ['an unknown branch', { repository: '/shop.git', branch: 'nowhere' }, 404, 'BRANCH_NOT_FOUND'],
    ['an empty repository', { repository: '/void.git' }, 400, 'BAD_INPUT'],
    ['an unknown folder', { repository: '/shop.git', rootDirectory: 'nowhere' }, 400, 'BAD_INPUT'],
    [
      'an unknown account',
      { repository: 'ann/shop', gitProviderId: '0199c2f4-5d3a-7c41-9d6e-2f8b1a7c5e30' },
      404,
      'NOT_FOUND',
    ],
    ['no address', { repository: '--upload-pack=id' }, 400, 'BAD_INPUT'],
  ])('%s is answered clearly', async (_, { repository, ...wish }, status, code) => {
    const address = repository.startsWith('/') ? `${git.url}${repository}` : repository;
    const refused = await call('Query.analyzeRepo', { repository: address, ...wish });
    expect(refused).toMatchObject({ status, code });
    expect(refused.detail).toMatch(/\w{3}/);
  });

  test('a folder that is not there is named as what is wrong', async () => {
    const refused = await call('Query.analyzeRepo', { repository: shop, rootDirectory: 'nowhere' });
    expect(refused.fields).toMatchObject([{ field: 'rootDirectory', message: expect.stringContaining('nowhere') }]);
  });

  async function counts(): Promise<object[]> {
    return app.sql(`select (select count(*) from project) as projects, (select count(*) from analysis) as analyses,
      (select count(*) from event) as events, (select count(*) from audit_entry) as notes`);
  }
});

test('too many at once are asked to come back', async () => {
  const { release } = hold();
  const path = `/projects/analyze-repo?repository=${encodeURIComponent(shop)}`;
  const waiting = Array.from({ length: 5 }, () => app.rest('GET', path, { token: ann.token }));
  const [refused] = await Promise.all([Promise.race(waiting)]);
  release();
  expect(refused).toMatchObject({ status: 429 });
  expect(refused?.headers.get('retry-after')).toBe('5');
  const statuses = (await Promise.all(waiting)).map(({ status }) => status).sort();
  expect(statuses).toEqual([200, 200, 429, 429, 429]);
});
