import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from '../commands/command.ts';
import { cloneOne, forgetRemote, headCommit, listRemote, type RemoteSpec } from '../commands/git.commands.ts';
import type { Commit } from '../entities/analysis.ts';
import { GitFailure } from '../integrations/git/git-failure.ts';
import type { RemoteRefs } from '../integrations/git/plain-git.ts';
import { type Host, RemoteFailure, type RunResult } from '../remote/host.ts';
import { type Outbound, OutboundRefused } from '../security/outbound.ts';
import { parseRepositoryUrl, type RepositoryUrl } from '../security/repository-url.ts';
import { GitSnapshot } from './git-snapshot.ts';

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

const CLONE_TIMEOUT_MS = 120_000;
const LIST_TIMEOUT_MS = 30_000;

/** Git asks this program for the name and the password; they are in its environment and nowhere on a command line. */
const ASKPASS = `#!/bin/sh
case "$1" in Username*) printf '%s' "$SLIPWAY_GIT_USERNAME" ;; *) printf '%s' "$SLIPWAY_GIT_PASSWORD" ;; esac
`;

/** Talks to Git servers with git itself, from the control plane. */
export class GitCheckouts {
  constructor(
    private readonly host: Host,
    private readonly outbound: Outbound,
    private readonly knownHostsFile: string,
  ) {}

  async listRefs(address: string, login: GitLogin): Promise<RemoteRefs> {
    return this.#inFolder(address, login, async (remote, run) => {
      const { stdout } = await run(listRemote(remote), LIST_TIMEOUT_MS);
      return parseRefs(stdout.toString());
    });
  }

  /** One commit of one branch (null: the default one). The caller disposes of it. */
  async clone(address: string, branch: string | null, login: GitLogin, signal?: AbortSignal): Promise<Checkout> {
    const folder = await mkdtemp(join(tmpdir(), 'slipway-clone-'));
    const dispose = () => rm(folder, { recursive: true, force: true });
    try {
      await this.#inFolder(address, login, async (remote, run) => {
        await run(cloneOne(remote, branch, folder), CLONE_TIMEOUT_MS, signal);
        await run(forgetRemote(folder), LIST_TIMEOUT_MS);
      });
      return { commit: await this.#commitOf(folder), snapshot: new GitSnapshot(this.host, folder), dispose };
    } catch (error) {
      await dispose();
      throw error;
    }
  }

  async #commitOf(folder: string): Promise<Commit> {
    const { stdout } = await this.host.run(headCommit(folder)).catch(() => {
      throw new GitFailure('NOT_FOUND', 'The repository has no commit yet');
    });
    const [sha = '', author = '', message = ''] = stdout.toString().trimEnd().split('\0');
    return { sha, author, message };
  }

  /** A folder for what git needs beside it: keys, the program that answers its questions, an empty home. */
  async #inFolder<Result>(address: string, login: GitLogin, work: Work<Result>): Promise<Result> {
    const url = parseRepositoryUrl(address);
    if (url === undefined)
      throw new GitFailure('REFUSED', 'The address must be https://… or ssh://… without a password in it');
    const folder = await mkdtemp(join(tmpdir(), 'slipway-git-'));
    try {
      const env = await this.#environment(folder, url, login);
      const run = (command: Command, timeoutMs: number, signal?: AbortSignal) =>
        this.host.run(command, { env, timeoutMs, ...(signal ? { signal } : {}) });
      return await work(await this.#remote(url), run);
    } catch (error) {
      throw explain(error);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async #remote({ href, protocol, host, port }: RepositoryUrl): Promise<RemoteSpec> {
    const [first] = await this.outbound.resolve(host);
    const address = first?.family === 6 ? `[${first.address}]` : first?.address;
    return { url: href, pin: protocol === 'https' ? `${host}:${port}:${address}` : null, caFile: this.outbound.caFile };
  }

  async #environment(folder: string, url: RepositoryUrl, login: GitLogin): Promise<Record<string, string>> {
    const askpass = join(folder, 'askpass');
    await writeFile(askpass, ASKPASS, { mode: 0o700 });
    const base = {
      HOME: folder,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_TERMINAL_PROMPT: '0',
      GIT_ASKPASS: askpass,
    };
    const answers = { SLIPWAY_GIT_USERNAME: login.username ?? '', SLIPWAY_GIT_PASSWORD: login.password ?? '' };
    if (url.protocol === 'https') return { ...base, ...answers };
    return { ...base, GIT_SSH_COMMAND: await this.#sshCommand(folder, url, login.privateKey) };
  }

  /** The key of a server is trusted when it is first seen, and then for good. */
  async #sshCommand(folder: string, { host }: RepositoryUrl, privateKey: string | null): Promise<string> {
    const [first] = await this.outbound.resolve(host);
    const keyFile = join(folder, 'key');
    if (privateKey !== null) await writeFile(keyFile, `${privateKey.trim()}\n`, { mode: 0o600 });
    const options = [
      ...['BatchMode=yes', 'IdentitiesOnly=yes', 'StrictHostKeyChecking=accept-new', 'ConnectTimeout=15'],
      ...[`UserKnownHostsFile=${this.knownHostsFile}`, 'GlobalKnownHostsFile=/dev/null'],
      ...[`HostKeyAlias=${host}`, `HostName=${first?.address}`],
    ];
    return String(
      Command.of(
        'ssh',
        '-F',
        '/dev/null',
        privateKey !== null && ['-i', keyFile],
        options.flatMap(option => ['-o', option]),
      ),
    );
  }
}

