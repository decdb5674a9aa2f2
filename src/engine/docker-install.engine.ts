import type { Command } from '../commands/command.ts';
import { asRoot, checkDocker, findApt, findDocker, installDocker, startDocker } from '../commands/system.commands.ts';
import type { Prefix } from '../commands/work.commands.ts';
import type { ServerFacts } from '../entities/server.ts';
import { DomainError } from '../errors.ts';
import { type Host, RemoteFailure } from '../remote/host.ts';
import { RemoteWork } from '../remote/remote-work.ts';
import { runReattaching, type UseHost } from '../remote/run-reattaching.ts';
import { saidText } from '../remote/said-text.ts';
import { RunCancelled, type RunProgress, type Step } from './run.engine.ts';
import { survey } from './server-facts.ts';

const INSTALL_MS = 20 * 60_000;
const START_MS = 60_000;
const TELL_EVERY_MS = 1000;
const LONGEST_MESSAGE = 300;
const AS_ROOT: Prefix = ['sudo', '-n', '--'];

export interface DockerInstallation {
  /** Also the id of the work on the machine: whoever takes the run up finds it there. */
  runId: string;
  use: UseHost;
  keep: (facts: ServerFacts) => Promise<void>;
}

/** Installs Docker from the distribution's packages. Each step looks first what is left to do, so that it can be taken again. */
export class DockerInstallEngine {
  constructor(
    private readonly what: DockerInstallation,
    private readonly progress: RunProgress,
  ) {}

  steps(): Step[] {
    const { use } = this.what;
    return [
      { name: 'look', run: () => use(look) },
      { name: 'install', run: signal => this.#install(signal) },
      { name: 'start', run: signal => use(host => start(host, signal)) },
      { name: 'verify', run: () => this.#verify() },
    ];
  }

  async #install(signal: AbortSignal): Promise<string> {
    const { use, runId } = this.what;
    const { facts, isRoot } = await use(host => survey(host, signal));
    const prefix = isRoot ? [] : AS_ROOT;
    const ask = <Result>(question: (work: RemoteWork) => Promise<Result>) =>
      use(host => question(new RemoteWork(host, prefix)));
    if (this.progress.cancelled.aborted) return this.#giveUp(ask);
    const before = await ask(work => work.status(runId));
    // What was cut short says nothing of how it would have ended: it is begun anew, which also mends what was half done.
    if (before !== null && before !== 'RUNNING' && before.reason !== 'EXIT') await ask(work => work.remove(runId));
    const isDone = before === null && (facts.docker !== null || (await use(host => isThere(host, isRoot))));
    if (isDone) return 'Nothing to do';
    // Left lying there it harms nobody: how the work ended is what is told, whether or not it can be cleared away.
    const clear = () => ask(work => work.remove(runId)).catch(() => undefined);
    await this.#work(prefix, signal).catch(async error => {
      if (isSettled(error)) await clear();
      throw error;
    });
    await clear();
    return 'Installed the package docker.io';
  }

  /** Whoever has to leave lets it go on, for the next who takes the run up. */
  async #work(prefix: Prefix, signal: AbortSignal): Promise<void> {
    const { use, runId: id } = this.what;
    const { cancelled } = this.progress;
    const refused = new AbortController();
    const leave = AbortSignal.any([signal, refused.signal]);
    const onOutput = this.#teller(refused);
    try {
      const order = { id, command: installDocker(), timeoutMs: INSTALL_MS, isMerged: true };
      await runReattaching(use, order, { prefix, signal: cancelled, leave, onOutput });
    } catch (error) {
      if (leave.aborted && !cancelled.aborted) throw error;
      if (error instanceof RemoteFailure && error.reason === 'ABORTED') throw new RunCancelled();
      throw failure(error, 'The packages could not be installed');
    }
  }

  /** Says now and then what apt-get is at. A run that is not ours any more is left, not ended. */
  #teller(refused: AbortController): (chunk: Buffer) => Promise<void> {
    let rest = '';
    let toldAt = 0;
    return async chunk => {
      const lines = (rest + chunk.toString()).split(/[\r\n]+/);
      rest = (lines.pop() ?? '').slice(-LONGEST_MESSAGE);
      const line = lines.filter(isProgress).at(-1);
      if (line === undefined || performance.now() - toldAt < TELL_EVERY_MS) return;
      toldAt = performance.now();
      await this.progress.tell(plain(line)).catch(error => refused.abort(error));
    };
  }

  async #giveUp(ask: (question: (work: RemoteWork) => Promise<void>) => Promise<void>): Promise<never> {
    await ask(work => work.cancel(this.what.runId));
    await ask(work => work.remove(this.what.runId));
    throw new RunCancelled();
  }

  async #verify(): Promise<string> {
    const { use, keep } = this.what;
    const { facts, isRoot } = await use(host => survey(host));
    await keep(facts);
    const said = 'Docker is installed but does not answer; look at its log on the machine';
    if (facts.docker === null) throw new DomainError('UPSTREAM_FAILED', said);
    await use(host => say(host, asRoot(checkDocker(), isRoot), said));
    return `Docker ${facts.docker} answers`;
  }
}

async function look(host: Host): Promise<string> {
  const { facts, isRoot } = await survey(host);
  if (facts.docker !== null) return `Docker ${facts.docker} is installed already`;
  if (await isThere(host, isRoot)) return 'Docker is installed already, but does not answer';
  const needs = 'This needs root, or sudo without a password, and a distribution with apt-get';
  await say(host, asRoot(findApt(), isRoot), needs);
  return `No Docker on ${facts.os}`;
}

/** Installed by whatever means: another package would get in the way of it. */
async function isThere(host: Host, isRoot: boolean): Promise<boolean> {
  try {
    await host.run(asRoot(findDocker(), isRoot));
    return true;
  } catch (error) {
    if (error instanceof RemoteFailure && error.reason === 'EXIT') return false;
    throw error;
  }
}

async function start(host: Host, signal: AbortSignal): Promise<string> {
  const { facts, isRoot } = await survey(host, signal);
  if (facts.docker !== null) return 'It runs';
  await say(host, asRoot(startDocker(), isRoot), 'Docker could not be started', signal);
  return 'Started';
}

async function say(host: Host, command: Command, fault: string, signal?: AbortSignal): Promise<void> {
  try {
    await host.run(command, { timeoutMs: START_MS, ...(signal ? { signal } : {}) });
  } catch (error) {
    throw failure(error, fault);
  }
}

/** What the machine complained of last is what helps; the run belongs to whoever owns the machine. */
function failure(error: unknown, fault: string): unknown {
  if (!(error instanceof RemoteFailure)) return error;
  if (error.reason === 'LOST')
    return new DomainError('SERVER_UNREACHABLE', `${fault}: the machine was lost, or restarted, on the way. Ask again`);
  const lines = error.stderrTail.split(/[\r\n]+/).filter(line => line.trim() !== '');
  const said = lines.findLast(line => line.startsWith('E: ')) ?? lines.at(-1);
  return new DomainError(
    'UPSTREAM_FAILED',
    said === undefined ? `${fault} (${error.reason})` : `${fault}: ${plain(said)}`,
  );
}

/** It has ended, and nobody will ask for it again. */
const isSettled = (error: unknown): boolean =>
  error instanceof RunCancelled || (error instanceof DomainError && error.code === 'UPSTREAM_FAILED');

/** The lines that say what is fetched, unpacked and set up. */
const isProgress = (line: string): boolean => /^(Get:|Fetched|Preparing|Unpacking|Setting up|Processing)/.test(line);

const plain = (line: string): string => saidText(line, LONGEST_MESSAGE);
