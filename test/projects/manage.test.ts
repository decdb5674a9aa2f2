import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Person, TestApp } from '../support/create-app.ts';
import { GitServer } from '../support/git-server.ts';
import { ThreeDoors } from '../support/three-doors.ts';
import { watchAnalysis } from '../support/watching.ts';

interface Project {
  id: string;
  name: string;
  slug: string;
  status: string;
  version: number;
  analysisId: string;
  branch: string | null;
}

const SITE = { 'index.html': '<h1>Hello</h1>' };
const NO_BUILD = {
  ...{ builder: null, dockerfile: null, composeFile: null, installCommand: null, buildCommand: null },
  ...{ startCommand: null, outputDirectory: null, port: null, languageVersion: null },
};

let git: GitServer;
let app: TestApp;
let doors: ThreeDoors;
let ann: Person;
let repository: string;

beforeAll(async () => {
  git = await GitServer.start();
  repository = await git.publish('site', SITE);
  git.push('site.git', { 'package.json': '{"scripts":{"start":"node ."}}', 'app/index.html': '<p>' }, 'node', 'server');
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

describe.each(['rest', 'graphql'] as const)('projects at the door of %s', door => {
  const call = async (name: Parameters<ThreeDoors['call']>[1], args: object = {}, { token } = ann) =>
    doors.call(door, name, { ...args }, { token });
  const create = async (wish: object = {}) =>
    (await call('Mutation.createProject', { name: 'Site', repository, ...wish })).value as Project;
  const settled = async (id: string) => {
    await watchAnalysis(app, ann, id);
    return (await app.rest<Project>('GET', `/projects/${id}`, { token: ann.token })).body;
  };

  test('are made of a repository and analysed by themselves', async () => {
    const made = await call('Mutation.createProject', { name: 'My Site', repository, description: 'About me' });
    expect(made.status).toBe(door === 'rest' ? 201 : 200);
    const project = made.value as Project;
    if (door === 'rest') expect(made.headers.get('location')).toBe(`/api/v1/projects/${project.id}`);
    expect(project).toMatchObject({
      name: 'My Site',
      slug: 'my-site',
      description: 'About me',
      repository,
      gitProviderId: null,
      branch: null,
      rootDirectory: null,
      status: 'ANALYZING',
      build: NO_BUILD,
      version: 1,
    });
    expect(await settled(project.id)).toMatchObject({
      status: 'ANALYZED',
      version: 1,
      analysis: { status: 'SUCCEEDED', commit: { message: 'first', author: 'Ann' }, error: null },
    });
  });

  test('have a slug of their name that is free in the workspace', async () => {
    const names = ['Günters Shop!', 'günters  shop', '日本', '--- ---', `${'x'.repeat(100)}`];
    const slugs: string[] = [];
    for (const name of names) slugs.push((await create({ name })).slug);
    expect(slugs).toEqual(['gunters-shop', 'gunters-shop-2', 'app', 'app-2', 'x'.repeat(40)]);
    const eve = await app.register();
    const theirs = await call('Mutation.createProject', { name: 'Günters Shop', repository }, eve);
    expect(theirs.value).toMatchObject({ slug: 'gunters-shop' });
  });

  test.each([
    ['no name', { name: '' }, 'name'],
    ['a name of two lines', { name: 'a\nb' }, 'name'],
    ['a name of 101 characters', { name: 'x'.repeat(101) }, 'name'],
    ['a branch that is an option', { branch: '--upload-pack=id' }, 'branch'],
    ['a branch that runs something', { branch: '$(id)' }, 'branch'],
    ['a folder outside', { rootDirectory: '../etc' }, 'rootDirectory'],
    ['an absolute folder', { rootDirectory: '/etc' }, 'rootDirectory'],
    ['ssh without an account', { repository: 'ssh://git@localhost/x' }, 'repository'],
    ['a name without an account', { repository: 'ann/shop' }, 'repository'],
    ['a file', { repository: 'file:///etc/passwd' }, 'repository'],
    ['a password', { repository: 'https://ann:secret@localhost/x' }, 'repository'],
    ['no id', { gitProviderId: 'x' }, 'gitProviderId'],
  ])('refuse %s', async (_, wish, field) => {
    const refused = await call('Mutation.createProject', { name: 'Site', repository, ...wish });
    expect(refused).toMatchObject({ status: 400, code: 'BAD_INPUT' });
    expect(refused.fields?.map(fault => fault.field)).toContain(field);
    expect(refused.text).not.toContain('secret');
  });

  test('are listed newest first and by status', async () => {
    const made = [await create(), await create(), await create()];
    for (const { id } of made) await watchAnalysis(app, ann, id);
    const ids = async (args: object) => ((await call('Query.projects', args)).value as Project[]).map(({ id }) => id);
    const newest = made.map(({ id }) => id).reverse();
    expect(await ids({})).toEqual(newest);
    expect(await ids({ limit: 2 })).toEqual(newest.slice(0, 2));
    expect(await ids({ limit: 2, after: newest[1] })).toEqual(newest.slice(2));
    expect(await ids({ status: 'ANALYZED' })).toEqual(newest);
    expect(await ids({ status: 'READY' })).toEqual([]);
  });

  test('change in what is sent; null clears, absence leaves alone', async () => {
    const { id } = await create({ description: 'old' });
    await watchAnalysis(app, ann, id);
    const update = async (change: object) => (await call('Mutation.updateProject', { id, ...change })).value;
    expect(await update({ name: 'New' })).toMatchObject({ name: 'New', slug: 'site', description: 'old', version: 2 });
    expect(await update({ build: { port: 8080, startCommand: 'node .' } })).toMatchObject({
      build: { ...NO_BUILD, port: 8080, startCommand: 'node .' },
      description: 'old',
    });
    expect(await update({ build: { port: null } })).toMatchObject({ build: { ...NO_BUILD, startCommand: 'node .' } });
    expect(await update({ description: null })).toMatchObject({ name: 'New', description: null, version: 5 });
    expect((await settled(id)).status).toBe('ANALYZED');
  });

  test.each([
    ['name', { name: null }],
    ['build', { build: null }],
    ['build.port', { build: { port: 70_000 } }],
    ['build.dockerfile', { build: { dockerfile: '../Dockerfile' } }],
    ['build.startCommand', { build: { startCommand: 'a\nb' } }],
    ['build.languageVersion', { build: { languageVersion: '$(id)' } }],
  ])('refuse a wrong %s', async (field, change) => {
    const { id } = await create();
    const refused = await call('Mutation.updateProject', { id, ...change });
    expect(refused).toMatchObject({ status: 400, code: 'BAD_INPUT', fields: [{ field }] });
  });

  test('are analysed anew for another branch or folder', async () => {
    const { id, analysisId } = await create();
    await watchAnalysis(app, ann, id);
    const changed = (await call('Mutation.updateProject', { id, branch: 'server' })).value as Project;
    expect(changed).toMatchObject({ status: 'ANALYZING', branch: 'server' });
    expect(changed.analysisId).not.toBe(analysisId);
    expect(await settled(id)).toMatchObject({ status: 'ANALYZED', analysis: { commit: { message: 'node' } } });
    await call('Mutation.updateProject', { id, rootDirectory: 'nowhere' });
    expect(await settled(id)).toMatchObject({
      status: 'ANALYSIS_FAILED',
      analysis: { error: { code: 'ROOT_NOT_FOUND' } },
    });
    await call('Mutation.updateProject', { id, rootDirectory: null, branch: null });
    expect(await settled(id)).toMatchObject({ status: 'ANALYZED', analysis: { commit: { message: 'first' } } });
  });

  test('show the branch that was chosen last, although another was being looked at', async () => {
    const held = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    git.intercept = async () => {
      asked.resolve();
      await held.promise;
      return false;
    };
    const { id } = await create();
    await asked.promise;
    await call('Mutation.updateProject', { id, branch: 'server' });
    git.intercept = undefined;
    held.resolve();
    expect(await settled(id)).toMatchObject({
      status: 'ANALYZED',
      branch: 'server',
      analysis: { commit: { message: 'node' } },
    });
  });

  test('refuse a change of what was changed meanwhile', async () => {
    const { id } = await create();
    const args = { id, name: 'Late', ...(door === 'graphql' ? { ifVersion: 9 } : {}) };
    const headers: Record<string, string> = door === 'rest' ? { 'if-match': '"9"' } : {};
    const refused = await doors.call(door, 'Mutation.updateProject', args, { token: ann.token, headers });
    expect(refused).toMatchObject({ status: 412, code: 'VERSION_MISMATCH' });
  });

  test("are nobody else's", async () => {
    const { id } = await create();
    const eve = await app.register();
    const foreign = { status: 404, code: 'NOT_FOUND' };
    expect(await call('Query.project', { id }, eve)).toMatchObject(foreign);
    expect(await call('Mutation.updateProject', { id, name: 'Mine' }, eve)).toMatchObject(foreign);
    expect(await call('Mutation.retryAnalysis', { id }, eve)).toMatchObject(foreign);
    expect(await call('Mutation.deleteProject', { id }, eve)).toMatchObject(foreign);
    const environment = { name: 'production' };
    expect(await call('Mutation.finalizeProject', { id, environment }, eve)).toMatchObject(foreign);
    expect((await call('Query.projects', {}, eve)).value).toEqual([]);
  });
});

test('many of one name at the same moment each get a slug', async () => {
  const body = { name: 'Rush', repository };
  const wishes = Array.from({ length: 10 }, () => app.rest<Project>('POST', '/projects', { token: ann.token, body }));
  const slugs = (await Promise.all(wishes)).map(({ body: { slug } }) => slug);
  expect(new Set(slugs)).toEqual(new Set(['rush', ...Array.from({ length: 9 }, (_, index) => `rush-${index + 2}`)]));
});
