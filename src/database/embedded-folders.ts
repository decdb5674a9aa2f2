import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseUnavailable } from './embedded-unavailable.ts';

/** Everything the embedded database keeps lies in one private folder of DATA_DIR. */
export interface EmbeddedFolders {
  /** DATA_DIR as the user named it, for messages. */
  dataDir: string;
  home: string;
  /** PostgreSQL's own data directory. It appears by a rename, so where it exists it is complete. */
  cluster: string;
  socketDir: string;
  lockFile: string;
  logFile: string;
}

/** Only the name of the socket carries it: nothing listens on TCP. */
export const SOCKET_PORT = 5432;

export async function openFolders(dataDir: string): Promise<EmbeddedFolders> {
  const home = await makeHome(dataDir);
  return {
    dataDir,
    home,
    cluster: join(home, 'cluster'),
    socketDir: await makeSocketDir(home),
    lockFile: join(home, 'service.lock'),
    logFile: join(home, 'postgresql.log'),
  };
}

async function makeHome(dataDir: string): Promise<string> {
  const home = join(dataDir, 'postgres');
  try {
    await mkdir(home, { recursive: true, mode: 0o700 });
    await chmod(home, 0o700);
    return await realpath(home);
  } catch (cause) {
    throw new DatabaseUnavailable(
      `The folder ${home} cannot be used: ${(cause as Error).message}. ` +
        'Give it to the user the service runs as, choose another DATA_DIR, or set DATABASE_URL.',
      { cause },
    );
  }
}

async function makeSocketDir(home: string): Promise<string> {
  const beside = join(home, 'socket');
  if (socketFits(beside)) {
    await mkdir(beside, { recursive: true, mode: 0o700 });
    return beside;
  }
  return makeShortSocketDir(home);
}

// The temp folder belongs to everybody: whoever made our folder there first could answer in place of the database.
async function makeShortSocketDir(home: string): Promise<string> {
  const name = `slipway-${createHash('sha256').update(home).digest('hex').slice(0, 16)}`;
  const dir = [tmpdir(), '/tmp'].map(parent => join(parent, name)).find(socketFits);
  if (!dir) throw new DatabaseUnavailable(`No folder is short enough for a socket: set TMPDIR to a shorter one.`);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const found = await lstat(dir);
  const owners = [process.getuid?.(), (await lstat(home)).uid];
  if (!found.isDirectory() || !owners.includes(found.uid) || (found.mode & 0o077) !== 0) {
    throw new DatabaseUnavailable(
      `${dir} exists and is not a private folder of ours: remove it, or set another TMPDIR.`,
    );
  }
  return dir;
}

/** sockaddr_un holds 108 bytes on Linux and 104 on macOS, the closing NUL included. */
function socketFits(dir: string): boolean {
  const limit = process.platform === 'linux' ? 107 : 103;
  return Buffer.byteLength(join(dir, `.s.PGSQL.${SOCKET_PORT}`)) <= limit;
}
