import { DatabaseSync } from 'node:sqlite';
import { DatabaseUnavailable } from './embedded-unavailable.ts';

export interface FolderLock {
  release(): void;
}

const SQLITE_BUSY = 5;
/** Two that come at the same moment see each other half-way through SQLite's steps: without patience both would give up. */
const PATIENCE_MS = 250;

/** A database nobody refers to is collected as garbage, and its lock goes with it. */
const held = new Set<DatabaseSync>();

/**
 * Node has no flock, but SQLite, which it carries, locks files by the kernel on every platform. Such a lock ends with the
 * process, however it ends, and no pid is ever compared. The file stays empty.
 *
 * Trap: POSIX locks fall when the process closes any handle of the file, so nothing in the service may open it.
 */
export function lockFolder(lockFile: string, dataDir: string): FolderLock {
  try {
    const database = new DatabaseSync(lockFile, { timeout: PATIENCE_MS });
    database.exec('BEGIN EXCLUSIVE');
    held.add(database);
    return { release: () => held.delete(database) && database.close() };
  } catch (cause) {
    throw new DatabaseUnavailable(explain(cause, lockFile, dataDir), { cause });
  }
}

function explain(cause: unknown, lockFile: string, dataDir: string): string {
  const { errcode, message } = cause as Error & { errcode?: number };
  if (errcode !== SQLITE_BUSY)
    return `${lockFile} cannot be locked (${message}): check who owns it, or set DATABASE_URL.`;
  return (
    `Another service already uses the embedded database in ${dataDir}. ` +
    'Stop it, give this one its own DATA_DIR, or let both share a PostgreSQL server by DATABASE_URL.'
  );
}
