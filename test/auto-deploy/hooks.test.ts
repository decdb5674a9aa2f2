import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../src/id.ts';
import { EnvironmentBench } from '../support/environments.ts';
import { deliver, type Hooked, hooked, ledgerOf } from '../support/hooks.ts';
import {
  type Delivery,
  fromBitbucket,
  fromGitea,
  fromGitHub,
  fromGitLab,
  fromScript,
  NOTHING,
  senders,
  sha,
} from '../support/push-payloads.ts';

let bench: EnvironmentBench;
let main: Hooked;
let count = 100;

beforeAll(async () => {
  bench = await EnvironmentBench.start();
  main = await hooked(bench, { branch: 'main' });
}, 60_000);
afterAll(() => bench.stop());

/** A commit that nobody has seen. */
function next(): string {
  count += 1;
  return sha(count);
}

describe.each(Object.entries(senders))('%s', (_, send) => {
  test('a push to the branch is deployed, and the ledger says so', async () => {
    const after = next();
    const answer = await deliver(bench, main.id, send({ secret: main.secret, after, message: 'Sell more\n\nNow.' }));
    expect(answer).toMatchObject({ status: 202, body: { decision: 'DEPLOYED', reason: 'A push to main' } });
    const [deployment] = await bench.deployments(main.id);
    expect(deployment).toMatchObject({
      trigger: 'PUSH',
      wantedCommit: after,
      branch: 'main',
      id: answer.body.deploymentId,
    });
    const [row] = await ledgerOf(bench, main.id);
    expect(row).toMatchObject({
      ...{ id: answer.body.id, deliveryId: answer.body.deliveryId, event: 'push', branch: 'main', commitSha: after },
      ...{ commitMessage: 'Sell more\n\nNow.', commitAuthor: 'Ann', decision: 'DEPLOYED' },
      deploymentId: deployment?.id,
    });
    const [{ commit } = { commit: null }] = await bench.app.sql<{ commit: object | null }>(
      'select commit from deployment where id = $1',
      [deployment?.id],
    );
    expect(commit).toEqual({ sha: after, message: 'Sell more', author: 'Ann' });
  });

  test('is not believed without the secret', async () => {
    const before = (await ledgerOf(bench, main.id)).length;
    const wrong = send({ secret: 'guessed', after: next() });
    const nameless = { ...wrong, headers: { 'content-type': 'application/json' } };
    const right = send({ secret: main.secret, after: next() });
    const changed = { ...right, body: Buffer.concat([right.body, Buffer.from(' ')]) };
    const isSigned = !('x-gitlab-token' in right.headers);
    for (const delivery of [wrong, nameless, ...(isSigned ? [changed] : [])])
      expect(await deliver(bench, main.id, delivery)).toMatchObject({
        status: 401,
        body: { code: 'SIGNATURE_INVALID' },
      });
    expect(await ledgerOf(bench, main.id)).toHaveLength(before);
  });

  test('sent again gets the first answer, and nothing more comes of it', async () => {
    const delivery = send({ secret: main.secret, after: next() });
    const first = await deliver(bench, main.id, delivery);
    const rows = (await ledgerOf(bench, main.id)).length;
    const again = await Promise.all([1, 2, 3].map(() => deliver(bench, main.id, delivery)));
    for (const answer of again) expect(answer).toEqual(first);
    expect(await ledgerOf(bench, main.id)).toHaveLength(rows);
  });

  test('ten at once are one', async () => {
    const delivery = send({ secret: main.secret, after: next() });
    const answers = await Promise.all(Array.from({ length: 10 }, () => deliver(bench, main.id, delivery)));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
  });
});

describe('nobody learns anything', () => {
  test('an environment there is not, one without auto-deploy and a wrong secret answer alike', async () => {
    const off = await bench.environment({ projectId: main.projectId });
    const send = (id: string) => deliver(bench, id, fromGitHub({ secret: 'guessed' }));
    const answers = await Promise.all([send(newId()), send(off.id), send(main.id)]);
    const [unknown] = answers;
    for (const { status, body } of answers)
      expect({ status, body: { ...body, instance: '', requestId: '' } }).toEqual({
        status: 401,
        body: { ...unknown?.body, instance: '', requestId: '' },
      });
  });

  test('an empty secret opens nothing', async () => {
    const off = await bench.environment({ projectId: main.projectId });
    for (const secret of ['', 'nobody knows this one'])
      for (const send of Object.values(senders))
        expect((await deliver(bench, off.id, send({ secret }))).status).toBe(401);
  });

  test('a signed body under another delivery id is a repetition all the same', async () => {
    const delivery = fromGitHub({ secret: main.secret, after: next() });
    const first = await deliver(bench, main.id, delivery);
    await deliver(bench, main.id, fromGitHub({ secret: main.secret, after: next() }));
    const renamed = { ...delivery, headers: { ...delivery.headers, 'x-github-delivery': 'another' } };
    expect(await deliver(bench, main.id, renamed)).toEqual(first);
  });

  test('a header that comes twice counts for nothing', async () => {
    const { headers, body } = fromGitHub({ secret: main.secret, after: next() });
    const sent = new Headers(headers);
    sent.append('x-hub-signature-256', 'sha256=0');
    const response = await fetch(`${bench.app.url}/api/v1/hooks/git/${main.id}`, {
      method: 'POST',
      headers: sent,
      body: new Uint8Array(body),
    });
    expect(response.status).toBe(401);
  });
});

