import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CapturedLog } from '../support/captured-log.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { PlantedSecrets } from '../support/planted-secrets.ts';
import { tellRuns } from '../support/runs.ts';
import { DOORS, type Door, type Outcome, ThreeDoors } from '../support/three-doors.ts';

const PEOPLE = 9;
const secrets = new PlantedSecrets();
const captured = new CapturedLog();
const random = () => randomBytes(18).toString('base64url');
const plant = (kind: string) => secrets.plant(kind, `Sec-${random()}`);

const config = {
  MASTER_KEY: plant('MASTER_KEY') + random(),
  // The template of the test databases was sealed with this one.
  MASTER_KEY_PREVIOUS: 'a test key that is long enough to be one',
  JWT_SECRET: plant('JWT_SECRET') + random(),
  METRICS_TOKEN: plant('METRICS_TOKEN'),
};

let app: TestApp;
let doors: ThreeDoors;
let leaks: string[];
let stream = '';
beforeAll(async () => {
  app = await TestApp.start(config, captured.log);
  doors = await ThreeDoors.of(app);
  leaks = [];
});
afterAll(() => app.stop());

/** Asks, and looks through the answer: only what it is there to give may be in it. */
async function ask(
  door: Door,
  name: Parameters<ThreeDoors['call']>[1],
  args: Record<string, unknown>,
  token?: string,
  gives: string[] = [],
): Promise<Outcome> {
  const headers = { 'idempotency-key': plant('Idempotency-Key') };
  const outcome = await doors.call(door, name, args, { token, headers });
  const given = gives.flatMap(field => secretIn(name, field, (outcome.value ?? outcome) as Record<string, string>));
  leaks.push(...secrets.foundIn(`the answer of ${door} ${name}`, outcome.text, given));
  return outcome;
}

/** Of a token only what proves it is secret: of ours, the part after the last dot. */
function secretIn(name: string, field: string, value: Record<string, string | undefined>): string[] {
  const token = value[field]?.split('.').at(-1);
  return token === undefined ? [] : [secrets.plant(`${field} of ${name}`, token)];
}

async function live(door: Door, n: number): Promise<void> {
  const email = `person-${n}@example.org`;
  const [password, second, third] = [plant('password'), plant('new password'), plant('password after a reset')];
  const registered = await ask(door, 'Mutation.register', { email, password }, undefined, ['challenge']);
  const { challenge } = registered.value as { challenge: string };
  await ask(door, 'Mutation.login', { email, password: plant('wrong password') });
  const code = secrets.plant('code', await app.mailbox.codeFor(email));
  const signedIn = await ask(door, 'Mutation.verifyOtp', { email, code, challenge }, undefined, [
    'accessToken',
    'refreshToken',
  ]);
  const { accessToken: token, refreshToken } = signedIn.value as { accessToken: string; refreshToken: string };
  await ask(door, 'Mutation.refresh', { refreshToken }, undefined, ['accessToken', 'refreshToken']);
  await ask(door, 'Mutation.createApiToken', { name: `token ${n}`, scope: 'write' }, token, ['token']);
  await ask(door, 'Mutation.createStreamTicket', { path: '/api/v1/events' }, token, ['ticket']);
  await ask(door, 'Mutation.updateMe', { password: second, currentPassword: plant('wrong current password') }, token);
  await ask(door, 'Mutation.updateMe', { password: second, currentPassword: password, twoFactorEnabled: true }, token);
  await ask(door, 'Mutation.createInvitation', { email: `guest-${n}@example.org`, role: 'VIEWER' }, token);
  secrets.plant('invitation', await app.mailbox.invitationFor(`guest-${n}@example.org`));
  await ask(
    door,
    'Mutation.saveGitToken',
    { provider: 'GITEA', token: plant('Git token'), baseUrl: 'https://git.invalid' },
    token,
  );
  await misplace(door, token);
  await ask(door, 'Mutation.forgotPassword', { email });
  const reset = secrets.plant('reset token', await app.mailbox.resetTokenFor(email));
  await ask(door, 'Mutation.resetPassword', { token: reset, password: third });
  await ask(door, 'Mutation.login', { email, password: third }, undefined, ['challenge']);
  secrets.plant('sign-in code', await app.mailbox.codeFor(email));
}

