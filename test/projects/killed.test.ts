import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { restCall } from '../support/doors.ts';
import { GitServer } from '../support/git-server.ts';
import { Service } from '../support/service.ts';
import { cloneDatabase, dropDatabase, forgetHeartbeats } from '../support/test-database.ts';
import { watchAnalysis } from '../support/watching.ts';

const KEY = 'a test key that is long enough to be one';
const open: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

test('a worker that is killed during the analysis: another takes it up and ends it', async () => {
  const git = await GitServer.start();
  open.push(() => git.stop());
  const repository = await git.publish('shop', { 'package.json': '{"scripts":{"start":"node ."}}' });
  const DATABASE_URL = await cloneDatabase();
  open.push(() => dropDatabase(DATABASE_URL));
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'slipway-killed-'));
  open.push(() => rmSync(DATA_DIR, { recursive: true, force: true }));
  const env = {
    ...{ DATABASE_URL, DATA_DIR, MASTER_KEY: KEY, JWT_SECRET: KEY },
    ...{ OUTBOUND_ALLOW: '127.0.0.0/8', OUTBOUND_CA_FILE: git.caFile },
  };
  const first = await Service.start(env);
  open.push(() => first.kill());
  const asked = Promise.withResolvers<void>();
  // Whoever asks first is held for ever.
  git.intercept = () => {
    git.intercept = undefined;
    asked.resolve();
    return true;
  };
  const token = await first.signIn();
  const created = await restCall<{ id: string }>(`${first.url}/api/v1/projects`, 'POST', {
    token,
    body: { name: 'Shop', repository },
  });
  const { id } = created.body;
  await asked.promise;
  await first.kill();
  await forgetHeartbeats(DATABASE_URL);
  const second = await Service.start(env);
  open.push(() => second.kill());
  const messages = await watchAnalysis(second, { token }, id);
  expect(messages.map(({ seq }) => seq)).toEqual(messages.map((_, index) => index + 1));
  expect(messages.map(({ step }) => step)).toEqual([
    ...['FETCHING', 'FETCHING', 'LISTING', 'DETECTING', 'APPS', 'SERVICES', 'VARIABLES', 'DONE'],
  ]);
  expect(messages.at(-1)).toMatchObject({ status: 'SUCCEEDED' });
  const read = await restCall<{ status: string }>(`${second.url}/api/v1/projects/${id}`, 'GET', { token });
  expect(read.body.status).toBe('ANALYZED');
}, 120_000);
