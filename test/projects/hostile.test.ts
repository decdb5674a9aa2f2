import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Person, TestApp } from '../support/create-app.ts';
import { GitServer } from '../support/git-server.ts';
import { watchAnalysis } from '../support/watching.ts';

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

const NUL = '\\u0000';
const LONE = '\\ud800';

/** Things that a database, a stream or a page could choke on, inside what the analysis repeats. */
const REPOSITORIES: Record<string, Record<string, string>> = {
  'a NUL in a script': { 'package.json': `{"name":"a${NUL}b","scripts":{"start":"node ${NUL}x"}}` },
  'half a character in a script': { 'package.json': `{"name":"a","scripts":{"start":"node ${LONE}"}}` },
  'a NUL in a variable': {
    'package.json': '{"scripts":{"start":"node ."}}',
    '.env.example': 'KEY="a\0b"\nOTHER=\ud800\n',
  },
  'a NUL in a port': { Dockerfile: 'FROM scratch\nEXPOSE 80\0\nENV A=\0\n' },
  'a line break in a name': {
    'package.json': '{"name":"a\\nevent: x\\ndata: y","scripts":{"start":"node .\\n\\nid: 7"}}',
  },
};

test.each(Object.entries(REPOSITORIES))('%s is told without breaking what tells it', async (name, files) => {
  const repository = await git.publish(name.replaceAll(' ', '-'), files);
  const body = { name, repository };
  const { id } = (await app.rest<{ id: string }>('POST', '/projects', { token: ann.token, body })).body;
  const messages = await watchAnalysis(app, ann, id);
  const { body: project } = await app.rest<{ analysis: { status: string; error: { code: string } | null } }>(
    'GET',
    `/projects/${id}`,
    { token: ann.token },
  );
  expect(project.analysis.error?.code).not.toBe('INTERNAL');
  expect(messages.at(-1)?.status).toBe(project.analysis.status);
  const now = await app.rest('GET', `/projects/analyze-repo?repository=${encodeURIComponent(repository)}`, {
    token: ann.token,
  });
  expect([200, 400]).toContain(now.status);
});

test('more files than are looked at is a clear answer', async () => {
  const path = git.init('crowd');
  git.fill(path, 50_500);
  const body = { name: 'Crowd', repository: `${git.url}/${path}` };
  const { id } = (await app.rest<{ id: string }>('POST', '/projects', { token: ann.token, body })).body;
  await watchAnalysis(app, ann, id);
  const { body: project } = await app.rest('GET', `/projects/${id}`, { token: ann.token });
  expect(project).toMatchObject({
    status: 'ANALYSIS_FAILED',
    analysis: { error: { code: 'TOO_MANY_FILES', hint: /root directory/ } },
  });
}, 60_000);
