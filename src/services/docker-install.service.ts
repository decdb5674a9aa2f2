import { DockerInstallEngine } from '../engine/docker-install.engine.ts';
import type { RunProgress, Step } from '../engine/run.engine.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { Run, RunKind, RunStatus } from '../entities/run.ts';
import { Server, type ServerFacts, ServerStatus } from '../entities/server.ts';
import { DomainError } from '../errors.ts';
import type { Queue } from '../jobs/queue.ts';
import { RemoteFailure } from '../remote/host.ts';
import { SshFailure } from '../remote/ssh-failure.ts';
import type { SshHost } from '../remote/ssh-host.ts';
import type { RunService } from './run.service.ts';
import type { Scope } from './scope.ts';
import type { ServerAccessService } from './server-access.service.ts';
import { ServerAway, ServerUntrusted } from './server-failure.ts';

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

  steps(runId: string, serverId: string, progress: RunProgress): Step[] {
    const use = <Result>(work: (host: SshHost) => Promise<Result>) => this.#use(serverId, work);
    const keep = (facts: ServerFacts) =>
      this.access.change(serverId, async (server, unit) => {
        Object.assign(server, { facts });
        unit.tell(EventKind.server_updated, EventAction.UPDATED, server);
      });
    const steps = new DockerInstallEngine({ runId, use, keep }, progress).steps();
    return steps.map(({ name, run }) => ({ name, run: signal => run(signal).catch(tellAway) }));
  }

  /** A machine that is out of reach is tried again for a while, which only what SSH itself says can decide. */
  async #use<Result>(serverId: string, work: (host: SshHost) => Promise<Result>): Promise<Result> {
    try {
      return await this.access.use(serverId, work);
    } catch (error) {
      throw error instanceof ServerAway ? error.failure : error;
    }
  }
}

/** A machine that hangs up or does not do what it is told is no fault of ours. */
function tellAway(error: unknown): never {
  if (error instanceof SshFailure) throw new ServerAway(error);
  if (!(error instanceof RemoteFailure)) throw error;
  if (error.reason === 'LOST') throw new DomainError('SERVER_UNREACHABLE', 'The connection was lost. Ask again');
  throw new DomainError('UPSTREAM_FAILED', `The machine does not do what it is told: ${error.message}`);
}
