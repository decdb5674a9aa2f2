import { afterEach, expect, test } from '@jest/globals';
import { RunKind } from '../../src/entities/run.ts';
import { transact } from '../../src/events/unit-of-work.ts';
import { TestApp } from '../support/create-app.ts';
import { allPages, type Block, blocksOf, type Page } from './markdown.ts';
import { type Happenings, Story } from './story.ts';

/** Pages are run as their readers would run them: with the limits of a fresh installation. */
const AS_INSTALLED = {
  NODE_ENV: 'development',
  RATE_LIMIT: '300/1m',
  RATE_LIMIT_AUTH: '10/1m',
  RATE_LIMIT_EMAIL: '5/1m',
  SLOW_DOWN: '200/1m',
  PUBLIC_URL: 'http://127.0.0.1:3000',
};

const happenings: Happenings = {
  'somebody is signed in': async (app, shell) => {
    const { token } = await app.register('ann@example.org');
    await shell(`TOKEN='${token}'`);
  },
  'a run begins': async ({ app: { database, services } }) => {
    const [workspace] = await database.rows.query<{ id: string }>('select id from workspace order by id limit 1', []);
    if (workspace === undefined) throw new Error('there is nobody to run anything for');
    const { id: workspaceId } = workspace;
    const origin = { workspaceId, actor: null, tokenId: null, ip: null, requestId: null, action: 'reseal' };
    await transact(database.orm.em, origin, async unit => services.runs.start(unit, RunKind.RESEAL, workspaceId, null));
  },
};

const isTold = ({ words, language }: Block) =>
  language === 'test' || ['run', 'answer', 'console'].some(word => words.includes(word));
const settingsOf = (blocks: Block[]) =>
  Object.fromEntries(
    blocks
      .filter(({ language, words }) => language === 'test' && words[0] === 'set')
      .flatMap(({ words }) => words.slice(1).map(word => word.split('=') as [string, string])),
  );

let app: TestApp | undefined;
let story: Story | undefined;
afterEach(async () => {
  await story?.end();
  await app?.stop();
  story = undefined;
  app = undefined;
});

async function tell(page: Page, hasRealCurl?: boolean): Promise<number> {
  const blocks = blocksOf(page).filter(isTold);
  const settings = settingsOf(blocks);
  app = await TestApp.start({ ...AS_INSTALLED, ...settings });
  story = await Story.begin(app, happenings, hasRealCurl);
  for (const block of blocks.filter(({ language, words }) => language !== 'test' || words[0] !== 'set')) {
    await story.tell(block).catch((error: Error) => {
      throw new Error(`${page.path}:${block.line}: ${error.message}`);
    });
  }
  return blocks.length;
}

const pages = allPages().filter(page => blocksOf(page).some(({ words }) => words.includes('run')));

test.each(pages.map(page => [page.path, page] as const))('%s does what it says', async (_, page) => {
  expect(await tell(page)).toBeGreaterThan(0);
});
