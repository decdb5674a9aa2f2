import { join } from 'node:path';
import { changedFiles, fetchOutline, initSource, outlineCommit } from '../../commands/source.commands.ts';
import type { Host } from '../../remote/host.ts';
import type { Outbound } from '../../security/outbound.ts';
import { type GitLogin, type GitSession, GitSessions, ISOLATED } from '../git-sessions.ts';
import { SizeWatch } from '../size-watch.ts';

export interface PushSpec {
  url: string;
  login: GitLogin;
  branch: string;
  /** The newest commit before and after. */
  from: string;
  to: string;
}

/** What can be known of a push that was found by looking. */
export interface FoundPush {
  message: string;
  author: string;
  /** Null where the commit before is not to be had any more, or too much was changed. */
  changedPaths: string[] | null;
}

const FETCH_MS = 60_000;
const FETCH_BYTES = 256 * 1024 * 1024;
const MOST_PATHS = 3000;

/** Reads what a push brought, without the contents of any file. */
export class PushReader {
  readonly #sessions: GitSessions;

  constructor(
    private readonly host: Host,
    outbound: Outbound,
    folder: string,
  ) {
    this.#sessions = new GitSessions(host, outbound, folder);
  }

  async read({ url, login, branch, from, to }: PushSpec, signal: AbortSignal): Promise<FoundPush> {
    const { folders } = this.#sessions;
    const folder = await folders.make();
    const gitDirectory = join(folder, 'git');
    const watch = new SizeWatch(gitDirectory, FETCH_BYTES);
    const until = AbortSignal.any([signal, watch.signal]);
    try {
      await this.host.run(initSource({ gitDirectory, tree: folder }), { env: ISOLATED, signal });
      const hasBoth = await this.#sessions.speak(url, login, async session => {
        await fetchCommit(session, gitDirectory, to, 'after', until, `refs/heads/${branch}`);
        return fetchCommit(session, gitDirectory, from, 'before', until).then(
          () => true,
          () => false,
        );
      });
      return {
        ...(await this.#commit(gitDirectory)),
        changedPaths: hasBoth ? await this.#changes(gitDirectory) : null,
      };
    } finally {
      watch.stop();
      await folders.remove(folder);
    }
  }

  async #commit(gitDirectory: string): Promise<Pick<FoundPush, 'message' | 'author'>> {
    const { stdout } = await this.host.run(outlineCommit(gitDirectory, 'after'), { env: ISOLATED });
    const [, author = '', message = ''] = stdout.toString().split('\0');
    return { author: author.slice(0, 200), message: message.trim().slice(0, 500).toWellFormed() };
  }

  async #changes(gitDirectory: string): Promise<string[] | null> {
    const { stdout } = await this.host.run(changedFiles(gitDirectory, 'before', 'after'), { env: ISOLATED });
    const paths = stdout.toString().split('\0').slice(0, -1);
    return paths.length > MOST_PATHS ? null : paths;
  }
}

/** By its hash; where the server does not give it by that, by the name that it has just told. */
async function fetchCommit(
  { remote, run }: GitSession,
  gitDirectory: string,
  sha: string,
  name: string,
  signal: AbortSignal,
  otherwise?: string,
): Promise<void> {
  const get = (what: string) => run(fetchOutline(remote, { gitDirectory }, what, name), FETCH_MS, signal);
  await get(sha).catch(error => {
    if (otherwise === undefined || signal.aborted) throw error;
    return get(otherwise);
  });
}
