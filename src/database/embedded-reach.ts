import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import type { Account } from './embedded-account.ts';
import { DATABASE_NAME, DATABASE_USER } from './embedded-cluster.ts';
import { type EmbeddedFolders, SOCKET_PORT } from './embedded-folders.ts';
import { readLogTail } from './embedded-log.ts';
import { findPostmaster, type Launch, launchPostmaster, type Postmaster } from './embedded-postmaster.ts';
import { clearRemains, killOrphans } from './embedded-remains.ts';
import { DatabaseUnavailable } from './embedded-unavailable.ts';

export interface Setup {
  folders: EmbeddedFolders;
  binDir: string;
  account: Account;
  settings: Record<string, string>;
}

export interface Reached {
  postmaster: Postmaster;
  /** A connection of our own that ends when PostgreSQL does. */
  client: Client;
  wasRunning: boolean;
}

const POLL_MS = 5;
/** A server at work on its recovery is waited for; one that refuses to start is not. */
const RECOVERY_LIMIT_MS = 120_000;
const REFUSAL_LIMIT_MS = 10_000;
const ORPHAN_PATIENCE_MS = 1_000;

/** Connects to the cluster's PostgreSQL, starting it unless it runs. Needs the folder's lock. Undefined when stopped. */
export async function reach(setup: Setup, starts: Starts, isStopping: () => boolean): Promise<Reached | undefined> {
  const deadline = Date.now() + RECOVERY_LIMIT_MS;
  while (!isStopping()) {
    const postmaster = findPostmaster(setup.folders);
    if (!postmaster) starts.startUnlessUnderWay();
    const client = postmaster?.isReady ? await connect(postmaster.socketDir) : undefined;
    if (postmaster && client) return { postmaster, client, wasRunning: starts.count === 0 };
    if ((!postmaster && starts.isHopeless) || Date.now() > deadline) throw await explainFailure(setup.folders);
    await pause(POLL_MS);
  }
  return undefined;
}

/** The attempts to start one server. The first ones may fail while backends of a killed one are still leaving. */
export class Starts {
  count = 0;
  launch: Launch | undefined;
  readonly #setup: Setup;
  #firstAt = 0;
  #nextAt = 0;
  #delayMs = 20;

  constructor(setup: Setup) {
    this.#setup = setup;
  }

  get isHopeless(): boolean {
    return this.count > 1 && Date.now() - this.#firstAt > REFUSAL_LIMIT_MS;
  }

  startUnlessUnderWay(): void {
    const now = Date.now();
    if ((this.launch && !this.launch.isOver) || now < this.#nextAt) return;
    if (this.count === 0) this.#firstAt = now;
    if (now - this.#firstAt > ORPHAN_PATIENCE_MS) killOrphans(this.#setup.folders);
    this.count += 1;
    this.#nextAt = now + this.#delayMs;
    this.#delayMs = Math.min(this.#delayMs * 2, 500);
    const { folders, binDir, account, settings } = this.#setup;
    if (clearRemains(folders)) this.launch = launchPostmaster(folders, binDir, account, settings);
  }
}

/** Every option is said, so that PGHOST and its kin in our environment decide nothing. */
async function connect(socketDir: string): Promise<Client | undefined> {
  const client = new Client({
    host: socketDir,
    port: SOCKET_PORT,
    user: DATABASE_USER,
    database: 'postgres',
    password: '',
    ssl: false,
    application_name: 'slipway watch',
    connectionTimeoutMillis: 5_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await ensureDatabase(client);
    return client;
  } catch {
    await client.end().catch(() => undefined);
    return undefined;
  }
}

async function ensureDatabase(client: Client): Promise<void> {
  const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [DATABASE_NAME]);
  if (rowCount === 0) await client.query(`create database ${DATABASE_NAME}`);
}

async function explainFailure({ home, logFile }: EmbeddedFolders): Promise<DatabaseUnavailable> {
  return new DatabaseUnavailable(
    `The embedded PostgreSQL in ${home} does not start. The end of ${logFile}:\n${await readLogTail(logFile)}`,
  );
}
