import { setTimeout as pause } from 'node:timers/promises';
import { chooseAccount } from './embedded-account.ts';
import { DATABASE_NAME, DATABASE_USER, ensureCluster, findBinDir } from './embedded-cluster.ts';
import { type EmbeddedFolders, openFolders, SOCKET_PORT } from './embedded-folders.ts';
import { type FolderLock, lockFolder } from './embedded-lock.ts';
import { boundLog, keepLogBounded } from './embedded-log.ts';
import { findPostmaster, stopPostmaster } from './embedded-postmaster.ts';
import { type Reached, reach, type Setup, Starts } from './embedded-reach.ts';
import { DatabaseUnavailable } from './embedded-unavailable.ts';

export interface EmbeddedPostgresOptions {
  dataDir: string;
  log?: (line: string) => void;
  /** PostgreSQL settings on top of ours; tests turn durability off. */
  settings?: Record<string, string>;
}

export interface SocketConnection {
  host: string;
  port: number;
  user: string;
  database: string;
}

/**
 * A PostgreSQL of our own in `dataDir`, for this process alone. It starts the server, or adopts the one that a killed
 * service left running, and starts it again whenever it dies, until `stop`.
 */
export async function openEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  refuseWindows();
  const folders = await openFolders(options.dataDir);
  const lock = lockFolder(folders.lockFile, options.dataDir);
  try {
    const setup = await prepareCluster(folders, options.settings ?? {});
    const reached = await reach(setup, new Starts(setup), () => false);
    if (!reached) throw new DatabaseUnavailable('The embedded PostgreSQL was not reached.');
    return new EmbeddedPostgres(setup, lock, reached, options.log ?? (() => undefined));
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * Node cannot open the Unix sockets PostgreSQL makes on Windows, and a TCP port would be open to every local user.
 * There the service runs with a PostgreSQL server of its own, by DATABASE_URL, or inside WSL.
 */
function refuseWindows(): void {
  if (process.platform !== 'win32') return;
  throw new DatabaseUnavailable('The embedded database does not run on Windows: set DATABASE_URL, or use WSL.');
}

async function prepareCluster(folders: EmbeddedFolders, settings: Record<string, string>): Promise<Setup> {
  const binDir = findBinDir();
  const account = await chooseAccount(folders, binDir);
  await ensureCluster(folders, binDir, account, settings.fsync !== 'off');
  await boundLog(folders.logFile);
  return { folders, binDir, account, settings };
}

export class EmbeddedPostgres {
  readonly connection: SocketConnection;
  /** True when the server was already running: the service before us was killed. */
  readonly adopted: boolean;
  readonly #setup: Setup;
  readonly #lock: FolderLock;
  readonly #log: (line: string) => void;
  readonly #logKeeper: NodeJS.Timeout;
  #reached!: Reached;
  #starts: Starts | undefined;
  #recovery: Promise<void> | undefined;
  #stopped: Promise<void> | undefined;

  constructor(setup: Setup, lock: FolderLock, reached: Reached, log: (line: string) => void) {
    this.#setup = setup;
    this.#lock = lock;
    this.#log = log;
    this.adopted = reached.wasRunning;
    // An adopted server may use another socket folder than ours; whatever is started later must stay where clients look.
    setup.folders.socketDir = reached.postmaster.socketDir;
    const host = reached.postmaster.socketDir;
    this.connection = { host, port: SOCKET_PORT, user: DATABASE_USER, database: DATABASE_NAME };
    this.#logKeeper = keepLogBounded(setup.folders.logFile);
    this.#watch(reached);
    log(`Embedded PostgreSQL ${this.adopted ? 'adopted' : 'started'}, pid ${this.pid}, socket in ${host}`);
  }

  get pid(): number {
    return this.#reached.postmaster.pid;
  }

  get url(): string {
    const { host, port, user, database } = this.connection;
    return `postgresql://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
  }

  /** Close the pools first: a fast shutdown ends every connection. */
  stop(): Promise<void> {
    this.#stopped ??= this.#shutDown();
    return this.#stopped;
  }

  #watch(reached: Reached): void {
    this.#reached = reached;
    reached.client.once('end', () => {
      if (!this.#stopped) this.#recovery = this.#recover();
    });
  }

  async #recover(): Promise<void> {
    const lostAt = Date.now();
    this.#log(`Embedded PostgreSQL, pid ${this.pid}, is gone: starting it again`);
    for (let delayMs = 100; !this.#stopped; delayMs = Math.min(delayMs * 2, 2_000)) {
      const reached = await this.#tryToReach();
      if (reached) {
        this.#watch(reached);
        return this.#log(`Embedded PostgreSQL is back after ${Date.now() - lostAt} ms, pid ${this.pid}`);
      }
      if (!this.#stopped) await pause(delayMs);
    }
  }

  async #tryToReach(): Promise<Reached | undefined> {
    this.#starts = new Starts(this.#setup);
    try {
      return await reach(this.#setup, this.#starts, () => this.#stopped !== undefined);
    } catch (error) {
      this.#log((error as Error).message);
      return undefined;
    }
  }

  async #shutDown(): Promise<void> {
    clearInterval(this.#logKeeper);
    await this.#recovery;
    await this.#reached.client.end();
    // A server that was started a moment ago may not have written its pid yet.
    const launch = this.#starts?.launch;
    const pid = findPostmaster(this.#setup.folders)?.pid ?? (launch?.isOver ? undefined : launch?.pid);
    if (pid !== undefined) await stopPostmaster(pid, this.#setup.folders);
    this.#lock.release();
    this.#log('Embedded PostgreSQL stopped');
  }
}
