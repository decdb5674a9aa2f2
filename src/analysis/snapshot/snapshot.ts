export type EntryKind = 'file' | 'folder' | 'symlink' | 'submodule' | 'other';

export interface SnapshotEntry {
  /** From the root of the repository, separated by "/", without a leading one. */
  readonly path: string;
  readonly kind: EntryKind;
  readonly size: number;
}

/**
 * A repository at one commit, as somebody can show it: a provider's tree, a clone, a folder.
 * Entries are handed out one by one, so that the reader can stop a listing without end.
 */
export interface Snapshot {
  entries(): AsyncIterable<SnapshotEntry>;
  /** The first `maxBytes` of a file, or null where it cannot be read. Never follows a link. */
  read(path: string, maxBytes: number): Promise<Uint8Array | null>;
}

/** Folders that hold what tools made or fetched. Nobody's application starts here, and they are where the file counts explode. */
const neverEntered = new Set([
  '.git',
  '.hg',
  '.svn',
  'node_modules',
  'bower_components',
  '.venv',
  'venv',
  '__pycache__',
  '.tox',
  '.next',
  '.nuxt',
  '.svelte-kit',
  '.turbo',
  '.gradle',
  '.terraform',
  'Pods',
]);

export const isEntered = (folderName: string): boolean => !neverEntered.has(folderName);
