import { openPort } from '../../../commands/port.commands.ts';
import { Deployment, DeploymentPhase, DeploymentStatus } from '../../../entities/deployment.ts';
import { Environment, EnvironmentStatus } from '../../../entities/environment.ts';
import { EventAction, EventKind } from '../../../entities/event.ts';
import { tellDeployment } from '../../../events/deployment-story.ts';
import type { UnitOfWork } from '../../../events/unit-of-work.ts';
import type { Host } from '../../../remote/host.ts';
import { leaveProxy } from '../clear-environment.ts';
import { DeployFailure } from '../deploy-failure.ts';
import type { DeployStep, Machine } from '../deploy-step.ts';
import { askHealth, isHealthy, saidOf } from '../health.ts';
import { ProxyFailure } from '../proxy-failure.ts';
import type { Release } from '../release.ts';
import { freePort } from '../server-ports.ts';

/** Where environments without a name of their own answer. */
const LOWEST_PORT = 30_000;
const HIGHEST_PORT = 32_767;
const TRIES = 5;

/** Moves traffic to the new release, proves it, and only then says that it is live. */
export class SwitchStep implements DeployStep {
  readonly phase = DeploymentPhase.SWITCHING;

  constructor(private readonly release: Release) {}

  async hasHappened(): Promise<boolean> {
    return this.release.deployment.status === DeploymentStatus.LIVE;
  }

  async run(machine: Machine): Promise<void> {
    const { hostPort } = this.release.deployment;
    const publicPort = hostPort === null ? null : await this.#route(machine, hostPort);
    if (publicPort !== null) await this.#letIn(machine, publicPort);
    await this.#goLive(publicPort);
  }

  /** What served before serves again, as if nothing had been. */
  async undo(machine: Machine): Promise<void> {
    const { environment, previous, deployment } = this.release;
    const { hostPort, phase, status, serverId } = deployment;
    if (hostPort === null || phase !== DeploymentPhase.SWITCHING || status === DeploymentStatus.LIVE) return;
    const before = previous?.serverId === serverId ? previous.hostPort : null;
    const { publicPort: listenPort } = environment;
    if (before === null || listenPort === null) await leaveProxy(machine, environment.id);
    else await machine.proxy.route(environment.id, { listenPort, upstreamPort: before });
  }

  async #route(machine: Machine, upstreamPort: number): Promise<number> {
    const { environment, deployment } = this.release;
    const isElsewhere = environment.serverId !== deployment.serverId;
    let listenPort = isElsewhere ? null : environment.publicPort;
    listenPort ??= (await machine.proxy.upstreamOf(environment.id))?.listenPort ?? null;
    for (let tries = 1; ; tries += 1) {
      listenPort ??= await this.#freePort(machine);
      try {
        await machine.proxy.route(environment.id, { listenPort, upstreamPort });
        return listenPort;
      } catch (error) {
        const canGoElsewhere = error instanceof ProxyFailure && error.isPortTaken && environment.publicPort === null;
        if (!canGoElsewhere || tries === TRIES) throw error;
        listenPort = null;
      }
    }
  }

  async #freePort({ host }: Machine): Promise<number> {
    const there = await this.release.em.fork().find(Environment, { serverId: this.release.server.id });
    const taken = new Set(there.flatMap(({ publicPort }) => publicPort ?? []));
    const port = await freePort(host, { from: LOWEST_PORT, to: HIGHEST_PORT, taken });
    if (port === null) throw new ProxyFailure('The server has no port left', 'Remove environments from it.');
    return port;
  }

  async #letIn({ host, prefix }: Machine, publicPort: number): Promise<void> {
    await host.run(openPort(prefix, publicPort, `slipway ${this.release.environment.id}`));
    await this.#prove(host, publicPort);
  }

  async #prove(host: Host, publicPort: number): Promise<void> {
    const answer = await askHealth(() => host.dial(publicPort), this.release.environment.healthCheck);
    if (isHealthy(answer)) return;
    throw new DeployFailure('PROXY_FAILED', `The release answers, but not through the proxy: ${saidOf(answer)}`);
  }

  async #goLive(publicPort: number | null): Promise<void> {
    await this.release.record.goLive(async (deployment, unit) => {
      const { id, serverId } = deployment;
      const environment = await unit.em.findOneOrFail(Environment, this.release.environment.id);
      await this.#supersede(unit, deployment);
      Object.assign(environment, {
        ...{ serverId, publicPort, currentDeploymentId: id, status: EnvironmentStatus.LIVE, statusReason: null },
        url: publicPort === null ? null : `http://${addressOf(this.release.server.host)}:${publicPort}`,
        // What was changed while this was under way waits for the next one.
        needsDeploy: environment.changeCount !== deployment.seenChanges,
      });
      unit.tell(EventKind.environment_updated, EventAction.UPDATED, environment, environment.projectId);
    }, 'Live');
  }

  async #supersede(unit: UnitOfWork, by: Deployment): Promise<void> {
    const { environmentId } = by;
    for (const each of await unit.em.find(Deployment, { environmentId, status: DeploymentStatus.LIVE })) {
      if (each.id === by.id) continue;
      Object.assign(each, { status: DeploymentStatus.SUPERSEDED, supersededBy: by.id });
      await tellDeployment(unit, EventAction.UPDATED, each, `Superseded by deployment ${by.number}`);
    }
  }
}

const addressOf = (host: string): string => (host.includes(':') ? `[${host}]` : host);
