import { mkdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FolderSnapshot } from '../../analysis/snapshot/folder-snapshot.ts';
import type { Snapshot } from '../../analysis/snapshot/snapshot.ts';
import type { Commit } from '../../entities/analysis.ts';
import type { Host } from '../../remote/host.ts';
import type { Outbound } from '../../security/outbound.ts';
import { GitSessions } from '../git-sessions.ts';
import { LfsFiles } from './lfs-files.ts';
import { type Archive, type ArchiveOptions, makeArchive } from './source-archive.ts';
import { sourceFailure } from './source-failure.ts';
import { SourceFetch, type SourceLimits, type SourceWish } from './source-fetch.ts';
import { SourceTree } from './source-tree.ts';

/** A commit with its files on this machine. Whoever asked for it disposes of it. */
export interface Source {
  commit: Commit;
  snapshot: Snapshot;
  archive(options: ArchiveOptions): Promise<Archive>;
  dispose(): Promise<void>;
}

const GIGABYTE = 1024 * 1024 * 1024;

const LIMITS: SourceLimits = {
  fetchMs: 10 * 60_000,
  fetchBytes: 2 * GIGABYTE,
  treeBytes: 2 * GIGABYTE,
  submodules: 20,
  submoduleDepth: 3,
};

/** Brings what is built to the control plane: one commit, with its submodules and the files that LFS keeps elsewhere. */
export class SourceCheckouts {
  readonly #sessions: GitSessions;
  readonly #limits: SourceLimits;

  constructor(
    private readonly host: Host,
    outbound: Outbound,
    folder: string,
    limits: Partial<SourceLimits> = {},
  ) {
    this.#sessions = new GitSessions(host, outbound, folder);
    this.#limits = { ...LIMITS, ...limits };
  }

  async checkOut(wish: SourceWish): Promise<Source> {
    const { folders } = this.#sessions;
    const folder = await realpath(await folders.make());
    const dispose = () => folders.remove(folder);
    const tree = join(folder, 'tree');
    try {
      await mkdir(tree);
      const fetch = new SourceFetch(this.host, this.#sessions, this.#limits);
      const lfs = new LfsFiles(this.#sessions, wish);
      const files = new SourceTree(this.host, fetch, lfs, this.#limits, wish);
      const { seconds, ...commit } = await files.write(folder, tree);
      // Packs are not needed any more, and may be as large as the files.
      await rm(join(folder, 'git'), { recursive: true, force: true });
      const archive = (options: ArchiveOptions) =>
        makeArchive(this.host, { ...options, tree, folder, seconds }, wish.signal);
      return { commit, snapshot: new FolderSnapshot(tree), archive, dispose };
    } catch (error) {
      await dispose();
      wish.signal.throwIfAborted();
      throw sourceFailure(error);
    }
  }
}
