import { Command, quote } from './command.ts';
import { isolated, type RemoteSpec, type SshSpec, sshCommand } from './git.commands.ts';

/** A repository without a working tree in it, and the folder that its files are written to. */
export interface SourceFolders {
  gitDirectory: string;
  tree: string;
}

/** Where the commit that is wanted is kept by name. */
const WANTED = 'refs/slipway/wanted';

/** Without a template nothing of the machine's, such as hooks, gets into it. */
export const initSource = ({ gitDirectory }: SourceFolders) =>
  Command.of('git', 'init', '--quiet', '--bare', '--template=', '--', gitDirectory);

/**
 * One commit with all its files. `what` is a branch by its full name, HEAD, or the hash of a commit. Everything is kept as one
 * pack, whose size can be watched, and large files are not taken into memory.
 */
export const fetchSource = (remote: RemoteSpec, { gitDirectory }: SourceFolders, what: string, depth: number) =>
  Command.of(
    ...['git', isolated(remote), '-c', 'fetch.unpackLimit=1', '-c', 'core.bigFileThreshold=16m'],
    ...['-c', 'gc.auto=0', '-c', 'maintenance.auto=false', '--git-dir', gitDirectory],
    ...['fetch', '--quiet', `--depth=${depth}`, '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head'],
    ...['--force', '--', remote.url, `${what}:${WANTED}`],
  );

/** One commit with its folders, but without what is in its files. */
export const fetchOutline = (
  remote: RemoteSpec,
  { gitDirectory }: Pick<SourceFolders, 'gitDirectory'>,
  what: string,
  name: string,
) =>
  Command.of(
    ...['git', isolated(remote), '-c', 'fetch.unpackLimit=1', '-c', 'gc.auto=0', '-c', 'maintenance.auto=false'],
    ...['--git-dir', gitDirectory, 'fetch', '--quiet', '--depth=1', '--filter=blob:none', '--no-tags'],
    ...['--no-recurse-submodules', '--no-write-fetch-head', '--force', '--', remote.url, `${what}:${outlineOf(name)}`],
  );

const outlineOf = (name: string): string => `refs/slipway/${name}`;

/** What is not here is not fetched for it, from nowhere. */
const offline = ['-c', 'protocol.allow=never'];

export const outlineCommit = (gitDirectory: string, name: string) =>
  Command.of(
    ...['git', offline, '--git-dir', gitDirectory, 'log', '-1', '--format=%H%x00%an%x00%B'],
    `${outlineOf(name)}^{commit}`,
  );

/** By the folders alone: to find out what was renamed, files would have to be read. */
export const changedFiles = (gitDirectory: string, from: string, to: string) =>
  Command.of(
    ...['git', offline, '--git-dir', gitDirectory, 'diff', '--name-only', '-z', '--no-renames'],
    ...['--ignore-submodules=none', outlineOf(from), outlineOf(to), '--'],
  );

/** Names a commit that came along with another. */
export const wantCommit = ({ gitDirectory }: SourceFolders, sha: string) =>
  Command.of('git', '--git-dir', gitDirectory, 'update-ref', WANTED, `${sha}^{commit}`);

export const sourceCommit = ({ gitDirectory }: SourceFolders) =>
  Command.of('git', '--git-dir', gitDirectory, 'log', '-1', '--format=%H%x00%an%x00%s%x00%ct', `${WANTED}^{commit}`);

/** Every file with its mode, hash and size. */
export const listSource = ({ gitDirectory }: SourceFolders) =>
  Command.of('git', '--git-dir', gitDirectory, 'ls-tree', '-r', '-l', '-z', '--full-tree', WANTED);

/** Hooks are off and no filter is configured: what a repository brings is written, and nothing of it is run. */
export const checkOutSource = ({ gitDirectory, tree }: SourceFolders) =>
  Command.of(
    ...['git', '-C', tree, '--git-dir', gitDirectory, '--work-tree', tree],
    ...['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', '-c', 'core.symlinks=true'],
    ...['-c', 'core.fileMode=true', '-c', 'submodule.recurse=false', '-c', 'core.bigFileThreshold=16m'],
    ...['-c', 'advice.detachedHead=false', 'checkout', '--quiet', '--force', '--detach', WANTED],
  );

/** What `.gitmodules` of the commit says, whatever lies in the tree under that name. */
export const readSubmodules = ({ gitDirectory }: SourceFolders) =>
  Command.of(
    ...['git', '--git-dir', gitDirectory, 'config', '--blob', `${WANTED}:.gitmodules`],
    ...['--no-includes', '--null', '--list'],
  );

/** Which of the paths given on standard input, with NUL between, are handled by which filter. */
export const askFilters = ({ gitDirectory, tree }: SourceFolders) =>
  Command.of(
    ...['git', '-C', tree, '--git-dir', gitDirectory, '--work-tree', tree],
    ...['check-attr', '--stdin', '-z', 'filter'],
  );

/** Asks a server over ssh where the LFS files of a repository are, and for a pass to them. The far shell reads its words. */
export const askLfs = (ssh: SshSpec, { host, port, path }: { host: string; port: number; path: string }) =>
  Command.of(
    ...[sshCommand(ssh).words, '-p', String(port), '--', host],
    `git-lfs-authenticate ${quote(path)} download`,
  );

export interface TarSpec {
  file: string;
  /** The folder whose contents are taken. */
  folder: string;
  /** Paths from that folder that are left out, as they are written. */
  without: readonly string[];
  /** The date of every file, in seconds: the commit's, so that the same commit makes the same archive. */
  seconds: number;
}

/** Whoever unpacks it owns the files; links stay links. */
const tarWords = ({ file, folder, seconds }: TarSpec) => [
  ...['--format=gnu', '--sort=name', '--owner=0', '--group=0', '--numeric-owner'],
  ...['--mode=u=rwX,go=rX', `--mtime=@${seconds}`, `--file=${file}`, '--force-local', `--directory=${folder}`, '.'],
];

/** Leaves out literally what is named: a file of the repository may be called `*`. */
export const packTree = (spec: TarSpec) =>
  Command.of(
    ...['tar', '--create', '--anchored', '--no-wildcards', ...spec.without.map(path => `--exclude=./${path}`)],
    tarWords(spec),
  );

export const packMore = (spec: TarSpec) => Command.of('tar', '--append', tarWords(spec));
