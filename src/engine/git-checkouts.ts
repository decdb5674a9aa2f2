import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AnalysisFailure } from '../analysis/analysis-failure.ts';
import type { Command } from '../commands/command.ts';
import {
  cloneOne,
  forgetRemote,
  gitVersion,
  headCommit,
  listRemote,
  type RemoteSpec,
  sshCommand,
} from '../commands/git.commands.ts';
import type { Commit } from '../entities/analysis.ts';
import { GitFailure } from '../integrations/git/git-failure.ts';
import type { RemoteRefs } from '../integrations/git/plain-git.ts';
import type { Host, RunResult } from '../remote/host.ts';
import type { Outbound, ResolvedAddresses } from '../security/outbound.ts';
import { parseRepositoryUrl, type RepositoryUrl } from '../security/repository-url.ts';
import { explainGit } from './explain-git.ts';
import { GitSnapshot } from './git-snapshot.ts';
import { SizeWatch } from './size-watch.ts';
import { WorkFolders } from './work-folders.ts';

/** What git signs in with: over https a name and a password, over ssh a private key. */
export interface GitLogin {
  username: string | null;
  password: string | null;
  privateKey: string | null;
}

export interface Checkout {
  commit: Commit;
  snapshot: GitSnapshot;
  dispose(): Promise<void>;
}

export interface GitLimits {
  listMs: number;
  cloneMs: number;
  /** What a clone may take of the disk. Large files are left out by servers that can; others send everything. */
  cloneBytes: number;
}

const LIMITS: GitLimits = { listMs: 30_000, cloneMs: 120_000, cloneBytes: 512 * 1024 * 1024 };

/** Older ones cannot be told which address to connect to. */
const OLDEST_GIT = 237;

/** Git asks this program for the name and the password; they are in its environment and nowhere on a command line. */
const ASKPASS = `#!/bin/sh
case "$1" in Username*) printf '%s' "$SLIPWAY_GIT_USERNAME" ;; *) printf '%s' "$SLIPWAY_GIT_PASSWORD" ;; esac
`;

/** Talks to Git servers with git itself, from the control plane. */
export class GitCheckouts {
  readonly #folders: WorkFolders;
  readonly #knownHostsFile: string;
  readonly #limits: GitLimits;
  #isNewEnough = false;

  constructor(
    private readonly host: Host,
    private readonly outbound: Outbound,
    folder: string,
    limits: Partial<GitLimits> = {},
  ) {
    this.#folders = new WorkFolders(join(folder, 'work'));
    this.#knownHostsFile = join(folder, 'known-hosts');
    this.#limits = { ...LIMITS, ...limits };
  }

  async listRefs(address: string, login: GitLogin): Promise<RemoteRefs> {
    return this.#speak(address, login, async (remote, run) => {
      const { stdout } = await run(listRemote(remote), this.#limits.listMs);
      return parseRefs(stdout.toString());
    });
  }

  /** One commit of one branch (null: the default one). The caller disposes of it. */
  async clone(address: string, branch: string | null, login: GitLogin, signal?: AbortSignal): Promise<Checkout> {
    const folder = await this.#folders.make();
    const dispose = () => this.#folders.remove(folder);
    try {
      await this.#speak(address, login, async (remote, run) => {
        const watch = new SizeWatch(folder, this.#limits.cloneBytes);
        const until = signal ? AbortSignal.any([signal, watch.signal]) : watch.signal;
        await run(cloneOne(remote, branch, folder), this.#limits.cloneMs, until).finally(() => watch.stop());
        await watch.refuseWhatIsTooLarge();
        await run(forgetRemote(folder), this.#limits.listMs);
      });
      return { commit: await this.#commitOf(folder), snapshot: new GitSnapshot(this.host, folder), dispose };
    } catch (error) {
      await dispose();
      throw error;
    }
  }

  async #commitOf(folder: string): Promise<Commit> {
    const { stdout } = await this.host.run(headCommit(folder), { env: ISOLATED }).catch(() => {
      throw new AnalysisFailure('REPOSITORY_EMPTY', 'The repository has no commit yet');
    });
    const [sha = '', author = '', message = ''] = stdout.toString().trimEnd().split('\0');
    return { sha, author: author.slice(0, 200), message: message.slice(0, 500) };
  }

  /** With a folder for what git needs beside it: keys, the program that answers its questions, an empty home. */
  async #speak<Result>(address: string, login: GitLogin, work: Work<Result>): Promise<Result> {
    const url = parseRepositoryUrl(address);
    if (url === undefined)
      throw new GitFailure('REFUSED', 'The address must be https://… or ssh://… without a password in it');
    const folder = await this.#folders.make();
    try {
      await this.#requireNewGit();
      const addresses = await this.outbound.resolve(url.host);
      const env = await this.#environment(folder, url, addresses, login);
      const run: Run = (command, timeoutMs, signal) =>
        this.host.run(command, { env, timeoutMs, ...(signal ? { signal } : {}) });
      return await work(await this.#remote(folder, url, addresses), run);
    } catch (error) {
      throw explainGit(error, login.password !== null || login.privateKey !== null);
    } finally {
      await this.#folders.remove(folder);
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

  async #environment(
    folder: string,
    url: RepositoryUrl,
    addresses: ResolvedAddresses,
    { username, password, privateKey }: GitLogin,
  ): Promise<Record<string, string>> {
    const askpass = join(folder, 'askpass');
    await writeFile(askpass, ASKPASS, { mode: 0o700 });
    const base = { ...ISOLATED, HOME: folder, GIT_ASKPASS: askpass };
    if (url.protocol === 'https')
      return { ...base, SLIPWAY_GIT_USERNAME: username ?? '', SLIPWAY_GIT_PASSWORD: password ?? '' };
    const keyFile = privateKey === null ? null : join(folder, 'key');
    if (keyFile !== null) await writeFile(keyFile, `${privateKey?.trim()}\n`, { mode: 0o600 });
    const { address } = addresses.find(({ family }) => family === 4) ?? addresses[0];
    const command = sshCommand({
      ...{ keyFile, address, knownHostsFile: this.#knownHostsFile },
      alias: url.port === 22 ? url.host : `[${url.host}]:${url.port}`,
      user: url.user ?? username ?? 'git',
    });
    return { ...base, GIT_SSH_COMMAND: String(command) };
  }
}

type Run = (command: Command, timeoutMs: number, signal?: AbortSignal) => Promise<RunResult>;
type Work<Result> = (remote: RemoteSpec, run: Run) => Promise<Result>;

/** Nobody's configuration but what stands on the command line, and nobody to ask. */
export const ISOLATED = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
};

export function parseRefs(text: string): RemoteRefs {
  const lines = text.split('\n').filter(line => line !== '');
  const head = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(text)?.[1] ?? null;
  const branches = lines.flatMap(line => {
    const [, sha, name] = /^([0-9a-f]{40,64})\trefs\/heads\/(\S+)$/.exec(line) ?? [];
    return sha !== undefined && name !== undefined ? [{ name, sha }] : [];
  });
  return { defaultBranch: head, branches };
}
