import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Person, TestApp } from '../support/create-app.ts';
import { GitServer } from '../support/git-server.ts';

let git: GitServer;
let app: TestApp;
let ann: Person;

beforeAll(async () => {
  git = await GitServer.start();
  app = await TestApp.start({ OUTBOUND_ALLOW: '127.0.0.0/8', OUTBOUND_CA_FILE: git.caFile });
  ann = await app.register();
}, 60_000);
afterAll(async () => {
  await app.stop();
  await git.stop();
});

async function readToEnd<Message>({ url }: TestApp, path: string, { token }: Person): Promise<Message[]> {
  const response = await fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
  const text = await response.text();
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data as string) as Message);
}

const shop = {
  'package.json': JSON.stringify({
    name: 'shop',
    scripts: { start: 'node server.js' },
    dependencies: { express: '5.0.0' },
  }),
  'server.js': "require('express')().listen(process.env.PORT || 3000)",
};

test('a project of a public repository is analysed by itself and tells its steps', async () => {
  const repository = await git.publish('shop', shop);
  const created = await app.rest<{ id: string }>('POST', '/projects', {
    token: ann.token,
    body: { name: 'Shop', repository },
  });
  expect(created).toMatchObject({ status: 201, body: { name: 'Shop', slug: 'shop', status: 'ANALYZING' } });
  const messages = await readToEnd<{ status: string; step: string; progress: number }>(
    app,
    `/projects/${created.body.id}/analysis-status`,
    ann,
  );
  expect(messages.map(({ step }) => step)).toEqual([
    'FETCHING',
    'LISTING',
    'DETECTING',
    'APPS',
    'SERVICES',
    'VARIABLES',
    'DONE',
  ]);
  expect(messages.at(-1)).toMatchObject({
    status: 'SUCCEEDED',
    progress: 100,
    result: { language: 'node', framework: 'express' },
  });
  const read = await app.rest('GET', `/projects/${created.body.id}`, { token: ann.token });
  expect(read.body).toMatchObject({
    status: 'ANALYZED',
    analysis: { commit: { message: 'first' }, result: { packageManager: 'npm' } },
  });
});
