import { Answer } from './answer.ts';
import { GitFailure } from './git-failure.ts';

/** What a delivery tells, whoever sent it. */
export interface PushEvent {
  /** `push`, `tag`, `delete`, `ping`, or what the sender calls it. */
  event: string;
  branch: string | null;
  sha: string | null;
  /** Of the newest commit that was pushed. */
  message: string | null;
  author: string | null;
  /** What the push changed; null where the sender does not say, or not all of it. */
  changedPaths: string[] | null;
}

export interface Told {
  /** Several where one delivery tells of several branches. */
  pushes: PushEvent[];
  /** Of the repository, where the sender says it. */
  defaultBranch: string | null;
}

type Header = (name: string) => string | undefined;
type Read = (body: Answer) => Told;

const MOST_PATHS = 3000;
const LONGEST_MESSAGE = 500;
const LONGEST_AUTHOR = 200;

/** GitHub tells of so many commits at most, and leaves out the others without a word. */
const MOST_COMMITS_OF_GITHUB = 2048;

/** Reads a delivery by the documented form of whoever sent it. Fails with a `GitFailure` where it has another. */
export function readPushEvent(header: Header, body: unknown): Told {
  const sender = SENDERS.find(({ headers }) => headers.some(name => header(name) !== undefined));
  if (sender === undefined) return readPlain(new Answer('The sender', body));
  const event = header(sender.headers.find(name => header(name) !== undefined) ?? '') ?? '';
  if (!sender.pushes.includes(event))
    return { pushes: [other(sender.pings.includes(event) ? 'ping' : event)], defaultBranch: null };
  return sender.read(new Answer(sender.name, body));
}

interface Sender {
  name: string;
  headers: readonly string[];
  pushes: readonly string[];
  pings: readonly string[];
  read: Read;
}

/** Gitea also sends the headers of those whose place it takes, so it comes first. */
const SENDERS: readonly Sender[] = [
  {
    name: 'Gitea',
    headers: ['x-forgejo-event', 'x-gitea-event', 'x-gogs-event'],
    pushes: ['push'],
    pings: [],
    read: body => readGitHubLike(body, isAllOfGitea(body)),
  },
  {
    name: 'GitLab',
    headers: ['x-gitlab-event'],
    pushes: ['Push Hook', 'Tag Push Hook'],
    pings: [],
    read: readGitLab,
  },
  {
    name: 'Bitbucket',
    headers: ['x-event-key'],
    pushes: ['repo:push', 'repo:refs_changed'],
    pings: ['diagnostics:ping'],
    read: body => (body.at('push').isAbsent ? readBitbucketServer(body) : readBitbucket(body)),
  },
  {
    name: 'GitHub',
    headers: ['x-github-event'],
    pushes: ['push'],
    pings: ['ping'],
    read: body => readGitHubLike(body, isAllOfGitHub(body)),
  },
];

function readGitHubLike(body: Answer, isAll: boolean): Told {
  const after = body.at('after').text();
  const head = body.at('head_commit').isAbsent ? commitOf(body.at('commits'), after) : body.at('head_commit');
  const push = describe(body.at('ref').text(), after, head, isAll ? pathsIn(body.at('commits')) : null);
  return { pushes: [push], defaultBranch: defaultBranchOf(body.at('repository')) };
}

/** Commits that a force push took away changed something too, and are not told of. */
function isAllOfGitHub(body: Answer): boolean {
  const commits = body.at('commits');
  if (commits.isAbsent || body.at('forced').isTrue() || body.at('created').isTrue()) return false;
  const { length } = commits.list();
  return length > 0 && length < MOST_COMMITS_OF_GITHUB;
}

function isAllOfGitea(body: Answer): boolean {
  const commits = body.at('commits');
  if (commits.isAbsent || isNothing(body.at('before').text())) return false;
  const { length } = commits.list();
  return length > 0 && String(length) === countOf(body.at('total_commits'), length);
}

function readGitLab(body: Answer): Told {
  const after = body.at('after').text();
  const commits = body.at('commits');
  const listed = commits.isAbsent ? 0 : commits.list().length;
  const isAll =
    listed > 0 &&
    String(listed) === countOf(body.at('total_commits_count'), listed) &&
    !isNothing(body.at('before').text());
  const push = describe(body.at('ref').text(), after, commitOf(commits, after), isAll ? pathsIn(commits) : null);
  return { pushes: [push], defaultBranch: defaultBranchOf(body.at('project')) };
}

