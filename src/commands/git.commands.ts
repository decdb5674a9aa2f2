import { Command } from './command.ts';

/** Where a repository is and how to reach it, checked before it gets here. */
export interface RemoteSpec {
  url: string;
  /** "host:port:address,…", so that git connects to the addresses that were checked and to no other. */
  pin: string | null;
  caFile: string | null;
}

/** Files larger than this are not downloaded: nothing that describes an application is that large. */
export const LARGEST_BLOB = 4 * 1024 * 1024;

/** Nothing of the user's or the system's configuration applies, no hook, filter or helper of a repository runs. */
export const isolated = ({ pin, caFile }: RemoteSpec) => [
  ...['-c', 'core.hooksPath=/dev/null'],
  ...['-c', 'protocol.allow=never', '-c', 'protocol.https.allow=always', '-c', 'protocol.ssh.allow=always'],
  ...['-c', 'http.followRedirects=false', '-c', 'http.proxy=', '-c', 'credential.helper='],
  // Whoever started it may be killed: then nobody else ends it where the server has fallen silent.
  ...['-c', 'http.lowSpeedLimit=1', '-c', 'http.lowSpeedTime=60'],
  ...['-c', 'core.symlinks=false', '-c', 'submodule.recurse=false', '-c', 'fetch.fsckObjects=false'],
  ...(pin === null ? [] : ['-c', `http.curloptResolve=${pin}`]),
  ...(caFile === null ? [] : ['-c', `http.sslCAInfo=${caFile}`]),
];

export const gitVersion = () => Command.of('git', 'version');

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

/** Every object that was cloned, with its size. */
export const listObjects = (directory: string) =>
  Command.of(
    ...['git', '--git-dir', directory, 'cat-file', '--batch-all-objects', '--unordered'],
    '--batch-check=%(objectname) %(objectsize)',
  );

export const catFiles = (directory: string) =>
  Command.of('git', '--git-dir', directory, 'cat-file', '--batch', '--buffer');

export interface SshSpec {
  /** The key file, or null for none at all. */
  keyFile: string | null;
  knownHostsFile: string;
  /** The checked address, and the name its key is remembered by. */
  address: string;
  alias: string;
  /** Who to be where the repository's address does not say. */
  user: string;
}

/**
 * What git runs for ssh. The key of a server is trusted when it is first seen, and then for good. Nothing of the account that
 * Slipway runs under applies: without `IdentityFile=none` ssh would offer that account's own keys to anybody's server.
 */
export const sshCommand = ({ keyFile, knownHostsFile, address, alias, user }: SshSpec) =>
  Command.of(
    ...['ssh', '-F', '/dev/null', '-o', `IdentityFile=${keyFile === null ? 'none' : optionValue(keyFile)}`],
    ...[
      'IdentitiesOnly=yes',
      'IdentityAgent=none',
      'BatchMode=yes',
      'ConnectTimeout=15',
      'ServerAliveInterval=15',
      'ForwardAgent=no',
    ].flatMap(asOption),
    ...['StrictHostKeyChecking=accept-new', 'GlobalKnownHostsFile=/dev/null', 'UpdateHostKeys=no'].flatMap(asOption),
    ...asOption(`UserKnownHostsFile=${optionValue(knownHostsFile)}`),
    ...[`HostKeyAlias=${alias}`, `HostName=${address}`, `User=${user}`].flatMap(asOption),
  );

const asOption = (option: string): string[] => ['-o', option];

/** A path as ssh reads one: blanks part it, and a percent sign begins a name. */
const optionValue = (path: string): string => `"${path.replaceAll('%', '%%')}"`;