describe('what is not deployed is told with its reason', () => {
  const cases: [name: string, delivery: () => Delivery, reason: string][] = [
    [
      'a ping',
      () => fromGitHub({ secret: main.secret, event: 'ping' }),
      'The provider asked whether anybody listens: yes',
    ],
    [
      'another event',
      () => fromGitLab({ secret: main.secret, event: 'Issue Hook' }),
      'Only pushes are deployed; this was "Issue Hook"',
    ],
    ['a tag', () => fromGitea({ secret: main.secret, ref: 'refs/tags/v1' }), 'Tags are not deployed'],
    [
      'a branch that is deleted',
      () => fromBitbucket({ secret: main.secret, after: NOTHING }),
      'The branch was deleted',
    ],
    [
      'another branch',
      () => fromGitHub({ secret: main.secret, ref: 'refs/heads/dev' }),
      'The push was to dev; this environment follows main',
    ],
    [
      '[skip ci]',
      () => fromGitHub({ secret: main.secret, after: next(), message: 'Mend a word [skip ci]' }),
      'The commit says [skip ci]',
    ],
    [
      '[ci skip]',
      () => fromGitLab({ secret: main.secret, after: next(), message: 'x\n\n[CI SKIP]' }),
      'The commit says [ci skip]',
    ],
    [
      '[skip deploy]',
      () => fromScript({ secret: main.secret, after: next(), message: '[skip deploy] x' }),
      'The commit says [skip deploy]',
    ],
    [
      'nothing',
      () => fromBitbucket({ secret: main.secret, body: { push: { changes: [] } } }),
      'It does not say what was pushed',
    ],
  ];
  test.each(cases)('%s', async (_, make, reason) => {
    const answer = await deliver(bench, main.id, make());
    expect(answer).toMatchObject({ status: 200, body: { decision: 'IGNORED', reason, deploymentId: null } });
    expect((await ledgerOf(bench, main.id))[0]).toMatchObject({ id: answer.body.id, decision: 'IGNORED', reason });
  });

  test('a commit that was noticed before', async () => {
    const after = next();
    await deliver(bench, main.id, fromGitHub({ secret: main.secret, after }));
    const again = await deliver(bench, main.id, fromGitLab({ secret: main.secret, after }));
    expect(again).toMatchObject({ status: 200, body: { reason: 'The commit was noticed before' } });
  });

  test('an environment that is on no server, stopped, or going', async () => {
    const idle = await hooked(bench, { serverId: null });
    const push = () => fromGitHub({ secret: idle.secret, after: next() });
    expect((await deliver(bench, idle.id, push())).body.reason).toBe('The environment is on no server yet');
    const serverId = await bench.server();
    await bench.app.sql(`update environment set server_id = $2, status = 'STOPPED' where id = $1`, [idle.id, serverId]);
    expect((await deliver(bench, idle.id, push())).body.reason).toMatch(/stopped; start it/);
    await bench.app.sql(`update environment set status = 'DELETING' where id = $1`, [idle.id]);
    expect((await deliver(bench, idle.id, push())).body.reason).toBe('The environment is being deleted');
  });
});

describe('the branch that is followed', () => {
  test("is the environment's, else the project's, else the default one that the provider names", async () => {
    const free = await hooked(bench);
    const push = (spec: object = {}) => fromGitHub({ secret: free.secret, after: next(), ...spec });
    expect((await deliver(bench, free.id, push())).status).toBe(202);
    const renamed = { repository: { default_branch: 'trunk' } };
    expect((await deliver(bench, free.id, push({ body: renamed }))).body.reason).toMatch(/follows trunk/);
    await bench.app.rest('PUT', `/projects/${free.projectId}`, { token: bench.ann.token, body: { branch: 'main' } });
    expect((await deliver(bench, free.id, push({ body: renamed }))).status).toBe(202);
  });

  test('is asked for where the sender does not name it', async () => {
    const free = await hooked(bench);
    expect((await deliver(bench, free.id, fromBitbucket({ secret: free.secret, after: next() }))).status).toBe(202);
    const other = fromScript({ secret: free.secret, after: next(), ref: 'refs/heads/dev' });
    expect((await deliver(bench, free.id, other)).body.reason).toBe(
      'The push was to dev; this environment follows main',
    );
  });

  test('is found among several in one delivery', async () => {
    const after = next();
    const change = (name: string, hash: string) => ({ old: null, new: { name, type: 'branch', target: { hash } } });
    const body = { push: { changes: [change('dev', next()), change('main', after)] } };
    const answer = await deliver(bench, main.id, fromBitbucket({ secret: main.secret, body }));
    expect(answer.status).toBe(202);
    expect((await bench.deployments(main.id))[0]).toMatchObject({ wantedCommit: after });
  });
});

describe('watchPaths', () => {
  let watching: Hooked;
  beforeAll(async () => {
    watching = await hooked(bench, { branch: 'main' }, { watchPaths: ['src/**', '!**/*.md'] });
  });
  const push = (spec: object) =>
    deliver(bench, watching.id, fromGitHub({ secret: watching.secret, after: next(), ...spec }));

  test('let through what changes a watched file', async () => {
    expect((await push({ files: ['docs/a.txt', 'src/a.ts'] })).status).toBe(202);
  });

  test('keep out what does not', async () => {
    const answer = await push({ files: ['docs/a.txt', 'src/README.md'] });
    expect(answer).toMatchObject({ status: 200, body: { reason: 'No file was changed that is in watchPaths' } });
  });

  test('are not asked where nobody says what was changed', async () => {
    for (const answer of [
      await push({ body: { forced: true } }),
      await deliver(bench, watching.id, fromBitbucket({ secret: watching.secret, after: next() })),
    ])
      expect(answer).toMatchObject({ status: 202, body: { reason: /not known which files/ } });
  });
});
