import { fetchSource, initSource, type SourceFolders, wantCommit } from '../../commands/source.commands.ts';
import { GitFailure } from '../../integrations/git/git-failure.ts';
import { type Host, RemoteFailure } from '../../remote/host.ts';
import { type GitLogin, type GitSession, type GitSessions, ISOLATED } from '../git-sessions.ts';
import { SizeWatch } from '../size-watch.ts';
import { branchNotFound, commitNotFound } from './source-failure.ts';

export interface SourceLimits {
  /** For each fetch from a server. */
  fetchMs: number;
  /** What one repository may send. */
  fetchBytes: number;
  /** What all files together may take, submodules and LFS included. */
  treeBytes: number;
  submodules: number;
  submoduleDepth: number;
}

export interface Wanted {
  url: string;
  login: GitLogin;
  branch: string | null;
  commit: string | null;
}

export interface SourceWish extends Wanted {
  signal: AbortSignal;
  /** Is told what is being done, for the log of whoever waits. */
  onLine: (line: string) => void;
}

/** How far back a commit is looked for where the server does not give it by its hash. */
const DEPTHS = [50, 500, 5000];

/** Brings one commit of one repository here, without its history. */
export class SourceFetch {
  constructor(
    private readonly host: Host,
    private readonly sessions: GitSessions,
    private readonly limits: SourceLimits,
  ) {}

  async fetch(wanted: Wanted, folders: SourceFolders, signal: AbortSignal): Promise<void> {
    if (wanted.commit !== null && !/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(wanted.commit))
      throw commitNotFound(wanted.commit);
    await this.host.run(initSource(folders), { env: ISOLATED, signal });
    const watch = new SizeWatch(folders.gitDirectory, this.limits.fetchBytes);
    const until = AbortSignal.any([signal, watch.signal]);
    try {
      await this.sessions.speak(wanted.url, wanted.login, async session => {
        await this.#fetchWanted(session, wanted, folders, until);
        await watch.refuseWhatIsTooLarge();
      });
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof GitFailure && error.kind === 'NO_BRANCH' ? branchNotFound(wanted.branch) : error;
    } finally {
      watch.stop();
    }
  }

  async #fetchWanted(session: GitSession, wanted: Wanted, folders: SourceFolders, signal: AbortSignal): Promise<void> {
    const { branch, commit } = wanted;
    const tip = branch === null ? 'HEAD' : `refs/heads/${branch}`;
    if (commit === null) return this.#get(session, folders, tip, 1, signal);
    try {
      await this.#get(session, folders, commit, 1, signal);
    } catch (error) {
      if (!(error instanceof RemoteFailure)) throw error;
      if (NOT_THERE.test(error.stderrTail)) throw commitNotFound(commit);
      if (!NOT_BY_HASH.test(error.stderrTail)) throw error;
      await this.#lookBack(session, folders, tip, commit, signal);
    }
  }

  async #lookBack(
    session: GitSession,
    folders: SourceFolders,
    tip: string,
    commit: string,
    signal: AbortSignal,
  ): Promise<void> {
    for (const depth of DEPTHS) {
      await this.#get(session, folders, tip, depth, signal);
      const isHere = await this.host.run(wantCommit(folders, commit), { env: ISOLATED, signal }).then(
        () => true,
        () => false,
      );
      if (isHere) return;
    }
    throw commitNotFound(commit);
  }

  async #get(
    { remote, run }: GitSession,
    folders: SourceFolders,
    what: string,
    depth: number,
    signal: AbortSignal,
  ): Promise<void> {
    await run(fetchSource(remote, folders, what, depth), this.limits.fetchMs, signal);
  }
}

/** A server that gives commits by their hashes has none of this one. */
const NOT_THERE = /not our ref|unable to read [0-9a-f]+|bad object/i;
/** An older server gives only what it tells the name of. */
const NOT_BY_HASH = /does not allow request for unadvertised object|couldn't find remote ref [0-9a-f]{40}/i;
