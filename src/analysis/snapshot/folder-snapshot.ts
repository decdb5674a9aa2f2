import { constants } from 'node:fs';
import { lstat, open, opendir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { AnalysisFailure, printablePath } from '../analysis-failure.ts';
import { type EntryKind, isEntered, type Snapshot, type SnapshotEntry } from './snapshot.ts';

interface Dirent {
  readonly name: string;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/** A folder on this machine. It may hold links to anywhere, pipes that never answer and names nobody can type. */
export class FolderSnapshot implements Snapshot {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  async *entries(): AsyncIterable<SnapshotEntry> {
    const waiting = [''];
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      for await (const entries of this.#batchesIn(folder)) {
        yield* entries;
        waiting.push(...entries.filter(isFolderToEnter).map(entry => entry.path));
      }
    }
  }

  async read(path: string, maxBytes: number): Promise<Uint8Array | null> {
    try {
      const file = await this.#openInside(path);
      try {
        return await readHead(file, maxBytes);
      } finally {
        await file.close();
      }
    } catch {
      return null;
    }
  }

  /** In batches, so that a folder of a million files is neither held whole nor asked about one file at a time. */
  async *#batchesIn(folder: string): AsyncIterable<SnapshotEntry[]> {
    let batch: Dirent[] = [];
    for await (const dirent of await this.#open(folder)) {
      batch.push(dirent);
      if (batch.length < 128) continue;
      yield await this.#measured(folder, batch);
      batch = [];
    }
    yield await this.#measured(folder, batch);
  }

  async #open(folder: string): Promise<AsyncIterable<Dirent>> {
    try {
      return await opendir(join(this.#root, folder), { bufferSize: 128 });
    } catch (fault) {
      if (folder !== '') return noNames();
      throw new AnalysisFailure('FOLDER_UNREADABLE', `The folder cannot be read: ${printablePath(messageOf(fault))}`);
    }
  }

  #measured(folder: string, dirents: readonly Dirent[]): Promise<SnapshotEntry[]> {
    return Promise.all(
      dirents.map(async dirent => {
        const path = folder === '' ? dirent.name : `${folder}/${dirent.name}`;
        const kind = kindOf(dirent);
        return { path, kind, size: kind === 'file' ? await this.#sizeOf(path) : 0 };
      }),
    );
  }

  async #sizeOf(path: string): Promise<number> {
    return lstat(join(this.#root, path)).then(
      found => found.size,
      () => 0,
    );
  }

  /** O_NOFOLLOW guards the last name only; the folders before it are guarded by where they really are. */
  async #openInside(path: string) {
    const root = await realpath(this.#root);
    const parent = await realpath(join(root, path, '..'));
    if (parent !== root && !parent.startsWith(root + sep)) throw new Error('outside');
    const file = await open(join(root, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if ((await file.stat()).isFile()) return file;
    await file.close();
    throw new Error('not a file');
  }
}

async function* noNames(): AsyncGenerator<Dirent> {}

const isFolderToEnter = ({ kind, path }: SnapshotEntry): boolean =>
  kind === 'folder' && isEntered(path.slice(path.lastIndexOf('/') + 1));

function kindOf(dirent: Dirent): EntryKind {
  if (dirent.isSymbolicLink()) return 'symlink';
  if (dirent.isDirectory()) return 'folder';
  return dirent.isFile() ? 'file' : 'other';
}

async function readHead(file: Awaited<ReturnType<typeof open>>, maxBytes: number): Promise<Uint8Array> {
  const { size } = await file.stat();
  const bytes = new Uint8Array(Math.min(size, maxBytes));
  let filled = 0;
  while (filled < bytes.length) {
    const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

const messageOf = (fault: unknown): string => (fault instanceof Error ? fault.message : String(fault));
