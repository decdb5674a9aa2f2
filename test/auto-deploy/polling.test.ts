import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { AutoDeployMeans } from '../../src/entities/environment.ts';
import { reachOf } from '../../src/security/reachable.ts';
import { type EnvironmentAnswer, EnvironmentBench } from '../support/environments.ts';
import { eventually } from '../support/eventually.ts';
import { ledgerOf } from '../support/hooks.ts';

let bench: EnvironmentBench;
let count = 0;

beforeAll(async () => {
  bench = await EnvironmentBench.start({ PUBLIC_URL: 'http://127.0.0.1:3000' });
}, 60_000);
afterAll(() => bench.stop());
// A look goes over all that is watched: those of the tests before would be asked for again and again.
afterEach(() => bench.app.sql('update environment set auto_deploy = false, auto_deploy_by = null'));

interface Watched {
  environment: EnvironmentAnswer;
  path: string;
}

/** An environment of a repository that is looked at. */
async function watch(settings: object = {}, wish: object = {}): Promise<Watched> {
  count += 1;
  const url = await bench.git.publish(`polled-${count}`, {
    'src/index.js': '1',
    'docs/a.md': 'a',
    'package.json': '{}',
  });
  const projectId = await bench.project(url);
  const environment = await bench.environment({ projectId, serverId: await bench.server(), ...wish });
  await set(environment.id, { enabled: true, ...settings });
  return { environment, path: `polled-${count}.git` };
}

async function set(id: string, body: object) {
  const answer = await bench.app.rest<{ autoDeployBy: string }>('PATCH', `/environments/${id}/auto-deploy`, {
    token: bench.ann.token,
    body,
  });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body;
}

/** As the clock does it every minute. */
async function poll(): Promise<void> {
  const id = await bench.app.app.queue.boss.send('git.poll', {});
  await eventually(async () => {
    const [job] = await bench.app.app.queue.boss.findJobs('git.poll', { id: id ?? '' });
    return job?.state === 'completed';
  }, 60_000);
}

