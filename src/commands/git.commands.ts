import { Command } from './command.ts';

/** Where a repository is and how to reach it, checked before it gets here. */
export interface RemoteSpec {
  url: string;
  /** "host:port:address", so that git connects to the address that was checked and to no other. */
  pin: string | null;
  caFile: string | null;
}

/** Files larger than this are not downloaded: nothing that describes an application is that large. */
const LARGEST_BLOB = '512k';

/** Nothing of the user's or the system's configuration applies, no hook, filter or helper of a repository runs. */
const isolated = ({ pin, caFile }: RemoteSpec) => [
  ...['-c', 'core.hooksPath=/dev/null'],
  ...['-c', 'protocol.allow=never', '-c', 'protocol.https.allow=always', '-c', 'protocol.ssh.allow=always'],
  ...['-c', 'http.followRedirects=false', '-c', 'credential.helper='],
  ...['-c', 'core.symlinks=false', '-c', 'submodule.recurse=false', '-c', 'fetch.fsckObjects=false'],
  ...(pin === null ? [] : ['-c', `http.curloptResolve=${pin}`]),
  ...(caFile === null ? [] : ['-c', `http.sslCAInfo=${caFile}`]),
];

/** Branches and the default branch of a remote. `--` keeps what follows from being taken for an option. */
export const listRemote = (remote: RemoteSpec) =>
  Command.of('git', isolated(remote), 'ls-remote', '--symref', '--', remote.url, 'HEAD', 'refs/heads/*');

/** One commit without its large files and without a working tree. */
export const cloneOne = (remote: RemoteSpec, branch: string | null, directory: string) =>
  Command.of(
    ...['git', isolated(remote), 'clone', '--quiet', '--bare', '--depth=1', '--single-branch', '--no-tags'],
    `--filter=blob:limit=${LARGEST_BLOB}`,
    branch !== null && [`--branch=${branch}`],
    ...['--', remote.url, directory],
  );

/** Without its promise of a remote a clone answers from what it has, instead of fetching what it left out. */
export const forgetRemote = (directory: string) =>
  Command.of('git', '--git-dir', directory, 'config', '--remove-section', 'remote.origin');

export const headCommit = (directory: string) =>
  Command.of('git', '--git-dir', directory, 'log', '-1', '--format=%H%x00%an%x00%s', 'HEAD');

export const listTree = (directory: string) =>
  Command.of('git', '--git-dir', directory, 'ls-tree', '-r', '-z', '--full-tree', 'HEAD');

export const catFiles = (directory: string) =>
  Command.of('git', '--git-dir', directory, 'cat-file', '--batch', '--buffer');
