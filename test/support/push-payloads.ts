import { createHmac } from 'node:crypto';

/** A delivery as a provider sends it, by the documented form of its push events. */
export interface Delivery {
  headers: Record<string, string>;
  body: Buffer;
}

export interface PushSpec {
  secret?: string;
  deliveryId?: string;
  ref?: string;
  before?: string;
  after?: string;
  message?: string;
  files?: string[];
  /** Where it is other than one commit with these files. */
  body?: Record<string, unknown>;
  event?: string;
}

export const NOTHING = '0'.repeat(40);
export const sha = (seed: number): string => seed.toString(16).padStart(40, 'a');

interface Filled extends Required<Omit<PushSpec, 'body' | 'event'>> {
  body: Record<string, unknown>;
  event: string | undefined;
}

let count = 0;

function counted(): number {
  count += 1;
  return count;
}

const fill = (spec: PushSpec): Filled => ({
  ...{
    secret: 'a secret',
    deliveryId: `delivery-${counted()}`,
    ref: 'refs/heads/main',
    before: sha(1),
    after: sha(2),
  },
  ...{ message: 'Sell more\n\nAnd more.', files: ['src/index.js'], body: {} },
  ...spec,
  event: spec.event,
});

const hmac = (secret: string, body: Buffer): string => createHmac('sha256', secret).update(body).digest('hex');

const commitOf = ({ after, message, files }: Filled) => ({
  id: after,
  tree_id: sha(99),
  distinct: true,
  message,
  timestamp: '2026-11-15T10:00:00+01:00',
  url: `https://git.example.org/ann/shop/commit/${after}`,
  author: { name: 'Ann', email: 'ann@example.org', username: 'ann' },
  committer: { name: 'Ann', email: 'ann@example.org', username: 'ann' },
  added: [],
  removed: [],
  modified: files,
});

export function fromGitHub(wish: PushSpec = {}): Delivery {
  const spec = fill(wish);
  const { ref, before, after } = spec;
  const commits = after === NOTHING ? [] : [commitOf(spec)];
  const body = json({
    ...{ ref, before, after, base_ref: null, created: before === NOTHING, deleted: after === NOTHING, forced: false },
    ...{ compare: 'https://github.com/ann/shop/compare/a...b', commits, head_commit: commits[0] ?? null },
    repository: { id: 1, name: 'shop', full_name: 'ann/shop', private: true, default_branch: 'main', pushed_at: count },
    ...{ pusher: { name: 'ann', email: 'ann@example.org' }, sender: { login: 'ann', id: 2 }, ...spec.body },
  });
  const event = spec.event ?? 'push';
  const headers = {
    ...{ 'content-type': 'application/json', 'user-agent': 'GitHub-Hookshot/044aadd', 'x-github-event': event },
    ...{ 'x-github-delivery': spec.deliveryId, 'x-github-hook-id': '1', 'x-github-hook-installation-target-id': '1' },
    'x-hub-signature-256': `sha256=${hmac(spec.secret, body)}`,
  };
  return { headers, body };
}

export function fromGitea(wish: PushSpec = {}): Delivery {
  const spec = fill(wish);
  const { ref, before, after } = spec;
  const commit = commitOf(spec);
  const body = json({
    ...{ ref, before, after, compare_url: 'https://gitea.example.org/ann/shop/compare/a...b' },
    ...{ commits: [commit], total_commits: 1, head_commit: commit },
    repository: { id: 1, name: 'shop', full_name: 'ann/shop', private: true, default_branch: 'main' },
    ...{ pusher: { id: 1, login: 'ann', email: 'ann@example.org' }, sender: { id: 1, login: 'ann' }, ...spec.body },
  });
  const event = spec.event ?? 'push';
  const signature = hmac(spec.secret, body);
  const headers = {
    ...{ 'content-type': 'application/json', 'user-agent': 'Go-http-client/1.1', 'x-gitea-event': event },
    ...{ 'x-gitea-delivery': spec.deliveryId, 'x-gitea-event-type': event, 'x-gitea-signature': signature },
    ...{ 'x-github-event': event, 'x-github-delivery': spec.deliveryId, 'x-github-event-type': event },
    ...{ 'x-gogs-event': event, 'x-gogs-delivery': spec.deliveryId, 'x-gogs-signature': signature },
    ...{ 'x-hub-signature': `sha1=${createHmac('sha1', spec.secret).update(body).digest('hex')}` },
    'x-hub-signature-256': `sha256=${signature}`,
  };
  return { headers, body };
}

