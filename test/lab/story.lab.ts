import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RouteName } from '../../src/rest/routes.ts';
import { TestApp } from '../support/create-app.ts';
import { eventually } from '../support/eventually.ts';
import { GitServer } from '../support/git-server.ts';
import { ThreeDoors } from '../support/three-doors.ts';
import { type DeploymentAnswer, type EnvironmentAnswer, gitSettings, IMAGES, webApp } from './support/deploy-bench.ts';
import { LabServer } from './support/lab-server.ts';

const PASSWORD = 'correct horse battery';

let git: GitServer;
let server: LabServer;
let app: TestApp;
let doors: ThreeDoors;
beforeAll(async () => {
  git = await GitServer.start();
  server = await LabServer.start({ hasDocker: true });
  await server.load(...IMAGES);
  app = await TestApp.start(gitSettings(git));
  doors = await ThreeDoors.of(app);
});
afterAll(async () => {
  await app?.stop();
  await server?.stop();
  await git?.stop();
});

interface Identified {
  id: string;
  status: string;
}

/** The whole of it, from the first account to the last trace, by one door alone. */
describe.each(['rest', 'graphql'] as const)('the story over %s', door => {
  let token: string | undefined;
  let environmentId: string;
  let first: DeploymentAnswer;
  const path = `private/story-${door}.git`;

  async function say<Value>(name: RouteName, args: Record<string, unknown> = {}): Promise<Value> {
    const outcome = await doors.call(door, name, args, { token });
    if (outcome.code !== undefined || outcome.status >= 400) throw new Error(`${name}: ${outcome.text}`);
    return outcome.value as Value;
  }

  const environment = () => say<EnvironmentAnswer>('Query.environment', { id: environmentId });

  async function page(): Promise<string> {
    const { url } = await environment();
    return (await fetch(url ?? '', { signal: AbortSignal.timeout(5000) })).text();
  }

  async function ended(id: string): Promise<DeploymentAnswer> {
    for (;;) {
      const seen = await say<DeploymentAnswer>('Query.deployment', { environmentId, id, wait: 30 });
      if (seen.isFinished) return seen;
    }
  }

  /** As a hook of the Git server does it after a push. */
  async function tellPush(hook: { hookUrl: string; hookSecret: string }, message: string): Promise<Response> {
    const after = git.head(path);
    const commit = { id: after, message, author: { name: 'ann' }, added: [], removed: [], modified: ['server.js'] };
    const body = JSON.stringify({ ref: 'refs/heads/main', after, head_commit: commit, commits: [commit] });
    const signature = createHmac('sha256', hook.hookSecret).update(body).digest('hex');
    const headers = { 'content-type': 'application/json', 'x-slipway-signature': `sha256=${signature}` };
    return fetch(app.url + new URL(hook.hookUrl).pathname, { method: 'POST', headers, body });
  }

  test('registers', async () => {
    const email = `${door}@example.org`;
    const { challenge } = await say<{ challenge: string }>('Mutation.register', { email, password: PASSWORD });
    const code = await app.mailbox.codeFor(email);
    token = (await say<{ accessToken: string }>('Mutation.verifyOtp', { email, code, challenge })).accessToken;
  });

  test('connects a server and a Git account, and has a repository analysed and deployed', async () => {
    const { address: host, privateKey } = server;
    const added = await say<Identified>('Mutation.createServer', { name: 'lab', host, username: 'deploy', privateKey });
    const { id: serverId } = added;
    await eventually(async () => (await say<Identified>('Query.server', { id: serverId })).status === 'READY');
    const repository = await git.publish(`story-${door}`, webApp('one'), { isPrivate: true });
    const account = { provider: 'GIT', baseUrl: repository, username: 'ann', token: 'secret' };
    const { id: gitProviderId } = await say<Identified>('Mutation.saveGitToken', account);
    const { id } = await say<Identified>('Mutation.createProject', {
      name: `Story ${door}`,
      repository,
      gitProviderId,
    });
    await eventually(async () => (await say<Identified>('Query.project', { id })).status === 'ANALYZED');
    const wish = { name: 'production', serverId };
    const done = await say<{ environment: Identified; deployment: Identified }>('Mutation.finalizeProject', {
      ...{ id, environment: wish, deploy: true },
    });
    environmentId = done.environment.id;
    first = await ended(done.deployment.id);
    expect(first).toMatchObject({ status: 'LIVE', error: null });
    expect(await page()).toBe('one');
  });

  let hook: { hookUrl: string; hookSecret: string };

  test('deploys what is pushed', async () => {
    hook = await say('Mutation.setAutoDeploy', { id: environmentId, enabled: true, autoDeployBy: 'BY_HAND' });
    git.push(path, webApp('two'), 'second');
    const told = await tellPush(hook, 'second');
    expect(told.status).toBe(202);
    const { deploymentId } = (await told.json()) as { deploymentId: string };
    expect(await ended(deploymentId)).toMatchObject({ status: 'LIVE', trigger: 'PUSH' });
    expect(await page()).toBe('two');
  });

  test('keeps the old page when a broken commit is pushed', async () => {
    git.push(path, webApp('never', { 'server.js': 'process.exit(3)' }), 'broken');
    const { deploymentId } = (await (await tellPush(hook, 'broken')).json()) as { deploymentId: string };
    const failed = await ended(deploymentId);
    expect(failed).toMatchObject({ status: 'FAILED', error: { code: 'START_FAILED' } });
    expect(await page()).toBe('two');
  });

  test('rolls back', async () => {
    const asked = { environmentId, id: first.id };
    const { id } = await say<Identified>('Mutation.rollbackDeployment', asked);
    expect(await ended(id)).toMatchObject({ status: 'LIVE', trigger: 'ROLLBACK' });
    expect(await page()).toBe('one');
  });

  test('cancels in mid-build', async () => {
    git.push(path, webApp('slow', { Dockerfile: 'FROM node:24-bookworm-slim\nRUN echo begun && sleep 300\n' }), 'slow');
    const { id } = await say<Identified>('Mutation.createDeployment', { environmentId });
    await eventually(async () => {
      const lines = await say<{ message: string }[]>('Query.deploymentLogs', { environmentId, id });
      return lines.some(({ message }) => message.endsWith(' begun'));
    }, 60_000);
    await say('Mutation.cancelDeployment', { environmentId, id });
    expect(await ended(id)).toMatchObject({ status: 'CANCELLED' });
    expect(await page()).toBe('one');
  });

  test('deletes it, and leaves nothing on the server', async () => {
    const { id } = await say<Identified>('Mutation.deleteEnvironment', { id: environmentId });
    await eventually(async () => (await say<Identified>('Query.run', { id })).status === 'SUCCEEDED', 60_000);
    const label = `label=slipway.environment=${environmentId}`;
    for (const words of [
      ['ps', '-aq'],
      ['images', '-q'],
      ['network', 'ls', '-q'],
      ['volume', 'ls', '-q'],
    ])
      expect(await server.exec('docker', ...words, '--filter', label)).toBe('');
  });
});
