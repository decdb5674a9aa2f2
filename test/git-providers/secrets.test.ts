import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CapturedLog } from '../support/captured-log.ts';
import { joinFiles, makeCertificate } from '../support/certificate.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { makeServer } from '../support/deployments.ts';
import { FakeGitLab } from '../support/fake-gitlab.ts';
import { GitServer } from '../support/git-server.ts';
import { SseClient } from '../support/sse-client.ts';
import { StandIn } from '../support/stand-in.ts';

const plant = (name: string): string => `planted-${name}-${randomBytes(9).toString('hex')}`;

let api: StandIn;
let git: GitServer;
let app: TestApp;
let ann: Person;
const log = new CapturedLog();
const planted: string[] = [];
const answers: string[] = [];

beforeAll(async () => {
  api = await StandIn.start();
  git = await GitServer.start();
  const caFile = joinFiles(git.folder, api.caFile, git.caFile);
  const settings = { OUTBOUND_ALLOW: '127.0.0.0/8', OUTBOUND_CA_FILE: caFile, LOG_LEVEL: 'trace' };
  app = await TestApp.start(settings, log.log);
  ann = await app.register();
});
afterAll(async () => {
  await app.stop();
  await git.stop();
  await api.stop();
});

async function call(method: string, path: string, body?: object): Promise<{ id: string }> {
  const answer = await app.rest<{ id: string }>(method, path, { token: ann.token, ...(body ? { body } : {}) });
  answers.push(`${JSON.stringify([...answer.headers])}${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Everything the database holds, as text. */
async function dump(): Promise<string> {
  const tables = await app.sql<{ name: string }>(
    `select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  const rows = tables.map(({ name }) => app.sql<{ row: string }>(`select t::text as row from ${name} t`));
  return JSON.stringify(await Promise.all(rows));
}

/** In whatever form it might have been written down. */
const formsOf = (secret: string): string[] => [
  secret,
  Buffer.from(secret).toString('base64').slice(0, -4),
  Buffer.from(`ann:${secret}`).toString('base64').slice(0, -4),
  Buffer.from(`oauth2:${secret}`).toString('base64').slice(0, -4),
  Buffer.from(secret).toString('hex'),
  encodeURIComponent(secret),
];

test('no token and no variable is found anywhere but where it is used', async () => {
  const events = await SseClient.open(`${app.url}/api/v1/events`, { token: ann.token });
  for (let index = 0; index < 20; index += 1) await useProvider(index);
  await usePlainGit();
  await finalise();
  const texts = { answers: answers.join('\n'), log: log.lines.join('\n'), database: await dump() };
  const streamed = events
    .drain()
    .map(({ data }) => data)
    .join('\n');
  expect(streamed).toContain('project_updated');
  expect(planted.length).toBeGreaterThan(200);
  for (const [place, text] of Object.entries({ ...texts, streamed })) {
    const found = planted.filter(secret => formsOf(secret).some(form => text.includes(form)));
    expect({ place, found }).toEqual({ place, found: [] });
  }
  await events.cut();
}, 120_000);

/** Rejected, accepted, and with a provider that repeats what it was sent. */
async function useProvider(index: number): Promise<void> {
  const gitlab = new FakeGitLab(api, `/g${index}`, `user-${index}`);
  const [good, bad] = [plant('good'), plant('bad')];
  planted.push(good, bad);
  gitlab.token = good;
  gitlab.fill(1, new Date());
  await call('POST', '/git-provider/save-token', { ...gitlab.account, token: bad });
  const { id } = await call('POST', '/git-provider/save-token', gitlab.account);
  gitlab.trouble = { status: [500, 403, 429, 404][index % 4] ?? 500, body: { message: `bad token ${good}` } };
  await call('GET', '/git-providers/repositories?limit=1');
  await call('GET', `/git-providers/${id}/repos/0/branches`);
  await call('GET', `/projects/analyze-repo?repository=0&gitProviderId=${id}`);
  await call('GET', '/git-providers');
}

async function usePlainGit(): Promise<void> {
  const baseUrl = await git.publish('shop', { 'package.json': '{"scripts":{"start":"node ."}}' }, { isPrivate: true });
  const wrong = plant('password');
  planted.push(wrong);
  await call('POST', '/git-provider/save-token', { provider: 'GIT', baseUrl, username: 'ann', token: wrong });
}

async function finalise(): Promise<void> {
  const repository = await git.publish('public-shop', { 'package.json': '{"scripts":{"start":"node ."}}' });
  const { id } = await call('POST', '/projects', { name: 'Shop', repository });
  const stream = await SseClient.open(`${app.url}/api/v1/projects/${id}/analysis-status`, { token: ann.token });
  await stream.ended;
  const variables = Array.from({ length: 170 }, (_, index) => ({ key: `KEY_${index}`, value: plant('value') }));
  planted.push(...variables.map(({ value }) => value));
  const { id: serverId } = await makeServer(app, ann);
  const wish = { environment: { name: 'production', serverId, variables }, deploy: true };
  await call('POST', `/projects/${id}/finalize`, wish);
  await call('POST', `/projects/${id}/finalize`, wish);
  await call('GET', `/projects/${id}`);
  await fill(id);
}

/** Variables by all ways, and a key of somebody's own. */
async function fill(projectId: string): Promise<void> {
  const { id } = await call('POST', '/environments', { projectId, name: 'staging' });
  const [value, line, broken] = [plant('value'), plant('line'), plant('broken')];
  const { cert, key } = makeCertificate(mkdtempSync(join(git.folder, 'own-')), 'DNS:shop.example.org');
  planted.push(value, line, broken, key.split('\n')[1] ?? '');
  await call('POST', `/environments/${id}/variables`, { variables: [{ key: 'A', value }] });
  await call('POST', `/environments/${id}/variables`, { dotenv: `B="${line}"` });
  await call('POST', `/environments/${id}/variables`, { dotenv: `${broken}\nC='${broken}` });
  await call('GET', `/environments/${id}/variables`);
  const domain = { hostname: 'shop.example.org', ssl: 'CUSTOM', certificate: cert, privateKey: key };
  await call('POST', `/environments/${id}/domain`, { ...domain, hostname: 'store.example.org' });
  await call('POST', `/environments/${id}/domain`, domain);
  await call('GET', `/environments/${id}`);
}