type Run = (command: Command, timeoutMs: number, signal?: AbortSignal) => Promise<RunResult>;
type Work<Result> = (remote: RemoteSpec, run: Run) => Promise<Result>;

export function parseRefs(text: string): RemoteRefs {
  const lines = text.split('\n').filter(line => line !== '');
  const head = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(text)?.[1] ?? null;
  const branches = lines.flatMap(line => {
    const [, sha, name] = /^([0-9a-f]{40,64})\trefs\/heads\/(\S+)$/.exec(line) ?? [];
    return sha !== undefined && name !== undefined ? [{ name, sha }] : [];
  });
  return { defaultBranch: head, branches };
}

/** Git's own words are for the log; callers get ours. */
function explain(error: unknown): Error {
  if (error instanceof GitFailure) return error;
  if (error instanceof OutboundRefused)
    return new GitFailure('REFUSED', `The Git server may not be reached: ${error.message}`);
  if (!(error instanceof RemoteFailure))
    return isLookupFailure(error) ? new GitFailure('UNREACHABLE', 'The Git server has no address') : (error as Error);
  if (error.reason === 'NOT_STARTED')
    return new GitFailure('UNREACHABLE', 'git is not installed where Slipway runs; install it');
  if (error.reason === 'TIMEOUT') return new GitFailure('UNREACHABLE', 'The Git server did not answer in time');
  const text = error.stderrTail;
  if (/Host key verification failed/i.test(text))
    return new GitFailure('REFUSED', "The Git server's host key is not the one seen before");
  if (/Authentication failed|could not read (Username|Password)|Permission denied|error: 40[13]/i.test(text)) {
    return new GitFailure('TOKEN_REJECTED', 'The Git server does not let us in with this credential');
  }
  if (/Remote branch .* not found|couldn't find remote ref/i.test(text))
    return new GitFailure('NOT_FOUND', 'The branch does not exist');
  if (/not found|does not exist|not appear to be a git repository|error: 404/i.test(text)) {
    return new GitFailure('NOT_FOUND', 'The repository does not exist, or may not be seen with this credential');
  }
  return new GitFailure('UNREACHABLE', 'The Git server cannot be reached');
}

const isLookupFailure = (error: unknown): boolean =>
  ['ENOTFOUND', 'EAI_AGAIN'].includes((error as { code?: string }).code ?? '');