export function fromGitLab(wish: PushSpec = {}): Delivery {
  const spec = fill(wish);
  const { ref, before, after } = spec;
  const isTag = ref.startsWith('refs/tags/');
  const commits = after === NOTHING ? [] : [commitOf(spec)];
  const body = json({
    ...{ object_kind: isTag ? 'tag_push' : 'push', event_name: isTag ? 'tag_push' : 'push', before, after, ref },
    ...{ ref_protected: true, checkout_sha: after === NOTHING ? null : after, message: null, user_id: 4 },
    ...{ user_name: 'Ann', user_username: 'ann', user_email: '', project_id: 15 },
    project: { id: 15, name: 'shop', path_with_namespace: 'ann/shop', default_branch: 'main', visibility_level: 0 },
    ...{ commits, total_commits_count: commits.length, push_options: {} },
    ...{ repository: { name: 'shop', url: 'git@gitlab.example.org:ann/shop.git' }, ...spec.body },
  });
  const headers = {
    ...{ 'content-type': 'application/json', 'user-agent': 'GitLab/18.5.0' },
    ...{ 'x-gitlab-event': spec.event ?? (isTag ? 'Tag Push Hook' : 'Push Hook'), 'x-gitlab-token': spec.secret },
    ...{ 'x-gitlab-event-uuid': spec.deliveryId, 'idempotency-key': spec.deliveryId },
    'x-gitlab-instance': 'https://gitlab.example.org',
  };
  return { headers, body };
}

export function fromBitbucket(wish: PushSpec = {}): Delivery {
  const spec = fill(wish);
  const { before, after, ref, message } = spec;
  const [, kind = '', name = ''] = /^refs\/(\w+)\/(.*)$/.exec(ref) ?? [];
  const side = (hash: string) =>
    hash === NOTHING
      ? null
      : {
          ...{ name, type: kind === 'heads' ? 'branch' : 'tag' },
          target: {
            ...{ type: 'commit', hash, message, date: '2026-11-15T10:00:00+00:00' },
            author: { type: 'author', raw: 'Ann <ann@example.org>', user: { display_name: 'Ann' } },
          },
        };
  const change = {
    ...{ old: side(before), new: side(after), created: before === NOTHING, closed: after === NOTHING },
    ...{ forced: false, truncated: false, commits: [] },
  };
  const body = json({
    ...{ actor: { display_name: 'Ann', type: 'user' }, push: { changes: [change] } },
    repository: { type: 'repository', full_name: 'ann/shop', name: 'shop', uuid: '{1}', is_private: true },
    ...spec.body,
  });
  const headers = {
    ...{
      'content-type': 'application/json',
      'user-agent': 'Bitbucket-Webhooks/2.0',
      'x-event-key': spec.event ?? 'repo:push',
    },
    ...{ 'x-hook-uuid': '{2}', 'x-request-uuid': spec.deliveryId, 'x-attempt-number': '1' },
    'x-hub-signature': `sha256=${hmac(spec.secret, body)}`,
  };
  return { headers, body };
}

/** As a script of the user's sends it. */
export function fromScript(wish: PushSpec = {}): Delivery {
  const spec = fill(wish);
  const body = json({
    ref: spec.ref,
    after: spec.after,
    message: spec.message,
    author: 'Ann',
    changedFiles: spec.files,
    ...spec.body,
  });
  const headers = {
    ...{ 'content-type': 'application/json', 'x-slipway-delivery': spec.deliveryId },
    'x-slipway-signature': `sha256=${hmac(spec.secret, body)}`,
  };
  return { headers, body };
}

export const senders = { fromGitHub, fromGitea, fromGitLab, fromBitbucket, fromScript };

const json = (value: object): Buffer => Buffer.from(JSON.stringify(value));
