import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Person, TestApp } from '../support/create-app.ts';

let app: TestApp;
let ann: Person;
let shop: string;
let blog: string;
let token: string;

beforeAll(async () => {
  app = await TestApp.start();
  ann = await app.register();
  [shop, blog] = [await makeProject('Shop'), await makeProject('Blog')];
  const body = { name: 'ci', scope: 'write', projectId: shop };
  const made = await app.rest<{ token: string }>('POST', '/auth/tokens', { token: ann.token, body });
  expect(made).toMatchObject({ status: 201, body: { projectId: shop, environmentId: null } });
  token = made.body.token;
});
afterAll(() => app.stop());

async function makeProject(name: string): Promise<string> {
  const body = { name, repository: 'https://git.example.org/ann/app.git' };
  return (await app.rest<{ id: string }>('POST', '/projects', { token: ann.token, body })).body.id;
}

describe('a token bound to a project', () => {
  test('sees its project and no other', async () => {
    const list = await app.rest<{ id: string }[]>('GET', '/projects', { token });
    expect(list.body.map(({ id }) => id)).toEqual([shop]);
    expect((await app.rest('GET', `/projects/${shop}`, { token })).status).toBe(200);
    expect(await app.rest('GET', `/projects/${blog}`, { token })).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND' },
    });
  });

  test('changes its project and no other, at either door', async () => {
    expect((await app.rest('PUT', `/projects/${shop}`, { token, body: { description: 'mine' } })).status).toBe(200);
    expect((await app.rest('PUT', `/projects/${blog}`, { token, body: { description: 'mine' } })).status).toBe(404);
    const mutation = 'mutation ($id: ID!) { updateProject(id: $id, description: "x") { id } }';
    expect((await app.graphql(mutation, { id: blog }, token)).errors).toMatchObject([
      { extensions: { code: 'NOT_FOUND' } },
    ]);
  });

  test('is refused what is not part of a project', async () => {
    for (const path of ['/audit', '/members', '/git-providers', '/runs']) {
      expect(await app.rest('GET', path, { token })).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    }
    const body = { name: 'Third', repository: 'https://git.example.org/ann/app.git' };
    expect((await app.rest('POST', '/projects', { token, body })).status).toBe(403);
  });

  test('hears events of its project only', async () => {
    expect((await app.rest('GET', `/events?projectId=${blog}`, { token })).status).toBe(404);
  });

  test('cannot be bound to what is not there, and goes with its project', async () => {
    const foreign = await app.register();
    const body = { name: 'ci', scope: 'read', projectId: shop };
    expect((await app.rest('POST', '/auth/tokens', { token: foreign.token, body })).status).toBe(404);
    await app.sql('delete from project where id = $1', [shop]);
    expect(await app.sql('select 1 from api_token where project_id = $1', [shop])).toEqual([]);
  });
});
