import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { clock } from '../../../src/clock.ts';
import { Bitbucket } from '../../../src/integrations/git/bitbucket.ts';
import type { GitVendor } from '../../../src/integrations/git/git-vendor.ts';
import { Gitea } from '../../../src/integrations/git/gitea.ts';
import { GitHub } from '../../../src/integrations/git/github.ts';
import { GitLab } from '../../../src/integrations/git/gitlab.ts';
import type { WayOut } from '../../../src/integrations/git/json-api.ts';
import { Outbound } from '../../../src/security/outbound.ts';
import { type Reply, StandIn } from '../../support/stand-in.ts';

const NOW = new Date('2026-11-15T12:00:00.000Z');
const TOKEN = 'planted-token-0123456789';
const realNow = clock.now;

let api: StandIn;
let outbound: Outbound;
let impatient: Outbound;

beforeAll(async () => {
  api = await StandIn.start();
  const authorities = readFileSync(api.caFile, 'utf8');
  outbound = new Outbound({ allow: ['127.0.0.0/8'], authorities, maxAnswerBytes: 100_000 });
  impatient = new Outbound({ allow: ['127.0.0.0/8'], authorities, timeoutMs: 300 });
  clock.now = () => NOW;
});
afterAll(async () => {
  clock.now = realNow;
  await outbound.close();
  await impatient.close();
  await api.stop();
});

const vendors: [string, (out: WayOut) => GitVendor][] = [
  ['GitHub', out => new GitHub(out)],
  ['GitLab', out => new GitLab(out)],
  ['Bitbucket', out => new Bitbucket(out, `${api.url}/2.0`)],
  ['Gitea', out => new Gitea(out)],
];

