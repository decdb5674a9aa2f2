import { describe, expect, test } from '@jest/globals';
import { readPushEvent } from '../../../src/integrations/git/push-events.ts';
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
} from '../../support/push-payloads.ts';

const read = ({ headers, body }: Delivery) => readPushEvent(name => headers[name], JSON.parse(body.toString()));
const first = (delivery: Delivery) => read(delivery).pushes[0];

const everywhere = Object.entries(senders);

describe('a push', () => {
  test.each(everywhere)('%s tells branch, commit, message and author', (name, send) => {
    const { pushes, defaultBranch } = read(send());
    expect(pushes).toEqual([
      {
        ...{ event: 'push', branch: 'main', sha: sha(2), message: 'Sell more\n\nAnd more.', author: 'Ann' },
        changedPaths: name === 'fromBitbucket' ? null : ['src/index.js'],
      },
    ]);
    expect(defaultBranch).toBe(['fromGitHub', 'fromGitea', 'fromGitLab'].includes(name) ? 'main' : null);
  });

  test.each(everywhere)('%s may be of a branch with slashes', (_, send) => {
    expect(first(send({ ref: 'refs/heads/feature/log-in' }))).toMatchObject({ branch: 'feature/log-in' });
  });

  test.each(everywhere)('%s may be of a tag', (_, send) => {
    expect(first(send({ ref: 'refs/tags/v1.0' }))).toMatchObject({ event: 'tag', branch: null, sha: sha(2) });
  });

  test.each(everywhere)('%s may delete a branch', (_, send) => {
    expect(first(send({ after: NOTHING }))).toMatchObject({ event: 'delete', branch: 'main', sha: null });
  });

  test('the newest commit is known by its hash, in whichever order they come', () => {
    const commits = [
      { id: sha(2), message: 'newest', author: { name: 'Ann' } },
      { id: sha(1), message: 'older', author: { name: 'Bob' } },
    ];
    for (const list of [commits, commits.toReversed()]) {
      const body = { commits: list, head_commit: null, total_commits_count: 2, total_commits: 2 };
      for (const send of [fromGitHub, fromGitea, fromGitLab])
        expect(first(send({ body }))).toMatchObject({ message: 'newest', author: 'Ann' });
    }
  });

  test('several branches in one delivery of Bitbucket', () => {
    const change = (name: string, hash: string) => ({ old: null, new: { name, type: 'branch', target: { hash } } });
    const { pushes } = read(fromBitbucket({ body: { push: { changes: [change('a', sha(3)), change('b', sha(4))] } } }));
    expect(pushes).toMatchObject([
      { branch: 'a', sha: sha(3), author: null, message: null },
      { branch: 'b', sha: sha(4) },
    ]);
  });

  test('Bitbucket Data Center has a form of its own', () => {
    const changes = [
      {
        ref: { id: 'refs/heads/main', displayId: 'main', type: 'BRANCH' },
        refId: 'refs/heads/main',
        fromHash: sha(1),
        toHash: sha(2),
        type: 'UPDATE',
      },
    ];
    const delivery = fromBitbucket({ event: 'repo:refs_changed', body: { push: undefined, changes } });
    expect(first(delivery)).toMatchObject({ event: 'push', branch: 'main', sha: sha(2) });
  });
});

describe('changed files', () => {
  test('are those of all commits', () => {
    const commits = [
      { id: sha(3), added: ['a'], modified: ['b'], removed: [] },
      { id: sha(2), added: [], modified: ['b'], removed: ['c'] },
    ];
    const body = { commits, total_commits: 2, total_commits_count: 2 };
    for (const send of [fromGitHub, fromGitea, fromGitLab])
      expect(first(send({ body }))?.changedPaths).toEqual(['a', 'b', 'c']);
  });

  test('are unknown where not all commits are told of', () => {
    expect(first(fromGitLab({ body: { total_commits_count: 21 } }))?.changedPaths).toBeNull();
    expect(first(fromGitea({ body: { total_commits: 31 } }))?.changedPaths).toBeNull();
    const commits = Array.from({ length: 2048 }, (_, index) => ({ id: sha(index), modified: ['a'] }));
    expect(first(fromGitHub({ body: { commits } }))?.changedPaths).toBeNull();
    for (const body of [{ forced: true }, { created: true }, { commits: [] }])
      expect(first(fromGitHub({ body }))?.changedPaths).toBeNull();
    for (const send of [fromGitHub, fromGitea, fromGitLab])
      expect(first(send({ before: NOTHING }))?.changedPaths).toBeNull();
    expect(first(fromScript({ body: { changedFiles: undefined } }))?.changedPaths).toBeNull();
    const files = Array.from({ length: 3001 }, (_, index) => `f${index}`);
    expect(first(fromGitHub({ files }))?.changedPaths).toBeNull();
  });
});

describe('something else', () => {
  test('is told by its name, whatever is in it', () => {
    expect(first(fromGitHub({ event: 'ping', body: { zen: 'Design for failure.' } }))?.event).toBe('ping');
    expect(first(fromGitHub({ event: 'issues' }))?.event).toBe('issues');
    expect(first(fromGitea({ event: 'pull_request' }))?.event).toBe('pull_request');
    expect(first(fromGitLab({ event: 'Issue Hook' }))?.event).toBe('Issue Hook');
    expect(first(fromBitbucket({ event: 'diagnostics:ping' }))?.event).toBe('ping');
    expect(first(fromScript({ body: { event: 'ping' } }))?.event).toBe('ping');
    expect(first(fromGitHub({ event: `x\0${'y'.repeat(500)}` }))?.event).toHaveLength(100);
  });

  test.each(everywhere)('%s of another form is refused, and never a crash', (_, send) => {
    const odd = [null, 1, 'x', [], {}, { ref: 1 }, { ref: 'refs/heads/main' }, { ref: 'main', after: sha(2) }];
    const { headers } = send();
    for (const body of odd)
      expect(() => readPushEvent(name => headers[name], body)).toThrow(expect.objectContaining({ name: 'Error' }));
    for (const after of ['HEAD', '--upload-pack=x', 'A'.repeat(40), 'a'.repeat(41), {}])
      expect(() =>
        read(
          send({
            body: { after, push: { changes: [{ new: { type: 'branch', name: 'a', target: { hash: after } } }] } },
          }),
        ),
      ).toThrow();
  });

  test('what it says is cut and cleaned before anybody sees it', () => {
    const message = `\0${'x'.repeat(5000)}`;
    expect(first(fromGitHub({ message }))?.message).toBe('x'.repeat(500));
    expect(first(fromGitHub({ message: `${'x'.repeat(499)}\u{1F600}` }))?.message?.isWellFormed()).toBe(true);
    expect(first(fromGitHub({ files: ['a\ud800', 'b'] }))?.changedPaths).toEqual(['a\ufffd', 'b']);
    expect(first(fromGitHub({ ref: 'refs/heads/a\tb' }))?.branch).toBe('a?b');
  });
});
