import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sshCommand } from '../../src/commands/git.commands.ts';
import { entriesOf, NOBODY, TestCheckouts } from '../support/checkouts.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { GitServer } from '../support/git-server.ts';
import { hasProgram, SshDaemon } from '../support/ssh-daemon.ts';

const testWithSsh = hasProgram('ssh') ? test : test.skip;

testWithSsh('ssh is given the account that Slipway runs under in nothing', () => {
  const spec = {
    keyFile: null,
    knownHostsFile: '/tmp/a b/100%',
    address: '192.0.2.1',
    alias: '[example.org]:2222',
    user: 'git',
  };
  const line = String(sshCommand(spec));
  expect(line).toMatch(/^ssh -F \/dev\/null -o IdentityFile=none -o IdentitiesOnly=yes -o IdentityAgent=none/);
  // What ssh itself makes of it.
  const settings = execFileSync('sh', ['-c', `${line} -G example.org`], {
    stdio: ['ignore', 'pipe', 'ignore'],
  }).toString();
  expect(settings).toMatch(/^identityfile none$/m);
  expect(settings).toMatch(/^identityagent none$/m);
  expect(settings).toMatch(/^hostname 192\.0\.2\.1$/m);
  expect(settings).toMatch(/^hostkeyalias \[example\.org\]:2222$/m);
  expect(settings).toMatch(/^userknownhostsfile \/tmp\/a b\/100%$/m);
  expect(settings).toMatch(/^user git$/m);
  expect(settings).toMatch(/^stricthostkeychecking accept-new$/m);
  expect(settings).toMatch(/^batchmode yes$/m);
});

const describeWithSshd = SshDaemon.isInstalled ? describe : describe.skip;

describeWithSshd('a repository behind sshd (skipped where there is none)', () => {
  let repositories: GitServer;
  let daemon: SshDaemon;
  let checkouts: TestCheckouts;

  beforeAll(async () => {
    repositories = await GitServer.start();
    await repositories.publish('shop', { 'package.json': '{"scripts":{"start":"node ."}}' });
    daemon = await SshDaemon.start();
    checkouts = new TestCheckouts();
  });
  afterAll(async () => {
    await checkouts.stop();
    await daemon.stop();
    await repositories.stop();
  });

  const urlOf = (name: string) => daemon.addressOf(join(repositories.folder, name));
  const withKey = (privateKey: string) => ({ ...NOBODY, privateKey });
  const failing = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

  test('is listed and cloned with its key', async () => {
    const { branches, defaultBranch } = await checkouts.git.listRefs(urlOf('shop.git'), withKey(daemon.key));
    expect({ branches: branches.map(({ name }) => name), defaultBranch }).toEqual({
      branches: ['main'],
      defaultBranch: 'main',
    });
    const checkout = await checkouts.clone(urlOf('shop.git'), 'main', withKey(daemon.key));
    expect(Object.keys(await entriesOf(checkout))).toEqual(['package.json']);
  });

  test("remembers the server's key by its name and port, in a file of its own", () => {
    const known = readFileSync(join(checkouts.folder, 'known-hosts'), 'utf8');
    expect(known).toMatch(new RegExp(`^\\[localhost\\]:${daemon.port} ssh-ed25519 `, 'm'));
  });

  test('is not opened by another key, nor by none', async () => {
    const other = await failing(checkouts.git.listRefs(urlOf('shop.git'), withKey(daemon.makeOtherKey())));
    expect(other).toMatchObject({ kind: 'TOKEN_REJECTED' });
    expect(await failing(checkouts.git.listRefs(urlOf('shop.git'), NOBODY))).toMatchObject({ kind: 'NOT_FOUND' });
  });

  test('may not exist, and may lack the branch', async () => {
    const { key } = daemon;
    expect(await failing(checkouts.clone(urlOf('nowhere.git'), null, withKey(key)))).toMatchObject({
      kind: 'NOT_FOUND',
    });
    expect(await failing(checkouts.clone(urlOf('shop.git'), 'nowhere', withKey(key)))).toMatchObject({
      kind: 'NO_BRANCH',
    });
  });

  test('leaves no key behind', () => {
    const work = join(checkouts.folder, 'work');
    expect(checkouts.leftovers.filter(name => existsSync(join(work, name, 'key')))).toEqual([]);
    expect(statSync(work).mode & 0o077).toBe(0);
  });

  test('becomes a project of an account that is connected by key', async () => {
    const app = await TestApp.start({ OUTBOUND_ALLOW: '127.0.0.0/8', DATA_DIR: daemon.folder });
    try {
      await connectAndAnalyse(app, await app.register());
    } finally {
      await app.stop();
    }
  });

  async function connectAndAnalyse(app: TestApp, { token }: Person): Promise<void> {
    const locked = daemon.makeOtherKey('-N', 'a passphrase');
    const account = { provider: 'GIT', baseUrl: urlOf('shop.git') };
    for (const bad of ['no key at all', locked]) {
      const refused = await app.rest('POST', '/git-provider/save-token', { token, body: { ...account, token: bad } });
      expect(refused).toMatchObject({ status: 400, body: { code: 'BAD_INPUT', fields: [{ field: 'token' }] } });
    }
    const other = { ...account, token: daemon.makeOtherKey() };
    expect(await app.rest('POST', '/git-provider/save-token', { token, body: other })).toMatchObject({
      status: 400,
      body: { code: 'TOKEN_REJECTED' },
    });
    const saved = await app.rest<{ id: string }>('POST', '/git-provider/save-token', {
      token,
      body: { ...account, token: daemon.key },
    });
    expect(saved).toMatchObject({ status: 201, body: { provider: 'GIT', username: daemon.user, state: 'CONNECTED' } });
    const body = { name: 'Shop', repository: urlOf('shop.git'), gitProviderId: saved.body.id };
    const project = await app.rest<{ id: string }>('POST', '/projects', { token, body });
    const stream = await fetch(`${app.url}/api/v1/projects/${project.body.id}/analysis-status`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await stream.text()).toMatch(/"status":"SUCCEEDED","step":"DONE"/);
  }

  test('is not spoken to when its host key has changed', async () => {
    await daemon.changeHostKey();
    const error = await failing(checkouts.git.listRefs(urlOf('shop.git'), withKey(daemon.key)));
    expect(error).toMatchObject({ kind: 'UNTRUSTED', message: /host key is not the one seen before/ });
    expect(await failing(checkouts.clone(urlOf('shop.git'), null, withKey(daemon.key)))).toMatchObject({
      kind: 'UNTRUSTED',
    });
  });
});
