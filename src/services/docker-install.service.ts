import type { Command } from '../commands/command.ts';
import { asRoot, findApt, installDocker, startDocker } from '../commands/system.commands.ts';
import type { Step } from '../engine/run.engine.ts';
import { dockerOf, survey } from '../engine/server-facts.ts';
import { Run, RunKind, RunStatus } from '../entities/run.ts';
import { Server, ServerStatus } from '../entities/server.ts';
import { DomainError } from '../errors.ts';
import type { Queue } from '../jobs/queue.ts';
import { RemoteFailure } from '../remote/host.ts';
import type { SshHost } from '../remote/ssh-host.ts';
import type { RunService } from './run.service.ts';
import type { Scope } from './scope.ts';
import type { ServerAccessService } from './server-access.service.ts';
import { ServerUntrusted } from './server-failure.ts';

const INSTALL_MS = 20 * 60_000;
const START_MS = 60_000;

/** Installs Docker where it is missing, from the packages of the machine's own distribution. */
export class DockerInstallService {
  constructor(
    private readonly access: ServerAccessService,
    private readonly runs: RunService,
    private readonly queue: Queue,
  ) {}

  /** Asked for twice, it is done once. */
  async install(scope: Scope, serverId: string, ifVersion?: number | null): Promise<Run> {
    return scope.transact(async unit => {
      const server = await scope.load(unit, Server, serverId, ifVersion);
      if (server.status === ServerStatus.UNTRUSTED) throw new ServerUntrusted();
      const subject = `Server:${serverId}`;
      const open = { kind: RunKind.INSTALL_DOCKER, status: [RunStatus.QUEUED, RunStatus.RUNNING], subject };
      const running = await unit.em.findOne(Run, { ...open, workspaceId: server.workspaceId });
      if (running !== null) return running;
      const run = this.runs.start(unit, RunKind.INSTALL_DOCKER, server.workspaceId, subject);
      await this.queue.enqueue(unit, 'server.install-docker', { runId: run.id, serverId }, { lane: serverId });
      return run;
    });
  }

  /** Each step looks first whether there is anything left to do, so that one that was cut short can be taken again. */
  steps(serverId: string): Step[] {
    return [
      { name: 'look', run: () => this.access.use(serverId, look) },
      { name: 'install', run: signal => this.access.use(serverId, host => install(host, signal)) },
      { name: 'start', run: signal => this.access.use(serverId, host => start(host, signal)) },
      { name: 'verify', run: () => this.#verify(serverId) },
    ];
  }

  async #verify(serverId: string): Promise<string> {
    const { facts } = await this.access.use(serverId, host => survey(host));
    await this.access.change(serverId, async server => void Object.assign(server, { facts }));
    if (facts.docker === null)
      throw new DomainError(
        'UPSTREAM_FAILED',
        'Docker is installed but does not answer; look at its log on the machine',
      );
    return `Docker ${facts.docker} answers`;
  }
}

async function look(host: SshHost): Promise<string> {
  const { facts, isRoot } = await survey(host);
  if (facts.docker !== null) return `Docker ${facts.docker} is installed already`;
  await say(
    host,
    asRoot(findApt(), isRoot),
    'This needs root, or sudo without a password, and a distribution with apt-get',
  );
  return `No Docker on ${facts.os}`;
}

async function install(host: SshHost, signal: AbortSignal): Promise<string> {
  const { facts, isRoot } = await survey(host, signal);
  if (facts.docker !== null) return 'Nothing to do';
  await say(host, asRoot(installDocker(), isRoot), 'The packages could not be installed', INSTALL_MS, signal);
  return 'Installed the package docker.io';
}

async function start(host: SshHost, signal: AbortSignal): Promise<string> {
  const { isRoot } = await survey(host, signal);
  if ((await dockerOf(host, isRoot, signal)) !== null) return 'It runs';
  await say(host, asRoot(startDocker(), isRoot), 'Docker could not be started', START_MS, signal);
  return 'Started';
}

/** What the machine complained of last is what helps; the run belongs to whoever owns the machine. */
async function say(host: SshHost, command: Command, fault: string, timeoutMs = START_MS, signal?: AbortSignal) {
  try {
    await host.run(command, { timeoutMs, ...(signal ? { signal } : {}) });
  } catch (error) {
    if (!(error instanceof RemoteFailure)) throw error;
    const said = error.stderrTail.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
    throw new DomainError('UPSTREAM_FAILED', said === '' ? `${fault} (${error.reason})` : `${fault}: ${said}`);
  }
}
