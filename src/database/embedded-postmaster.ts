import { execFileSync, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Account } from './embedded-account.ts';
import { PROGRAM_ENV } from './embedded-cluster.ts';
import { type EmbeddedFolders, SOCKET_PORT } from './embedded-folders.ts';

/** A running PostgreSQL of our cluster, whoever started it. */
export interface Postmaster {
  pid: number;
  socketDir: string;
  isReady: boolean;
}

/** One attempt to start it; `isOver` tells that the attempt ended by its own. */
export interface Launch {
  pid: number | undefined;
  isOver: boolean;
}

const SETTINGS = {
  listen_addresses: '',
  port: `${SOCKET_PORT}`,
  unix_socket_permissions: '0700',
  max_connections: '50',
  shared_buffers: '32MB',
  maintenance_work_mem: '32MB',
  max_wal_size: '256MB',
  min_wal_size: '32MB',
  // Nobody replicates from here, nobody queries in parallel: no process and no log is kept for it.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  max_parallel_workers_per_gather: '0',
  io_method: 'sync',
  // A statement whose service was killed must not hold its locks against the next one.
  client_connection_check_interval: '2s',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Failed statements reach the service as errors; in this file they would only leave values behind.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
};

/** What postmaster.pid says, if it is true: the file outlives a killed server, and its pid may be anybody's by then. */
export function findPostmaster({ cluster }: EmbeddedFolders): Postmaster | undefined {
  const [pid, , , , socketDir = '', , , status = ''] = readPidFile(cluster).split('\n');
  if (!isPostmaster(Number(pid), cluster)) return undefined;
  return { pid: Number(pid), socketDir, isReady: status.trim() === 'ready' };
}

/** Only for a cluster without a running postmaster, whose remains are cleared. */
export function launchPostmaster(
  folders: EmbeddedFolders,
  binDir: string,
  account: Account,
  extraSettings: Record<string, string>,
): Launch {
  // A list for PostgreSQL: a comma in the path would make two of it.
  const socketDirs = `"${folders.socketDir.replaceAll('"', '""')}"`;
  const settings = { ...SETTINGS, unix_socket_directories: socketDirs, ...extraSettings };
  const words = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const [program = '', ...rest] = [...account.prefix, join(binDir, 'postgres'), '-D', folders.cluster, ...words];
  const { uid, gid } = account;
  const log = openSync(folders.logFile, 'a', 0o600);
  // Its own session: Ctrl-C reaches the service alone, which needs its database to finish what it does.
  const child = spawn(program, rest, { env: PROGRAM_ENV, detached: true, uid, gid, stdio: ['ignore', log, log] });
  closeSync(log);
  child.unref();
  const launch: Launch = { pid: child.pid, isOver: false };
  child.once('exit', () => (launch.isOver = true)).once('error', () => (launch.isOver = true));
  return launch;
}

/** Fast shutdown; a server that does not obey is stopped harder, which costs a recovery and no data. */
export async function stopPostmaster(pid: number, { cluster }: EmbeddedFolders): Promise<void> {
  const steps = [
    { signal: 'SIGINT', patienceMs: 10_000 },
    { signal: 'SIGQUIT', patienceMs: 5_000 },
    { signal: 'SIGKILL', patienceMs: 2_000 },
  ] as const;
  for (const { signal, patienceMs } of steps) {
    if (!isPostmaster(pid, cluster)) return;
    send(pid, signal);
    const deadline = Date.now() + patienceMs;
    while (isPostmaster(pid, cluster) && Date.now() < deadline) await pause(5);
  }
}

export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function readPidFile(cluster: string): string {
  return readQuietly(() => readFileSync(join(cluster, 'postmaster.pid'), 'utf8'));
}

/** The words a process was started with stay in sight; a dead one not yet collected has none. */
export function isPostmaster(pid: number, cluster: string): boolean {
  if (!(pid > 0)) return false;
  const words = process.platform === 'linux' ? readLinuxWords(pid) : readWords(pid);
  return words.includes(` -D ${cluster} `);
}

function readLinuxWords(pid: number): string {
  return readQuietly(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
}

function readWords(pid: number): string {
  return readQuietly(() =>
    execFileSync('ps', ['-ww', '-o', 'command=', '-p', `${pid}`], { encoding: 'utf8', stdio: 'pipe' }),
  );
}

export function readQuietly(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
