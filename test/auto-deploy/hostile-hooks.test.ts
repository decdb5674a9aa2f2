import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { EnvironmentBench } from '../support/environments.ts';
import { deliver, type Hooked, hooked, ledgerOf } from '../support/hooks.ts';
import { fromGitHub, fromScript, sha } from '../support/push-payloads.ts';

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

describe('what is sent may be anything', () => {
  const send = (body: string | Buffer, headers: Record<string, string> = {}) => {
    const signed = fromScript({ secret: main.secret });
    const signature = createHmac('sha256', main.secret).update(body).digest('hex');
    return deliver(bench, main.id, {
      headers: { ...signed.headers, 'x-slipway-signature': `sha256=${signature}`, ...headers },
      body: Buffer.from(body),
    });
  };

  test('a form, as GitHub sends it unless told otherwise', async () => {
    const { body } = fromGitHub({ after: next() });
    const form = new URLSearchParams({ payload: body.toString() }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-github-event': 'push' };
    expect((await send(form, headers)).status).toBe(202);
  });

  test('no JSON, no object, nothing at all: signed and of no use', async () => {
    const bodies = [
      '',
      '{',
      'null',
      '[]',
      '1',
      '"x"',
      '\0',
      '{"ref":{}}',
      `{"ref":"${'x'.repeat(5000)}"}`,
      Buffer.from([0xff, 0xfe]),
    ];
    for (const body of bodies) {
      const answer = await send(body);
      expect(answer).toMatchObject({ status: 200, body: { decision: 'IGNORED' } });
    }
    expect((await ledgerOf(bench, main.id))[0]?.reason).toBe(
      'Only pushes are deployed; this was "of a form that is not known"',
    );
  });

  test('names and messages that would break a command, a row or a page', async () => {
    const nasty = [
      '$(id)',
      '`id`',
      '--upload-pack=id',
      '../../x',
      "'; drop table users; --",
      '\0\u0000',
      '\ud800',
      '<script>',
      'x'.repeat(100_000),
    ];
    for (const text of nasty) {
      const delivery = fromGitHub({
        secret: main.secret,
        after: next(),
        message: text,
        files: [text],
        ref: `refs/heads/${text}`,
      });
      expect((await deliver(bench, main.id, delivery)).status).toBe(200);
      const pushed = fromGitHub({ secret: main.secret, after: next(), message: text, files: [text] });
      expect((await deliver(bench, main.id, pushed)).status).toBe(202);
    }
    expect((await ledgerOf(bench, main.id))[0]?.commitMessage).toHaveLength(500);
  });

  test('a delivery id of any length and kind', async () => {
    const delivery = fromGitHub({ secret: main.secret, after: next(), deliveryId: 'é'.repeat(400) });
    const answer = await deliver(bench, main.id, delivery);
    expect(answer.body.deliveryId.length).toBeLessThanOrEqual(255);
  });

  test('a body without end', async () => {
    const answer = await send(Buffer.alloc(1_100_000, 32));
    expect(answer).toMatchObject({ status: 413, body: { code: 'PAYLOAD_TOO_LARGE' } });
  });

  test('another method, a malformed id', async () => {
    const got = await fetch(`${bench.app.url}/api/v1/hooks/git/${main.id}`);
    expect({ status: got.status, allow: got.headers.get('allow') }).toEqual({ status: 405, allow: 'POST' });
    expect(await deliver(bench, 'no-uuid', fromGitHub())).toMatchObject({ status: 400, body: { code: 'BAD_INPUT' } });
  });
});

test('too many from one address are refused before anything is read', async () => {
  const strict = await EnvironmentBench.start({ RATE_LIMIT: '20/1m' });
  try {
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => deliver(strict, main.id, fromGitHub({ secret: 'guessed' }))),
    );
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(10);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 429]));
  } finally {
    await strict.stop();
  }
});

describe('deciding anew', () => {
  const redeliver = (id: string, deliveryId: string) =>
    bench.app.rest<{ id: string; decision: string; reason: string; deploymentId: string }>(
      'POST',
      `/environments/${id}/hook-deliveries/${deliveryId}/redeliver`,
      { token: bench.ann.token },
    );

  test('goes by how the environment is set up now, and leaves a row of its own', async () => {
    const { id, secret } = await hooked(bench, { serverId: null, branch: 'main' });
    const after = next();
    const first = await deliver(bench, id, fromGitHub({ secret, after }));
    expect(first.body.decision).toBe('IGNORED');
    await bench.app.sql('update environment set server_id = $2 where id = $1', [id, await bench.server()]);
    const again = await redeliver(id, first.body.id);
    expect(again).toMatchObject({
      status: 201,
      body: { decision: 'DEPLOYED', commitSha: after, commitAuthor: 'Ann', redeliveryOf: first.body.id },
    });
    expect((await bench.deployments(id))[0]).toMatchObject({ id: again.body.deploymentId, wantedCommit: after });
    expect((await ledgerOf(bench, id)).map(({ decision }) => decision)).toEqual(['DEPLOYED', 'IGNORED']);
    expect((await redeliver(id, again.body.id)).body.decision).toBe('DEPLOYED');
  });

  test('of a ping or a tag comes to the same', async () => {
    const answer = await deliver(bench, main.id, fromGitHub({ secret: main.secret, event: 'ping' }));
    expect((await redeliver(main.id, answer.body.id)).body).toMatchObject({ decision: 'IGNORED' });
  });

  test('of a delivery of another environment is not found', async () => {
    const [row] = await ledgerOf(bench, main.id);
    const other = await bench.environment({ projectId: main.projectId });
    expect(await redeliver(other.id, row?.id ?? '')).toMatchObject({ status: 404 });
  });
});
