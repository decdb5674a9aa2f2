import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Person, TestApp } from '../support/create-app.ts';
import { eventually } from '../support/eventually.ts';
import { FakeGitLab } from '../support/fake-gitlab.ts';
import { StandIn } from '../support/stand-in.ts';

interface Account {
  username: string;
  state: string;
  version: number;
  checkedAt: string;
}

let api: StandIn;
let app: TestApp;
let ann: Person;
const accounts: Record<string, FakeGitLab> = {};

beforeAll(async () => {
  api = await StandIn.start();
  app = await TestApp.start({ OUTBOUND_ALLOW: '127.0.0.0/8', OUTBOUND_CA_FILE: api.caFile });
  ann = await app.register();
});
afterAll(async () => {
  await app.stop();
  await api.stop();
});

async function connect(name: string): Promise<FakeGitLab> {
  const gitlab = new FakeGitLab(api, `/${name}`, name);
  await app.rest('POST', '/git-provider/save-token', { token: ann.token, body: gitlab.account });
  accounts[name] = gitlab;
  return gitlab;
}

const states = async (): Promise<Record<string, string>> => {
  const { body } = await app.rest<Account[]>('GET', '/git-providers', { token: ann.token });
  return Object.fromEntries(body.map(({ username, state }) => [username, state]));
};

/** As the clock does it every six hours. */
async function check(): Promise<void> {
  const id = await app.app.queue.boss.send('git.check', {});
  await eventually(async () => {
    const [job] = await app.app.queue.boss.findJobs('git.check', { id: id ?? '' });
    return job?.state === 'completed';
  });
}

test('accounts are looked at from time to time, and their state is told', async () => {
  const soon = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10);
  await connect('sound');
  (await connect('revoked')).token = 'glpat-another';
  (await connect('narrowed')).scopes = ['read_user'];
  (await connect('forbidden')).trouble = { status: 403 };
  (await connect('away')).trouble = { status: 503 };
  (await connect('ending')).expiresAt = soon;
  (await connect('busy')).trouble = { status: 429, headers: { 'retry-after': '60' } };
  (await connect('strange')).trouble = { body: '<html>' };
  expect(new Set(Object.values(await states()))).toEqual(new Set(['CONNECTED']));
  await check();
  expect(await states()).toEqual({
    sound: 'CONNECTED',
    revoked: 'REVOKED',
    narrowed: 'INSUFFICIENT_SCOPE',
    forbidden: 'INSUFFICIENT_SCOPE',
    away: 'UNREACHABLE',
    ending: 'EXPIRING',
    // A limit says nothing of the token.
    busy: 'CONNECTED',
    strange: 'UNREACHABLE',
  });
});

test('what is well again is told so, and the version of its configuration does not move', async () => {
  for (const gitlab of Object.values(accounts)) {
    Object.assign(gitlab, { trouble: undefined, token: 'glpat-good', scopes: ['api'], expiresAt: null });
  }
  await check();
  expect(new Set(Object.values(await states()))).toEqual(new Set(['CONNECTED']));
  const { body } = await app.rest<Account[]>('GET', '/git-providers', { token: ann.token });
  expect(new Set(body.map(({ version }) => version))).toEqual(new Set([1]));
});

test('a token that is replaced while the old one is looked at is not judged by it', async () => {
  const gitlab = accounts.sound as FakeGitLab;
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<{ status: number }>();
  gitlab.trouble = () => {
    asked.resolve();
    return answer.promise;
  };
  const checking = check();
  await asked.promise;
  gitlab.trouble = undefined;
  gitlab.token = 'glpat-new';
  await app.rest('POST', '/git-provider/save-token', { token: ann.token, body: gitlab.account });
  answer.resolve({ status: 401 });
  await checking;
  expect((await states()).sound).toBe('CONNECTED');
});
