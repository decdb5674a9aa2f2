import { execFile } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { chmod, lchown, readdir } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { EmbeddedFolders } from './embedded-folders.ts';
import { DatabaseUnavailable } from './embedded-unavailable.ts';

/** How to start a PostgreSQL program: words in front of its command line, or another account to start it as. */
export interface Account {
  prefix: string[];
  uid?: number;
  gid?: number;
}

interface PasswdEntry {
  name: string;
  uid: number;
  gid: number;
}

const MYSELF: Account = { prefix: [] };

/** PostgreSQL refuses to run as root, and initdb refuses a user that passwd does not know: both need another face. */
export async function chooseAccount(folders: EmbeddedFolders, binDir: string): Promise<Account> {
  const isRoot = process.getuid?.() === 0;
  if (!isRoot && isKnownUser()) return MYSELF;
  const owner = statSync(folders.home);
  if (isRoot && owner.uid !== 0) return { prefix: [], uid: owner.uid, gid: owner.gid };
  const account =
    (await inUserNamespace(folders, binDir)) ?? (isRoot ? await asSystemAccount(folders, binDir) : undefined);
  if (account) return account;
  throw new DatabaseUnavailable(
    `PostgreSQL does not run as ${isRoot ? 'root' : 'a user without a passwd entry'}, and this machine allows neither user ` +
      'namespaces nor an account (postgres, nobody) that reaches both DATA_DIR and the installation. ' +
      'Run the service as an ordinary user, move DATA_DIR, or set DATABASE_URL.',
  );
}

function isKnownUser(): boolean {
  try {
    return userInfo().username !== '';
  } catch {
    return false;
  }
}

/** The kernel sees our own user, so our files stay ours; PostgreSQL sees `nobody` and has no capability left. */
async function inUserNamespace({ home }: EmbeddedFolders, binDir: string): Promise<Account | undefined> {
  const face = findEntry('nobody') ?? readPasswd().find(entry => entry.uid !== 0);
  if (process.platform !== 'linux' || !face) return undefined;
  const prefix = ['unshare', '--user', `--map-user=${face.uid}`, `--map-group=${face.gid}`, '--'];
  const account = { prefix };
  return (await canReach(account, home, binDir)) ? account : undefined;
}

/** Containers usually forbid namespaces: there root gives the folder away to an account that may run PostgreSQL. */
async function asSystemAccount(folders: EmbeddedFolders, binDir: string): Promise<Account | undefined> {
  // Secrets beside the database are files of mode 0600; passing through the folder shows nothing of them.
  await chmod(dirname(folders.home), statSync(dirname(folders.home)).mode | 0o011);
  for (const name of ['postgres', 'nobody']) {
    const entry = findEntry(name);
    if (!entry) continue;
    const account = { prefix: [], uid: entry.uid, gid: entry.gid };
    if (!(await canReach(account, dirname(folders.home), binDir))) continue;
    await giveAway(folders.home, entry);
    await giveAway(folders.socketDir, entry);
    return account;
  }
  return undefined;
}

/** Asked of the kernel, as that account: permissions, namespaces and mounts all have their say. */
async function canReach({ prefix, uid, gid }: Account, dir: string, binDir: string): Promise<boolean> {
  const [program = '', ...words] = [...prefix, 'test', '-x', dir, '-a', '-x', join(binDir, 'postgres')];
  try {
    await promisify(execFile)(program, words, { uid, gid });
    return true;
  } catch {
    return false;
  }
}

function findEntry(name: string): PasswdEntry | undefined {
  return readPasswd().find(entry => entry.name === name);
}

function readPasswd(): PasswdEntry[] {
  if (!existsSync('/etc/passwd')) return [];
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n').filter(Boolean);
  return lines.map(line => {
    const [name = '', , uid, gid] = line.split(':');
    return { name, uid: Number(uid), gid: Number(gid) };
  });
}

async function giveAway(dir: string, { uid, gid }: PasswdEntry): Promise<void> {
  await lchown(dir, uid, gid);
  for (const entry of await readdir(dir, { recursive: true })) await lchown(join(dir, entry), uid, gid);
}