describe('where nobody from outside can reach us', () => {
  test('the branch is looked at, and a push is deployed once', async () => {
    const { environment, path } = await watch();
    expect(await set(environment.id, { enabled: true })).toMatchObject({
      autoDeployBy: AutoDeployMeans.POLLING,
      hookUrl: null,
      hookSecret: null,
    });
    await poll();
    expect(await bench.deployments(environment.id)).toEqual([]);
    const pushed = bench.git.commit(path, { 'src/index.js': '2' }, 'Sell more\n\nMuch more.');
    await poll();
    await poll();
    const deployments = await bench.deployments(environment.id);
    expect(deployments).toMatchObject([{ trigger: 'PUSH', wantedCommit: pushed, branch: 'main' }]);
    expect(await ledgerOf(bench, environment.id)).toMatchObject([
      {
        ...{ event: 'poll', branch: 'main', commitSha: pushed, commitAuthor: 'Ann', decision: 'DEPLOYED' },
        ...{ commitMessage: 'Sell more\n\nMuch more.', reason: 'A push to main', deploymentId: deployments[0]?.id },
      },
    ]);
  });

  test('what was pushed between turning it on and the first look is not missed', async () => {
    const { environment, path } = await watch();
    const pushed = bench.git.commit(path, { 'src/index.js': '2' }, 'Quick');
    await poll();
    expect(await bench.deployments(environment.id)).toMatchObject([{ wantedCommit: pushed }]);
  });

  test('watchPaths and [skip ci] count, and the ledger says so', async () => {
    const { environment, path } = await watch({ watchPaths: ['src/**'] });
    bench.git.commit(path, { 'docs/a.md': 'b' }, 'Mend a word');
    await poll();
    bench.git.commit(path, { 'src/index.js': '3' }, 'Try [skip ci]');
    await poll();
    expect((await ledgerOf(bench, environment.id)).map(({ reason }) => reason)).toEqual([
      'The commit says [skip ci]',
      'No file was changed that is in watchPaths',
    ]);
    const pushed = bench.git.commit(path, { 'src/index.js': '4' }, 'Now');
    await poll();
    expect(await bench.deployments(environment.id)).toMatchObject([{ wantedCommit: pushed }]);
  });

  test('what a force push took away is not known: it is deployed', async () => {
    const { environment, path } = await watch({ watchPaths: ['src/**'] });
    bench.git.push(path, { 'docs/a.md': 'c' }, 'Another beginning');
    bench.git.forgetOldCommits(path);
    await poll();
    expect((await ledgerOf(bench, environment.id))[0]).toMatchObject({
      decision: 'DEPLOYED',
      reason: expect.stringMatching(/not known which files/),
    });
  });

  test('another branch begins with what it has', async () => {
    const { environment, path } = await watch();
    bench.git.push(path, { 'src/index.js': 'next' }, 'Next', 'next');
    const change = await bench.app.rest('PATCH', `/environments/${environment.id}/branch`, {
      token: bench.ann.token,
      body: { branch: 'next' },
    });
    expect(change.status).toBe(200);
    await poll();
    expect(await bench.deployments(environment.id)).toEqual([]);
    const pushed = bench.git.commit(path, { 'src/index.js': 'more' }, 'More', 'next');
    await poll();
    expect(await bench.deployments(environment.id)).toMatchObject([{ wantedCommit: pushed, branch: 'next' }]);
  });

  test('a branch or a repository that vanished is left alone, and so are its neighbours', async () => {
    const { environment: lost, path } = await watch();
    const { environment, path: other } = await watch();
    bench.git.removeBranch(path, 'main');
    const pushed = bench.git.commit(other, { 'src/index.js': '2' }, 'On');
    await poll();
    expect(await bench.deployments(lost.id)).toEqual([]);
    expect(await bench.deployments(environment.id)).toMatchObject([{ wantedCommit: pushed }]);
  });

  test('off ends it', async () => {
    const { environment, path } = await watch();
    await set(environment.id, { enabled: false });
    bench.git.commit(path, { 'src/index.js': '2' }, 'Unseen');
    await poll();
    expect(await bench.deployments(environment.id)).toEqual([]);
  });

  test('set with something else it is arranged for by itself', async () => {
    const { environment, path } = await watch({ enabled: false }, { autoDeploy: true });
    await bench.app.rest('PATCH', `/environments/${environment.id}`, {
      token: bench.ann.token,
      body: { autoDeploy: true },
    });
    await eventually(async () => {
      const [row] = await bench.app.sql<{ by: string }>('select auto_deploy_by as by from environment where id = $1', [
        environment.id,
      ]);
      return row?.by === 'POLLING';
    });
    const pushed = bench.git.commit(path, { 'src/index.js': '2' }, 'Seen');
    await poll();
    expect(await bench.deployments(environment.id)).toMatchObject([{ wantedCommit: pushed }]);
  });
});

test('of two instances that look at once one deploys', async () => {
  const { environment, path } = await watch();
  bench.git.commit(path, { 'src/index.js': '2' }, 'Once');
  await Promise.all([poll(), poll(), poll()]);
  expect(await bench.deployments(environment.id)).toHaveLength(1);
  expect(await ledgerOf(bench, environment.id)).toHaveLength(1);
});

test.each([
  ['http://localhost:3000', 'THIS_MACHINE'],
  ['http://127.0.0.1:3000', 'THIS_MACHINE'],
  ['http://[::1]:3000', 'THIS_MACHINE'],
  ['http://192.168.1.4', 'INSIDE'],
  ['https://10.0.0.7', 'INSIDE'],
  ['https://[fd00::1]', 'INSIDE'],
  ['https://slipway', 'INSIDE'],
  ['https://slipway.internal', 'INSIDE'],
  ['https://slipway.local.', 'INSIDE'],
  ['https://slipway.example.org', 'ANYWHERE'],
  ['https://93.184.215.14', 'ANYWHERE'],
  ['https://localhost.example.org', 'ANYWHERE'],
])('%s is reached from %s', (url, reach) => {
  expect(reachOf(url)).toBe(reach);
});
