import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Bitbucket } from '../../../src/integrations/git/bitbucket.ts';
import { Gitea } from '../../../src/integrations/git/gitea.ts';
import { GitHub } from '../../../src/integrations/git/github.ts';
import { GitLab } from '../../../src/integrations/git/gitlab.ts';
import { Outbound } from '../../../src/security/outbound.ts';
import { type Asked, type Reply, StandIn } from '../../support/stand-in.ts';

let api: StandIn;
let outbound: Outbound;

beforeAll(async () => {
  api = await StandIn.start();
  outbound = new Outbound({ allow: ['127.0.0.0/8'], authorities: readFileSync(api.caFile, 'utf8') });
});
afterAll(async () => {
  await outbound.close();
  await api.stop();
});
beforeEach(() => void api.takeAsked());

const OURS = 'https://slipway.example.org/api/v1/hooks/git/1';
const webhook = { url: OURS, secret: 'planted' };
const repository = {
  ...{ id: '15', fullName: 'ann/shop', isPrivate: true, defaultBranch: 'main', cloneUrl: '', description: null },
  pushedAt: null,
};

interface Vendor {
  name: string;
  make: () => GitHub | GitLab | Gitea | Bitbucket;
  path: string;
  sent: object;
  authorization: string;
  updateBy: string;
  listed: (url: string) => unknown;
  answered: unknown;
  id: string;
}

const config = { url: OURS, secret: 'planted', content_type: 'json' };
const vendors: Vendor[] = [
  {
    name: 'GitHub',
    make: () => new GitHub(outbound),
    path: '/github/api/v3/repos/ann/shop/hooks',
    sent: { name: 'web', active: true, events: ['push'], config: { ...config, insecure_ssl: '0' } },
    authorization: 'Bearer token',
    updateBy: 'PATCH',
    listed: url => [{ id: 7, config: { url } }],
    answered: { id: 7 },
    id: '7',
  },
  {
    name: 'GitLab',
    make: () => new GitLab(outbound),
    path: '/gitlab/api/v4/projects/15/hooks',
    sent: { url: OURS, token: 'planted', push_events: true, tag_push_events: false, enable_ssl_verification: true },
    authorization: 'Bearer token',
    updateBy: 'PUT',
    listed: url => [{ id: 7, url }],
    answered: { id: 7 },
    id: '7',
  },
  {
    name: 'Gitea',
    make: () => new Gitea(outbound),
    path: '/gitea/api/v1/repos/ann/shop/hooks',
    sent: { type: 'gitea', active: true, events: ['push'], config },
    authorization: 'token token',
    updateBy: 'PATCH',
    listed: url => [{ id: 7, config: { url } }],
    answered: { id: 7 },
    id: '7',
  },
  {
    name: 'Bitbucket',
    make: () => new Bitbucket(outbound, `${api.url}/bitbucket`),
    path: '/bitbucket/repositories/ann/shop/hooks',
    sent: { description: 'Slipway', url: OURS, secret: 'planted', active: true, events: ['repo:push'] },
    authorization: 'Bearer token',
    updateBy: 'PUT',
    listed: url => ({ values: [{ uuid: '{7}', url }] }),
    answered: { uuid: '{7}' },
    id: '{7}',
  },
];

describe.each(vendors)('$name', vendor => {
  const { path, sent, id, updateBy, authorization, answered, listed } = vendor;
  const one = `${path}/${encodeURIComponent(id)}`;
  const account = () => ({ baseUrl: `${api.url}/${vendor.name.toLowerCase()}`, token: 'token', username: null });
  const webhooks = () => vendor.make().webhooks;
  const onList = (existing: string, onPost: Reply = { status: 201, body: answered }) =>
    api.on(path, ({ method }: Asked) => (method === 'GET' ? { body: listed(existing) } : onPost));
  const said = () =>
    api.asked.splice(0).map(({ method, url, body }) => [method, url.pathname, body === '' ? null : JSON.parse(body)]);

  test('is told of a webhook', async () => {
    onList('https://elsewhere.example.org/');
    expect(await webhooks().create(account(), repository, webhook)).toBe(id);
    expect(api.asked[0]?.headers.authorization).toBe(authorization);
    expect(said()).toEqual([
      ['GET', path, null],
      ['POST', path, sent],
    ]);
  });

  test('has one already, which is changed', async () => {
    onList(OURS);
    api.on(one, { body: answered });
    expect(await webhooks().create(account(), repository, webhook)).toBe(id);
    expect(said()).toEqual([
      ['GET', path, null],
      [updateBy, one, sent],
    ]);
  });

  test('gets another secret for it, or the whole of it where somebody removed it', async () => {
    onList('https://elsewhere.example.org/');
    api.on(one, { body: answered });
    expect(await webhooks().update(account(), repository, id, webhook)).toBe(id);
    expect(said()).toEqual([[updateBy, one, sent]]);
    api.on(one, { status: 404 });
    expect(await webhooks().update(account(), repository, id, webhook)).toBe(id);
    expect(said().map(([method]) => method)).toEqual([updateBy, 'GET', 'POST']);
  });

  test('forgets it, and need not know it any more', async () => {
    api.on(one, { status: 204, body: '' });
    await webhooks().delete(account(), repository, id);
    expect(said()).toEqual([['DELETE', one, null]]);
    api.on(one, { status: 404 });
    await webhooks().delete(account(), repository, id);
    api.on(one, { status: 500 });
    await expect(webhooks().delete(account(), repository, id)).rejects.toMatchObject({ kind: 'UNREACHABLE' });
  });

  test('may not let the token do it', async () => {
    api.on(path, { status: 403 });
    await expect(webhooks().create(account(), repository, webhook)).rejects.toMatchObject({ kind: 'FORBIDDEN' });
    onList('x', { status: 422, body: {} });
    await expect(webhooks().create(account(), repository, webhook)).rejects.toMatchObject({ kind: 'REFUSED' });
  });
});
