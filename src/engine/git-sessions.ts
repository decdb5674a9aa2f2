import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from '../commands/command.ts';
import { gitVersion, type RemoteSpec, type SshSpec, sshCommand } from '../commands/git.commands.ts';
import { GitFailure } from '../integrations/git/git-failure.ts';
import type { Host, RunResult } from '../remote/host.ts';
import type { Outbound, ResolvedAddresses } from '../security/outbound.ts';
import { parseRepositoryUrl, type RepositoryUrl } from '../security/repository-url.ts';
import { explainGit } from './explain-git.ts';
import { WorkFolders } from './work-folders.ts';

/** What git signs in with: over https a name and a password, over ssh a private key. */
export interface GitLogin {
  username: string | null;
  password: string | null;
  privateKey: string | null;
}

export const NO_LOGIN: GitLogin = { username: null, password: null, privateKey: null };

export interface GitSession {
  readonly url: RepositoryUrl;
  readonly remote: RemoteSpec;
  /** How the server is reached by ssh; null where it is not. */
  readonly ssh: SshSpec | null;
  run(command: Command, timeoutMs: number, signal?: AbortSignal): Promise<RunResult>;
}

/** Older ones cannot be told which address to connect to. */
const OLDEST_GIT = 237;

/** Git asks this program for the name and the password; they are in its environment and nowhere on a command line. */
const ASKPASS = `#!/bin/sh
case "$1" in Username*) printf '%s' "$SLIPWAY_GIT_USERNAME" ;; *) printf '%s' "$SLIPWAY_GIT_PASSWORD" ;; esac
`;

/** Nobody's configuration but what stands on the command line, and nobody to ask. */
export const ISOLATED = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
};

/** Lets git speak with one server: at the addresses that were checked, with one credential, and with nothing else of this machine. */
export class GitSessions {
  readonly folders: WorkFolders;
  readonly #knownHostsFile: string;
  #isNewEnough = false;

  constructor(
    readonly host: Host,
    readonly outbound: Outbound,
    folder: string,
  ) {
    this.folders = new WorkFolders(join(folder, 'work'));
    this.#knownHostsFile = join(folder, 'known-hosts');
  }

  /** With a folder for what git needs beside it: keys, the program that answers its questions, an empty home. */
  async speak<Result>(
    address: string,
    login: GitLogin,
    work: (session: GitSession) => Promise<Result>,
  ): Promise<Result> {
    const url = parseRepositoryUrl(address);
    if (url === undefined)
      throw new GitFailure('REFUSED', 'The address must be https://… or ssh://… without a password in it');
    const folder = await this.folders.make();
    try {
      await this.#requireNewGit();
      const addresses = await this.outbound.resolve(url.host);
      return await work(await this.#open(folder, url, addresses, login));
    } catch (error) {
      throw explainGit(error, login.password !== null || login.privateKey !== null);
    } finally {
      await this.folders.remove(folder);
    }
  }

  async #requireNewGit(): Promise<void> {
    if (this.#isNewEnough) return;
    const { stdout } = await this.host.run(gitVersion());
    const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout.toString()) ?? [];
    this.#isNewEnough = Number(major) * 100 + Number(minor) >= OLDEST_GIT;
    if (!this.#isNewEnough)
      throw new GitFailure('UNREACHABLE', 'git 2.37 or newer is needed where Slipway runs; install it');
  }

  async #open(folder: string, url: RepositoryUrl, addresses: ResolvedAddresses, login: GitLogin): Promise<GitSession> {
    const ssh = url.protocol === 'ssh' ? await this.#ssh(folder, url, addresses, login) : null;
    const env = await environment(folder, ssh, login);
    return {
      ...{ url, ssh, remote: await this.#remote(folder, url, addresses) },
      run: (command, timeoutMs, signal) => this.host.run(command, { env, timeoutMs, ...(signal ? { signal } : {}) }),
    };
  }

  /** An address that is a number needs no pin, and curl takes none for it. */
  async #remote(folder: string, url: RepositoryUrl, addresses: ResolvedAddresses): Promise<RemoteSpec> {
    const { href, protocol, host, port } = url;
    const { authorities } = this.outbound;
    const caFile = authorities === null ? null : join(folder, 'authorities.pem');
    if (caFile !== null) await writeFile(caFile, authorities ?? '');
    const written = addresses.map(({ address, family }) => (family === 6 ? `[${address}]` : address)).join();
    const isPinned = protocol === 'https' && addresses[0].address !== host;
    return { url: href, pin: isPinned ? `${host}:${port}:${written}` : null, caFile };
  }

  async #ssh(
    folder: string,
    url: RepositoryUrl,
    addresses: ResolvedAddresses,
    { username, privateKey }: GitLogin,
  ): Promise<SshSpec> {
    const keyFile = privateKey === null ? null : join(folder, 'key');
    if (keyFile !== null) await writeFile(keyFile, `${privateKey?.trim()}\n`, { mode: 0o600 });
    const { address } = addresses.find(({ family }) => family === 4) ?? addresses[0];
    return {
      ...{ keyFile, address, knownHostsFile: this.#knownHostsFile },
      alias: url.port === 22 ? url.host : `[${url.host}]:${url.port}`,
      user: url.user ?? username ?? 'git',
    };
  }
}

async function environment(
  folder: string,
  ssh: SshSpec | null,
  { username, password }: GitLogin,
): Promise<Record<string, string>> {
  const askpass = join(folder, 'askpass');
  await writeFile(askpass, ASKPASS, { mode: 0o700 });
  const base = { ...ISOLATED, HOME: folder, GIT_ASKPASS: askpass };
  if (ssh !== null) return { ...base, GIT_SSH_COMMAND: String(sshCommand(ssh)) };
  return { ...base, SLIPWAY_GIT_USERNAME: username ?? '', SLIPWAY_GIT_PASSWORD: password ?? '' };
}
