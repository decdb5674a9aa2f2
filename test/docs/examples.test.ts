import { afterAll, afterEach, expect, test } from '@jest/globals';
import { RunKind } from '../../src/entities/run.ts';
import { transact, workOrigin } from '../../src/events/unit-of-work.ts';
import { TestApp } from '../support/create-app.ts';
import { eventually } from '../support/eventually.ts';
import { SshMachine } from '../support/ssh-machine.ts';
import { deploymentHappenings } from './deployments-at-hand.ts';
import { environmentHappenings, makeProject } from './environments-at-hand.ts';
import { GitAtHand } from './git-at-hand.ts';
import { allPages, type Block, blocksOf, type Page, readPage } from './markdown.ts';
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

const git = new GitAtHand();
afterAll(() => git.stop());

let machine: SshMachine | undefined;
afterAll(() => machine?.stop());

const happenings: Happenings = {
  ...deploymentHappenings,
  ...environmentHappenings,
  'a machine is at hand': async (_, shell) => {
    machine ??= await SshMachine.start();
    machine.program('sudo', 'shift 2; exec "$@"');
    machine.program('df', 'echo Filesystem; echo /dev/vda 40000 10000 30000 25% /');
    machine.program('docker', 'exit 1');
    machine.isClosed = true;
    await shell(`SERVER_HOST='127.0.0.1' SERVER_PORT='${machine.port}'`);
  },
  'the machine lets Slipway in': async () => {
    if (machine) machine.isClosed = false;
  },
  'the server is ready': async ({ app: { database, queue } }) => {
    machine?.program('docker', 'echo 27.1.0');
    const [server] = await database.rows.query<{ id: string }>('select id from server order by id limit 1', []);
    await queue.boss.send('server.look', { serverId: server?.id });
    const look = `select 1 from server where facts->>'docker' is not null`;
    await eventually(async () => (await database.rows.query(look, [])).length > 0);
  },
  'a project is analysed': async (app, shell) => {
    await shell(`PROJECT='${await makeProject(app, await git.address())}'`);
  },
  'a repository is at hand': (_, shell) => git.publish(shell),
  'somebody is signed in': async (app, shell) => {
    const { token } = await app.register('ann@example.org');
    await shell(`TOKEN='${token}'`);
  },
  'a run begins': async ({ app: { database, services } }) => {
    const [workspace] = await database.rows.query<{ id: string }>('select id from workspace order by id limit 1', []);
    if (workspace === undefined) throw new Error('there is nobody to run anything for');
    const { id: workspaceId } = workspace;
    await transact(database.orm.em, workOrigin('reseal', workspaceId), async unit =>
      services.runs.start(unit, RunKind.RESEAL, workspaceId, null),
    );
  },
};

/** A page, or the part of it behind a `<!-- test: set NAME=value -->`, on an installation of its own. */
interface Chapter {
  settings: Record<string, string>;
  blocks: Block[];
}

const isTold = ({ words, language }: Block) =>
  language === 'test' || ['run', 'answer', 'console'].some(word => words.includes(word));

function chaptersOf(page: Page): Chapter[] {
  const chapters: Chapter[] = [{ settings: {}, blocks: [] }];
  for (const block of blocksOf(page).filter(isTold)) {
    const { language, words } = block;
    if (language === 'test' && words[0] === 'set') {
      const settings = Object.fromEntries(words.slice(1).map(word => word.split('=') as [string, string]));
      chapters.push({ settings, blocks: [] });
    } else chapters.at(-1)?.blocks.push(block);
  }
  return chapters.filter(({ blocks }) => blocks.length > 0);
}

let app: TestApp | undefined;
let story: Story | undefined;
afterEach(close);

async function close(): Promise<void> {
  await story?.end();
  await app?.stop();
  story = undefined;
  app = undefined;
}

async function tell(page: Page, hasRealCurl?: boolean): Promise<void> {
  for (const { settings, blocks } of chaptersOf(page)) {
    app = await TestApp.start({ ...AS_INSTALLED, ...(await git.settingsFor(settings)) });
    story = await Story.begin(app, happenings, hasRealCurl);
    for (const block of blocks) {
      await story.tell(block).catch((error: Error) => {
        throw new Error(`${page.path}:${block.line}: ${error.message}`);
      });
    }
    await close();
  }
}

const pages = allPages().filter(page => blocksOf(page).some(({ words }) => words.includes('run')));

/** A page is a story of many commands, and machines that test are busy. */
const LONG_MS = 90_000;

test.each(pages.map(page => [page.path, page] as const))(
  '%s does what it says',
  async (_, page) => {
    expect(chaptersOf(page)).not.toEqual([]);
    await tell(page);
  },
  LONG_MS,
);

test(
  'README.md does what it says where there is no curl',
  async () => {
    await tell(readPage('README.md'), false);
  },
  LONG_MS,
);

test('the first five minutes are run from the first command to the last', () => {
  const text = readPage('README.md').text.split('## The first five minutes')[1]?.split('\n## ')[0] ?? '';
  const blocks = blocksOf({ path: 'README.md', text });
  expect(blocks.filter(block => !isTold(block))).toEqual([]);
  expect(blocks.filter(({ language, words }) => language !== 'test' && words.includes('run'))).toHaveLength(5);
});
