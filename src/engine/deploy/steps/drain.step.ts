import { setTimeout as pause } from 'node:timers/promises';
import { DeploymentPhase } from '../../../entities/deployment.ts';
import type { ContainerSummary } from '../../../integrations/docker/docker-answers.ts';
import { outdatedServices } from '../compose/kept-services.ts';
import { layOut } from '../compose/layout.ts';
import { dropNetwork, networksOfOthers } from '../compose/release-networks.ts';
import type { DeployStep, Machine } from '../deploy-step.ts';
import { environmentLabels, LABEL } from '../names.ts';
import type { Release } from '../release.ts';
import { stopSecondsOf } from '../release-container.ts';
import { openConnections } from '../server-ports.ts';

/** What an old release has begun it may finish, for so long. */
const DRAIN_MS = 10_000;
const LOOK_MS = 200;

/** Lets the old release finish what it has begun, and removes it. */
export class DrainStep implements DeployStep {
  readonly phase = DeploymentPhase.DRAINING;

  constructor(private readonly release: Release) {}

  async hasHappened(machine: Machine): Promise<boolean> {
    return (await this.#others(machine)).length === 0 && (await this.#networks(machine)).length === 0;
  }

  async run(machine: Machine): Promise<void> {
    const { docker } = machine;
    for (const { name, labels } of await this.#others(machine)) {
      const port = Number(labels[LABEL.hostPort]);
      if (Number.isInteger(port) && port > 0) await this.#drain(machine, port);
      await docker.stopContainer(name, stopSecondsOf(labels));
      await docker.removeContainer(name, { volumes: true });
    }
    for (const network of await this.#networks(machine))
      await dropNetwork(docker, this.release.environment.id, network);
  }

  /** What is live is not taken back; what is old is cleared away by whoever comes next. */
  async undo(): Promise<void> {
    // Nothing to take back.
  }

  /** Whoever the world talked to comes first: until then it needs the others. */
  async #others(machine: Machine): Promise<ContainerSummary[]> {
    const { environment, deployment } = this.release;
    const all = await machine.docker.containers(environmentLabels(environment.id));
    const old = all.filter(
      ({ labels }) => labels[LABEL.role] !== 'service' && labels[LABEL.deployment] !== deployment.id,
    );
    const [routed, behind] = [old.filter(isRouted), old.filter(each => !isRouted(each))];
    return [...routed, ...behind, ...(await this.#services(machine))];
  }

  /** Of compose files: services that this release replaced, or does not have. Their volumes stay. */
  async #services(machine: Machine): Promise<ContainerSummary[]> {
    const { release } = this;
    const composition = release.composition();
    const parts = composition === null ? [] : await layOut(release, composition, machine);
    const wanted = new Set(parts.map(({ container }) => container));
    return outdatedServices(machine.docker, release.environment.id, wanted);
  }

  #networks({ docker }: Machine): Promise<string[]> {
    return networksOfOthers(docker, this.release.environment.id, this.release.deployment.id);
  }

  async #drain({ host }: Machine, port: number): Promise<void> {
    const until = performance.now() + DRAIN_MS;
    while (performance.now() < until && (await openConnections(host, port)) > 0)
      await pause(LOOK_MS, undefined, { signal: this.release.endings.leave });
  }
}

const isRouted = ({ labels }: ContainerSummary): boolean => (labels[LABEL.hostPort] ?? '') !== '';