/** Secrets where they do not belong: in other fields, in addresses, in headers, in the text of a query. */
async function misplace(door: Door, token: string): Promise<void> {
  await ask(door, 'Mutation.login', { email: plant('password as e-mail'), password: plant('password beside it') });
  await ask(door, 'Query.run', { id: UNKNOWN, [plant('secret as a name').slice(0, 5)]: 1 }, token);
  const answers = [
    await app.rest('GET', `/runs?password=${plant('password in a query')}`, { token }),
    await app.rest('GET', '/runs', { token: plant('made-up token') }),
    await app.rest('POST', '/auth/login', {
      body: `{"password":"${plant('password in broken JSON')}`,
      headers: { 'content-type': 'application/json' },
    }),
    await app.rest('GET', `/auth/me?ticket=${plant('made-up ticket')}`),
    await app.graphql(`mutation { login(email: 5, password: "${plant('password in a query')}") { tokenType } }`),
    await app.graphql('mutation($p: Int!) { login(email: "x@example.org", password: $p) { tokenType } }', {
      p: plant('password as a number'),
    }),
  ];
  for (const answer of answers)
    leaks.push(
      ...secrets.foundIn(
        'an answer to a misplaced secret',
        JSON.stringify(answer) + JSON.stringify([...answer.headers]),
      ),
    );
}

const UNKNOWN = '01890000-0000-7000-8000-000000000000';

test('S1: of 200 planted secrets none is found in answers, errors, logs, streams, events or the database', async () => {
  const owner = await app.register('owner@example.org', { password: plant('password of the owner') });
  await listenTo(owner, async () => {
    for (let n = 0; n < PEOPLE; n += 1) await live(DOORS[n % 3] as Door, n);
    await breakDown();
    await tellRuns(app, owner.workspaceId, 2, () => `Server:${UNKNOWN}`);
    for (const name of [
      'Query.audit',
      'Query.sessions',
      'Query.apiTokens',
      'Query.members',
      'Query.invitations',
      'Query.runs',
      'Query.me',
    ] as const)
      for (const door of DOORS) await ask(door, name, {}, owner.token);
  });
  const metrics = await fetch(`${app.url}/metrics`, { headers: { authorization: `Bearer ${config.METRICS_TOKEN}` } });
  leaks.push(...secrets.foundIn('the metrics', await metrics.text()));
  leaks.push(...secrets.foundIn('the stream', stream));
  leaks.push(...secrets.foundIn('the log', captured.lines.join('\n')));
  leaks.push(...(await secrets.foundInDatabase(app)));
  expect(leaks).toEqual([]);
  expect(secrets.size).toBeGreaterThanOrEqual(200);
  expect(captured.lines.length).toBeGreaterThan(PEOPLE * 10);
  expect(stream).toContain('run_updated');
}, 120_000);

test('the search itself finds what is there', async () => {
  const token = plant('canary');
  expect(secrets.foundIn('a text', `x${Buffer.from(`{"a":"${token}"}`).toString('base64')}y`)).toEqual([
    'canary in a text',
  ]);
  await app.sql(`insert into workspace (id, created_at, name) values (gen_random_uuid(), now(), $1)`, [`x ${token} y`]);
  expect(await secrets.foundInDatabase(app)).toEqual(['canary in public.workspace.name']);
});

/** Failures of the database in the middle of the work, whose errors know what was being written. */
async function breakDown(): Promise<void> {
  for (const table of ['session', 'one_time_code', 'users', 'api_token', 'password_reset']) {
    await app.sql(`alter table ${table} rename to ${table}_away`);
    const email = `broken-${table}@example.org`;
    await ask('rest', 'Mutation.register', { email, password: plant('password of a failed registration') });
    await ask('graphql', 'Mutation.login', {
      email: 'owner@example.org',
      password: plant('password of a failed sign-in'),
    });
    await ask('rest', 'Mutation.resetPassword', {
      token: plant('token of a failed reset'),
      password: plant('password of a failed reset'),
    });
    await app.sql(`alter table ${table}_away rename to ${table}`);
  }
  // Something only the database refuses, with the row in its complaint.
  await app.sql(`alter table users add constraint no_rows check (email not like 'refused%') not valid`);
  await ask('rest', 'Mutation.register', {
    email: 'refused@example.org',
    password: plant('password of a refused row'),
  });
  expect(captured.lines.join('\n')).toMatch(/no_rows/);
}

async function listenTo({ token }: Person, work: () => Promise<void>): Promise<void> {
  const response = await fetch(`${app.url}/api/v1/events`, { headers: { authorization: `Bearer ${token}` } });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  await work();
  const decoder = new TextDecoder();
  while ((stream.match(/^data: /gm) ?? []).length < 2)
    stream += decoder.decode((await reader.read()).value, { stream: true });
  await reader.cancel();
}