/** Bitbucket names no files. */
function readBitbucket(body: Answer): Told {
  const pushes = body
    .at('push')
    .at('changes')
    .list()
    .map(change => {
      const [from, to] = [change.at('old'), change.at('new')];
      if (to.isAbsent) return { ...other('delete'), branch: from.isAbsent ? null : from.at('name').text() };
      const kind = to.at('type').text() === 'branch' ? 'heads' : 'tags';
      const target = to.at('target');
      const author = target.at('author').isAbsent ? null : target.at('author').at('raw').text();
      const push = describe(`refs/${kind}/${to.at('name').text()}`, target.at('hash').text(), target, null);
      return { ...push, author: cut(author?.replace(/ *<[^>]*>$/, '') ?? null, LONGEST_AUTHOR) };
    });
  return { pushes, defaultBranch: null };
}

/** Bitbucket Data Center has a form of its own, and names neither files nor messages. */
function readBitbucketServer(body: Answer): Told {
  const pushes = body
    .at('changes')
    .list()
    .map(change => describe(change.at('refId').text(), change.at('toHash').text(), undefined, null));
  return { pushes, defaultBranch: null };
}

/** Ours, for servers whose hooks are scripts: `ref`, `after`, and what else is known. */
function readPlain(body: Answer): Told {
  if (body.at('event').text() === 'ping') return { pushes: [other('ping')], defaultBranch: null };
  const files = body.at('changedFiles');
  const push = describe(
    body.at('ref').text(),
    body.at('after').text(),
    undefined,
    files.isAbsent ? null : textsIn(files),
  );
  const [message, author] = [
    cut(body.at('message').text(), LONGEST_MESSAGE),
    cut(body.at('author').text(), LONGEST_AUTHOR),
  ];
  return { pushes: [{ ...push, message, author }], defaultBranch: null };
}

const other = (event: string): PushEvent => ({
  ...{ event: printable(event).slice(0, 100), branch: null, sha: null },
  ...{ message: null, author: null, changedPaths: null },
});

function describe(
  ref: string | null,
  after: string | null,
  head: Answer | undefined,
  changedPaths: string[] | null,
): PushEvent {
  const [, kind, name] = /^refs\/(heads|tags)\/(.+)$/.exec(ref ?? '') ?? [];
  if (kind === undefined || name === undefined) throw new GitFailure('REFUSED', 'it does not say what was pushed');
  const branch = kind === 'heads' ? printable(name).slice(0, 255) : null;
  if (after !== null && isNothing(after)) return { ...other('delete'), branch };
  if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(after ?? ''))
    throw new GitFailure('REFUSED', 'it does not say which commit was pushed');
  const said = head === undefined || head.isAbsent ? undefined : head;
  const author = said === undefined || said.at('author').isAbsent ? null : said.at('author');
  return {
    event: kind === 'heads' ? 'push' : 'tag',
    branch,
    sha: after,
    message: cut(said?.at('message').text() ?? null, LONGEST_MESSAGE),
    author: cut(author?.at('name').text() ?? null, LONGEST_AUTHOR),
    changedPaths,
  };
}

function commitOf(commits: Answer, sha: string | null): Answer | undefined {
  return commits.isAbsent ? undefined : commits.list().find(commit => commit.at('id').text() === sha);
}

/** Null where there are more than anybody looks through. */
function pathsIn(commits: Answer): string[] | null {
  const paths = new Set<string>();
  for (const commit of commits.list())
    for (const part of ['added', 'modified', 'removed'])
      if (!commit.at(part).isAbsent) for (const path of textsIn(commit.at(part))) paths.add(path);
  return paths.size > MOST_PATHS ? null : [...paths];
}

const textsIn = (list: Answer): string[] => list.list().flatMap(item => item.text()?.toWellFormed() ?? []);

const defaultBranchOf = (repository: Answer): string | null =>
  repository.isAbsent ? null : repository.at('default_branch').text();

/** How many there are in all; as many as are listed where nobody says. */
const countOf = (count: Answer, listed: number): string => (count.isAbsent ? String(listed) : count.id());

/** What git writes for "nothing was there", or "nothing is there any more". */
const isNothing = (sha: string | null): boolean => sha === null || /^0+$/.test(sha);

const printable = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/gu, '?');

const cut = (text: string | null, length: number): string | null =>
  text === null ? null : text.slice(0, length).toWellFormed();
