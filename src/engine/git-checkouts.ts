import { AnalysisFailure } from '../analysis/analysis-failure.ts';
import { cloneOne, forgetRemote, headCommit, listRemote } from '../commands/git.commands.ts';
import type { Commit } from '../entities/analysis.ts';
import type { RemoteRefs } from '../integrations/git/plain-git.ts';
import type { Host } from '../remote/host.ts';
import type { Outbound } from '../security/outbound.ts';
import { type GitLogin, GitSessions, ISOLATED } from './git-sessions.ts';
import { GitSnapshot } from './git-snapshot.ts';
import { SizeWatch } from './size-watch.ts';

export interface Checkout {
  commit: Commit;
  snapshot: GitSnapshot;
  dispose(): Promise<void>;
}

export interface GitLimits {
  listMs: number;
  cloneMs: number;
  /** What a clone may take of the disk. Large files are left out by servers that can; others send everything. */
  cloneBytes: number;
}

const LIMITS: GitLimits = { listMs: 30_000, cloneMs: 120_000, cloneBytes: 512 * 1024 * 1024 };

/** Reads what Git servers have, with git itself, from the control plane. */
export class GitCheckouts {
  readonly #sessions: GitSessions;
  readonly #limits: GitLimits;

  constructor(
    private readonly host: Host,
    outbound: Outbound,
    folder: string,
    limits: Partial<GitLimits> = {},
  ) {
    this.#sessions = new GitSessions(host, outbound, folder);
    this.#limits = { ...LIMITS, ...limits };
  }

  async listRefs(address: string, login: GitLogin): Promise<RemoteRefs> {
    return this.#sessions.speak(address, login, async ({ remote, run }) => {
      const { stdout } = await run(listRemote(remote), this.#limits.listMs);
      return parseRefs(stdout.toString());
    });
  }

  /** One commit of one branch (null: the default one). The caller disposes of it. */
  async clone(address: string, branch: string | null, login: GitLogin, signal?: AbortSignal): Promise<Checkout> {
    const { folders } = this.#sessions;
    const folder = await folders.make();
    const dispose = () => folders.remove(folder);
    try {
      await this.#sessions.speak(address, login, async ({ remote, run }) => {
        const watch = new SizeWatch(folder, this.#limits.cloneBytes, ' although large files were not asked for');
        const until = signal ? AbortSignal.any([signal, watch.signal]) : watch.signal;
        await run(cloneOne(remote, branch, folder), this.#limits.cloneMs, until).finally(() => watch.stop());
        await watch.refuseWhatIsTooLarge();
        await run(forgetRemote(folder), this.#limits.listMs);
      });
      return { commit: await this.#commitOf(folder), snapshot: new GitSnapshot(this.host, folder), dispose };
    } catch (error) {
      await dispose();
      throw error;
    }
  }

  async #commitOf(folder: string): Promise<Commit> {
    const { stdout } = await this.host.run(headCommit(folder), { env: ISOLATED }).catch(() => {
      throw new AnalysisFailure('REPOSITORY_EMPTY', 'The repository has no commit yet');
    });
    return parseCommit(stdout.toString());
  }
}

/** As git was asked for it: the hash, the author and the first line, with NUL between. */
export function parseCommit(text: string): Commit {
  const [sha = '', author = '', message = ''] = text.trimEnd().split('\0');
  return { sha, author: author.slice(0, 200), message: message.slice(0, 500) };
}

export function parseRefs(text: string): RemoteRefs {
  const lines = text.split('\n').filter(line => line !== '');
  const head = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(text)?.[1] ?? null;
  const branches = lines.flatMap(line => {
    const [, sha, name] = /^([0-9a-f]{40,64})\trefs\/heads\/(\S+)$/.exec(line) ?? [];
    return sha !== undefined && name !== undefined ? [{ name, sha }] : [];
  });
  return { defaultBranch: head, branches };
}
