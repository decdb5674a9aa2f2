import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestApp } from '../support/create-app.ts';
import { eventually } from '../support/eventually.ts';
import { cloneDatabase, dropDatabase } from '../support/test-database.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-failed-start-'));
  await writeFile(join(folder, 'manifest.json'), '{}');
});
afterAll(() => rm(folder, { recursive: true }));

/** What keeps a process alive: sockets and timers. */
const activities = (): number => process.getActiveResourcesInfo().filter(kind => /Timeout|TCP|Pipe/.test(kind)).length;

/** Sockets are closed a moment after they are let go; pg-boss's timers would stay. */
const settled = (before: number) => eventually(() => activities() <= before, 3000);

test('a start that fails when the queue and the listener run already leaves nothing running', async () => {
  const databaseUrl = await cloneDatabase();
  const before = activities();
  const settings = { DATABASE_URL: databaseUrl, PERSISTED_OPERATIONS: join(folder, 'manifest.json') };
  await expect(TestApp.start(settings)).rejects.toThrow(/PERSISTED_OPERATIONS: names a file that is no manifest/);
  await settled(before);
  await dropDatabase(databaseUrl);
});

test('so does one that finds no database', async () => {
  const before = activities();
  const nowhere = { DATABASE_URL: 'postgresql://nobody@127.0.0.1:9/none' };
  await expect(TestApp.start(nowhere)).rejects.toThrow(/ECONNREFUSED/);
  await settled(before);
});
