import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readlinkSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type EmbeddedFolders, SOCKET_PORT } from './embedded-folders.ts';
import { isPostmaster, readQuietly, send } from './embedded-postmaster.ts';

/** A server writes its pid right after it made the file. One that stays empty longer lost its writer. */
const EMPTY_PATIENCE_MS = 2_000;

/**
 * What a killed server leaves behind would stop the next one: PostgreSQL believes a pid file or a socket's lock file
 * whose pid is alive, whatever program that is by now.
 *
 * Answers false when there may be no remains but a server that is just starting: one whose service was killed before it
 * could see it. Then nothing is started now.
 */
export function clearRemains(folders: EmbeddedFolders): boolean {
  clearSocket(folders);
  return clearPidFile(folders.cluster);
}

function clearSocket({ cluster, socketDir }: EmbeddedFolders): void {
  const socket = join(socketDir, `.s.PGSQL.${SOCKET_PORT}`);
  const pid = Number.parseInt(
    readQuietly(() => readFileSync(`${socket}.lock`, 'utf8')),
    10,
  );
  if (isPostmaster(pid, cluster)) return;
  for (const file of [socket, `${socket}.lock`]) rmSync(file, { force: true });
}

// All through one handle: if a starting server puts its own file in place meanwhile, we write to one that is gone.
function clearPidFile(cluster: string): boolean {
  const pidFile = join(cluster, 'postmaster.pid');
  const handle = openQuietly(pidFile);
  if (handle === undefined) return true;
  try {
    const content = readFileSync(handle, 'utf8');
    if (content !== '') return discredit(handle, content, cluster);
    if (Date.now() - fstatSync(handle).mtimeMs < EMPTY_PATIENCE_MS) return false;
    rmSync(pidFile);
    return true;
  } finally {
    closeSync(handle);
  }
}

function openQuietly(file: string): number | undefined {
  try {
    return openSync(file, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * The pid that PostgreSQL never takes for another server is its parent's: ours. Removing the file instead would remove the
 * mark of the shared memory in it, by which PostgreSQL notices backends that are still at work.
 */
function discredit(handle: number, content: string, cluster: string): boolean {
  if (isPostmaster(Number.parseInt(content, 10), cluster)) return false;
  writeSync(
    handle,
    content.replace(/^-?\d+/, pid => `${process.pid}`.padEnd(pid.length)),
    0,
  );
  return true;
}

/**
 * Backends of a killed postmaster leave by themselves once they wait for something; one deep in a query does not, and
 * until it is gone PostgreSQL rightly refuses to start. PostgreSQL works inside its data directory: that is how we know
 * them. Where there is no /proc they are waited for.
 */
export function killOrphans({ cluster }: EmbeddedFolders): void {
  if (process.platform !== 'linux') return;
  for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    if (readQuietly(() => readlinkSync(`/proc/${pid}/cwd`)) === cluster) send(Number(pid), 'SIGKILL');
  }
}
