import { createWriteStream } from 'node:fs';
import { chmod, copyFile, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FolderSnapshot } from '../../analysis/snapshot/folder-snapshot.ts';
import { askFilters, type SourceFolders } from '../../commands/source.commands.ts';
import { type GitSessions, ISOLATED } from '../git-sessions.ts';
import { LfsServer } from './lfs-server.ts';
import type { SourceWish, Wanted } from './source-fetch.ts';
import { folderInside, isFile, type TreeEntry } from './tree-entries.ts';

/** A file that stands for a larger one, which LFS keeps. */
export interface Pointer {
  oid: string;
  size: number;
}

interface Kept {
  entry: TreeEntry;
  pointer: Pointer;
}

const LARGEST_POINTER = 1024;
const LARGEST_ATTRIBUTES = 1024 * 1024;
const DOWNLOADS_AT_ONCE = 4;

/**
 * Puts the files that LFS keeps in the place of their pointers. Not by git-lfs: that would connect to whatever address a server
 * names, and follow it anywhere. A repository without such files is not looked at twice.
 */
export class LfsFiles {
  constructor(
    private readonly sessions: GitSessions,
    private readonly wish: SourceWish,
  ) {}

  /** `count` refuses what is too much, before it is fetched. */
  async replace(
    wanted: Wanted,
    folders: SourceFolders,
    entries: readonly TreeEntry[],
    count: (bytes: number) => void,
  ): Promise<void> {
    const snapshot = new FolderSnapshot(folders.tree);
    if (!(await usesLfs(snapshot, entries))) return;
    const kept = await this.#filtered(folders, await pointersIn(snapshot, entries));
    if (kept.length === 0) return;
    const bytes = kept.reduce((sum, { pointer }) => sum + pointer.size, 0);
    count(bytes);
    this.wish.onLine(`Fetching ${kept.length} files from LFS (${(bytes / 1024 / 1024).toFixed(1)} MB)`);
    await this.#download(wanted, folders, kept);
  }

  /** Only what an attribute gives to LFS is a pointer; anything else may look like one. */
  async #filtered(folders: SourceFolders, kept: Kept[]): Promise<Kept[]> {
    if (kept.length === 0) return kept;
    const stdin = kept.map(({ entry }) => `${entry.path}\0`).join('');
    const options = { env: ISOLATED, signal: this.wish.signal, stdin };
    const words = (await this.sessions.host.run(askFilters(folders), options)).stdout.toString().split('\0');
    const filters = new Map<string, string>();
    for (let at = 0; at + 2 < words.length; at += 3) filters.set(words[at] ?? '', words[at + 2] ?? '');
    return kept.filter(({ entry }) => filters.get(entry.path) === 'lfs');
  }

  async #download(wanted: Wanted, folders: SourceFolders, kept: readonly Kept[]): Promise<void> {
    const server = await LfsServer.find(this.sessions, wanted, this.wish.signal);
    const store = join(folders.gitDirectory, 'lfs');
    await mkdir(store);
    const places = Map.groupBy(kept, ({ pointer }) => pointer.oid);
    const waiting = server.locate([...places.values()].flatMap(([first]) => (first ? [first.pointer] : [])));
    const worker = async () => {
      for (let next = await waiting.next(); !next.done; next = await waiting.next()) {
        const file = join(store, next.value.oid);
        await server.download(next.value, createWriteStream(file, { flags: 'wx' }));
        for (const { entry } of places.get(next.value.oid) ?? []) await put(file, folders.tree, entry);
        await rm(file);
      }
    };
    const workers = Array.from({ length: DOWNLOADS_AT_ONCE }, () => worker().finally(() => waiting.return(undefined)));
    // All have ended before anybody clears away what they write to.
    const failed = (await Promise.allSettled(workers)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }
}

async function usesLfs(snapshot: FolderSnapshot, entries: readonly TreeEntry[]): Promise<boolean> {
  const attributes = entries.filter(entry => isFile(entry) && /(^|\/)\.gitattributes$/.test(entry.path));
  for (const { path } of attributes) {
    const text = await snapshot.read(path, LARGEST_ATTRIBUTES);
    if (text !== null && /\bfilter=lfs\b/.test(Buffer.from(text).toString())) return true;
  }
  return false;
}

async function pointersIn(snapshot: FolderSnapshot, entries: readonly TreeEntry[]): Promise<Kept[]> {
  const kept: Kept[] = [];
  for (const entry of entries) {
    if (!isFile(entry) || entry.size > LARGEST_POINTER) continue;
    const text = await snapshot.read(entry.path, LARGEST_POINTER);
    const pointer = text === null ? undefined : parsePointer(Buffer.from(text).toString());
    if (pointer !== undefined) kept.push({ entry, pointer });
  }
  return kept;
}

export function parsePointer(text: string): Pointer | undefined {
  if (!/^version https:\/\/(git-lfs|hawser)\.github\.com\/spec\/v1\r?\n/.test(text)) return undefined;
  const [, oid] = /^oid sha256:([0-9a-f]{64})\r?$/m.exec(text) ?? [];
  const [, size] = /^size (\d{1,15})\r?$/m.exec(text) ?? [];
  return oid === undefined || size === undefined ? undefined : { oid, size: Number(size) };
}

async function put(file: string, tree: string, { path, mode }: TreeEntry): Promise<void> {
  const folder = await folderInside(tree, dirname(path));
  if (folder === undefined) return;
  const target = join(tree, path);
  await rm(target, { force: true });
  await copyFile(file, target);
  await chmod(target, mode === '100755' ? 0o755 : 0o644);
}