describe.each(vendors)('%s', (name, make) => {
  const account = () => ({ baseUrl: api.url, token: TOKEN, username: null });
  const repository = {
    ...{ id: '1', fullName: 'ann/shop', isPrivate: true, defaultBranch: 'main' },
    ...{ cloneUrl: 'https://example.org/x', description: null, pushedAt: null },
  };

  /** What each of its four questions comes to when everything is answered so. */
  async function ask(reply: Reply | (() => Promise<Reply>), out: WayOut = outbound) {
    api.on('/*', reply);
    const vendor = make(out);
    const calls = [
      vendor.identify(account()),
      vendor.repositories(account(), null, 1),
      vendor.repository(account(), 'ann/shop'),
      vendor.branches(account(), repository, 1),
    ];
    const outcomes = await Promise.allSettled(calls);
    return outcomes.map(outcome => (outcome.status === 'rejected' ? (outcome.reason as object) : outcome.value));
  }

  test.each([
    [401, 'TOKEN_REJECTED'],
    [403, 'FORBIDDEN'],
    [404, 'NOT_FOUND'],
    [410, 'NOT_FOUND'],
    [301, 'MOVED'],
    [302, 'MOVED'],
    [500, 'UNREACHABLE'],
    [503, 'UNREACHABLE'],
  ])(`that answers %s is %s`, async (status, kind) => {
    const location = `${api.url}/elsewhere`;
    for (const outcome of await ask({ status, headers: { location }, body: { message: TOKEN } })) {
      expect(outcome).toMatchObject({ kind });
      expect(`${JSON.stringify(outcome)}${(outcome as Error).stack}`).not.toContain(TOKEN);
    }
    expect(api.takeAsked()).not.toContain('/elsewhere');
  });

  test.each([
    ['seconds', { 'retry-after': '120' }, 429, '2026-11-15T12:02:00.000Z'],
    ['a date', { 'retry-after': 'Sun, 15 Nov 2026 12:05:00 GMT' }, 429, '2026-11-15T12:05:00.000Z'],
    ['a moment', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1794745800' }, 403, '2026-11-15T12:30:00.000Z'],
    ['another header', { 'ratelimit-reset': '1794745800' }, 429, '2026-11-15T12:30:00.000Z'],
    ['nothing', {}, 429, '2026-11-15T12:01:00.000Z'],
    ['nonsense', { 'retry-after': 'soon' }, 429, '2026-11-15T12:01:00.000Z'],
    ['a moment that is over', { 'x-ratelimit-reset': '1' }, 429, '2026-11-15T12:01:00.000Z'],
    ['the end of time', { 'retry-after': '99999999999999999999' }, 429, '2026-11-15T13:00:00.000Z'],
  ])('that asks us to wait by %s', async (_, headers: Record<string, string>, status, resetAt) => {
    for (const outcome of await ask({ status, headers }))
      expect(outcome).toMatchObject({ kind: 'RATE_LIMITED', resetAt: new Date(resetAt) });
  });

  test.each([
    ['a page instead of JSON', { headers: { 'content-type': 'text/html' }, body: '<html>Welcome</html>' }],
    ['broken JSON', { body: '{"login":' }],
    ['nothing', { body: '' }],
    ['null', { body: 'null' }],
    ['a number', { body: '1' }],
    ['other fields', { body: { nothing: 'here' } }],
    ['a list of other things', { body: [1, null, 'x', { a: 1 }] }],
    ['a name with a control character', { body: { login: 'a\0b', username: 'a\nb', nickname: 'x\0', links: {} } }],
    ['a name without end', { body: { login: 'x'.repeat(300), username: 'x'.repeat(300), links: {} } }],
    ['too much', { body: { login: 'x'.repeat(200_000) } }],
  ])('that answers with %s fails as itself and not as us', async (_, reply) => {
    const outcomes = await ask(reply);
    for (const outcome of outcomes.filter(outcome => outcome instanceof Error))
      expect(outcome).toMatchObject({ kind: 'UNREACHABLE', message: expect.stringContaining(name) });
    expect(outcomes[0]).toBeInstanceOf(Error);
    expect(outcomes[2]).toBeInstanceOf(Error);
  });

  test('that never answers is given up', async () => {
    const { promise: silence, resolve } = Promise.withResolvers<Reply>();
    for (const outcome of await ask(() => silence, impatient))
      expect(outcome).toMatchObject({ kind: 'UNREACHABLE', message: `${name} did not answer in time` });
    resolve({});
  });

  test('at an address we do not talk to is refused before it is asked', async () => {
    const strict = new Outbound({ allow: [], authorities: undefined });
    api.takeAsked();
    for (const outcome of await ask({}, strict))
      expect(outcome).toMatchObject({ kind: 'REFUSED', message: expect.stringContaining('OUTBOUND_ALLOW') });
    expect(api.takeAsked()).toEqual([]);
    await strict.close();
  });

  test('whose certificate nobody vouches for gets no token', async () => {
    const trusting = new Outbound({ allow: ['127.0.0.0/8'], authorities: undefined });
    api.takeAsked();
    for (const outcome of await ask({}, trusting))
      expect(outcome).toMatchObject({ kind: 'UNREACHABLE', message: expect.stringContaining('OUTBOUND_CA_FILE') });
    expect(api.takeAsked()).toEqual([]);
    await trusting.close();
  });
});

describe('GitHub tells in its headers', () => {
  const account = () => ({ baseUrl: api.url, token: TOKEN, username: null });
  const identify = (headers: Record<string, string>) => {
    api.on('/api/v3/user', { headers, body: { login: 'ann', avatar_url: 'javascript:alert(1)' } });
    return new GitHub(outbound).identify(account());
  };
  afterEach(() => api.on('/api/v3/user', { status: 404 }));

  test.each([
    ['2026-12-01 09:30:00 UTC', '2026-12-01T09:30:00.000Z'],
    ['2026-12-01 09:30:00 +0200', '2026-12-01T07:30:00.000Z'],
    ['2026-12-01 09:30:00 -0700', '2026-12-01T16:30:00.000Z'],
  ])('when a token ends: %s', async (header, expected) => {
    const { expiresAt } = await identify({ 'github-authentication-token-expiration': header });
    expect(expiresAt).toEqual(new Date(expected));
  });

  test('nothing that can be read, which is nothing known', async () => {
    expect(await identify({ 'github-authentication-token-expiration': 'tomorrow' })).toMatchObject({ expiresAt: null });
  });

  test('which scopes a classic token has; an address of a picture is one or none', async () => {
    expect(await identify({ 'x-oauth-scopes': 'read:org, repo' })).toMatchObject({
      missingScopes: [],
      avatarUrl: null,
    });
    expect(await identify({ 'x-oauth-scopes': 'read:org' })).toMatchObject({ missingScopes: ['repo'] });
  });

  test('a second kind of limit in the text alone', async () => {
    api.on('/api/v3/user', { status: 403, body: { message: 'You have exceeded a secondary rate limit.' } });
    await expect(new GitHub(outbound).identify(account())).rejects.toMatchObject({
      kind: 'RATE_LIMITED',
      resetAt: new Date('2026-11-15T12:01:00.000Z'),
    });
  });
});
