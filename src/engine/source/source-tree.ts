import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { printablePath } from '../../analysis/analysis-failure.ts';
import type { Command } from '../../commands/command.ts';
import {
  checkOutSource,
  listSource,
  readSubmodules,
  type SourceFolders,
  sourceCommit,
} from '../../commands/source.commands.ts';
import type { Commit } from '../../entities/analysis.ts';
import { type Host, RemoteFailure, type RunOptions } from '../../remote/host.ts';
import { parseRepositoryUrl, type RepositoryUrl } from '../../security/repository-url.ts';
import { DeployFailure } from '../deploy/deploy-failure.ts';
import { parseCommit } from '../git-checkouts.ts';
import { ISOLATED, NO_LOGIN } from '../git-sessions.ts';
import type { LfsFiles } from './lfs-files.ts';
import { commitNotFound, failureOfStranger, failureOfSubmodule } from './source-failure.ts';
import type { SourceFetch, SourceLimits, SourceWish, Wanted } from './source-fetch.ts';
import { ownerOf, parseSubmodules, submoduleUrl, wayTo } from './submodules.ts';
import { folderInside, isSubmodule, parseTree, type TreeEntry } from './tree-entries.ts';

interface DatedCommit extends Commit {
  /** When it was committed, in seconds since 1970. */
  seconds: number;
}

/** A repository being written to a folder, and what hangs on it. Counts what all of them take together. */
export class SourceTree {
  #bytes = 0;
  #submodules = 0;

  constructor(
    private readonly host: Host,
    private readonly source: SourceFetch,
    private readonly lfs: LfsFiles,
    private readonly limits: SourceLimits,
    private readonly wish: SourceWish,
  ) {}

  async write(folder: string, tree: string): Promise<DatedCommit> {
    const { branch, commit, onLine } = this.wish;
    const place = branch === null ? 'the default branch' : `branch ${branch}`;
    onLine(`Fetching ${commit === null ? place : `commit ${commit}`}`);
    const folders = { gitDirectory: join(folder, 'git', '0'), tree };
    await mkdir(join(folder, 'git'));
    return this.#write(this.wish, folders, '', 0);
  }

  async #write(wanted: Wanted, folders: SourceFolders, above: string, depth: number): Promise<DatedCommit> {
    await this.source.fetch(wanted, folders, this.wish.signal);
    const [text, seconds] = splitLast(await this.#ask(sourceCommit(folders)).catch(error => notACommit(wanted, error)));
    const commit = parseCommit(text);
    this.wish.onLine(`${above === '' ? 'Commit' : `Submodule ${above}: commit`} ${commit.sha} ${commit.message}`);
    const entries = parseTree(await this.#ask(listSource(folders)));
    this.#count(entries.reduce((sum, { size }) => sum + size, 0));
    await this.#ask(checkOutSource(folders), { timeoutMs: this.limits.fetchMs });
    await this.lfs.replace(wanted, folders, entries, bytes => this.#count(bytes));
    const modules = entries.filter(isSubmodule);
    if (modules.length > 0) await this.#writeSubmodules(wanted, folders, modules, above, depth);
    return { ...commit, seconds: Number(seconds) };
  }

  async #writeSubmodules(
    parent: Wanted,
    folders: SourceFolders,
    entries: readonly TreeEntry[],
    above: string,
    depth: number,
  ): Promise<void> {
    const said = await this.#ask(readSubmodules(folders)).catch(() => '');
    const known = new Map(parseSubmodules(said).map(each => [each.path, each]));
    for (const entry of entries) {
      const path = `${above}${above === '' ? '' : '/'}${printablePath(entry.path)}`;
      const module = known.get(entry.path);
      if (module === undefined || module.isLeftOut) {
        const why = module === undefined ? 'has no address in .gitmodules' : 'is left out by .gitmodules';
        this.wish.onLine(`Submodule ${path} ${why}: its folder stays empty`);
        continue;
      }
      try {
        await this.#writeSubmodule(parent, folders, entry, { path, url: module.url }, depth + 1);
      } catch (error) {
        throw failureOfSubmodule(path, error);
      }
    }
  }

  async #writeSubmodule(
    parent: Wanted,
    folders: SourceFolders,
    entry: TreeEntry,
    { path, url }: { path: string; url: string },
    depth: number,
  ): Promise<void> {
    this.#submodules += 1;
    const { submodules, submoduleDepth } = this.limits;
    if (depth > submoduleDepth) throw tooMany(`Submodules are nested more than ${submoduleDepth} deep`);
    if (this.#submodules > submodules) throw tooMany(`The repository has more than ${submodules} submodules`);
    const tree = await folderInside(folders.tree, entry.path);
    if (tree !== join(folders.tree, entry.path)) throw tooMany('Its folder is not one of the repository');
    const gitDirectory = `${folders.gitDirectory}-${this.#submodules}`;
    const wanted = { ...this.#wayTo(parent, url), branch: null, commit: entry.object };
    const isStranger = wanted.login !== this.wish.login;
    const place = placeOf(parsed(this.wish.url));
    this.wish.onLine(`Fetching submodule ${path}${isStranger ? `, without the account: it is not in ${place}` : ''}`);
    await this.#write(wanted, { gitDirectory, tree }, path, depth).catch(error => {
      throw isStranger ? failureOfStranger(place, error) : error;
    });
  }

  #wayTo(parent: Wanted, address: string): Pick<Wanted, 'url' | 'login'> {
    const main = parsed(this.wish.url);
    const found = submoduleUrl(parsed(parent.url), address);
    if (found === undefined)
      throw new DeployFailure(
        'CLONE_FAILED',
        'Its address in .gitmodules is not one of https or ssh',
        'Write it as https://…, ssh://…, git@host:… or relative to the repository.',
      );
    const { url, isTrusted } = wayTo(found, main, this.wish.login);
    return { url: url.href, login: isTrusted ? this.wish.login : NO_LOGIN };
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.limits.treeBytes) return;
    const megabytes = Math.round(this.limits.treeBytes / 1024 / 1024);
    throw tooMany(`The files of the repository take more than ${megabytes} MB`);
  }

  async #ask(command: Command, options: RunOptions = {}): Promise<string> {
    try {
      const { stdout } = await this.host.run(command, { env: ISOLATED, signal: this.wish.signal, ...options });
      return stdout.toString();
    } catch (error) {
      if (error instanceof RemoteFailure && error.reason === 'TOO_MUCH_OUTPUT')
        throw tooMany('The repository has more files than can be listed');
      throw error;
    }
  }
}

/** Addresses are checked before they get here. */
function parsed(address: string): RepositoryUrl {
  const url = parseRepositoryUrl(address);
  if (url === undefined) throw new TypeError('not the address of a repository');
  return url;
}

/** Such as `github.com/acme`. */
const placeOf = (url: RepositoryUrl): string => [url.host, ownerOf(url)].filter(Boolean).join('/');

const tooMany = (message: string): DeployFailure =>
  new DeployFailure('CLONE_FAILED', message, 'Take out of the repository what is not needed to build it.');

/** A file or a folder has a hash as well. */
function notACommit({ commit }: Wanted, error: unknown): never {
  throw commit !== null && error instanceof RemoteFailure && error.reason === 'EXIT' ? commitNotFound(commit) : error;
}

function splitLast(text: string): [before: string, last: string] {
  const cut = text.lastIndexOf('\0');
  return [text.slice(0, cut), text.slice(cut + 1).trim()];
}
