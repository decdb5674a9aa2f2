import { setTimeout as pause } from 'node:timers/promises';
import { DeploymentPhase } from '../../../entities/deployment.ts';
import type { DeployStep, Machine } from '../deploy-step.ts';
import { environmentLabels, LABEL } from '../names.ts';
import type { Release } from '../release.ts';
import { STOP_SECONDS } from '../release-container.ts';
import { openConnections } from '../server-ports.ts';

/** What an old release has begun it may finish, for so long. */
const DRAIN_MS = 10_000;
const LOOK_MS = 200;

/** Lets the old release finish what it has begun, and removes it. */
export class DrainStep implements DeployStep {
  readonly phase = DeploymentPhase.DRAINING;

  constructor(private readonly release: Release) {}

  async hasHappened(machine: Machine): Promise<boolean> {
    return (await this.#others(machine)).length === 0;
  }

  async run(machine: Machine): Promise<void> {
    for (const { name, labels } of await this.#others(machine)) {
      const port = Number(labels[LABEL.hostPort]);
      if (Number.isInteger(port)) await this.#drain(machine, port);
      await machine.docker.stopContainer(name, STOP_SECONDS);
      await machine.docker.removeContainer(name, { volumes: true });
    }
  }

  /** What is live is not taken back; what is old is cleared away by whoever comes next. */
  async undo(): Promise<void> {
    // Nothing to take back.
  }

  async #others({ docker }: Machine) {
    const { environment, deployment } = this.release;
    const all = await docker.containers(environmentLabels(environment.id));
    return all.filter(({ labels }) => labels[LABEL.deployment] !== deployment.id && labels[LABEL.role] !== 'service');
  }

  async #drain({ host }: Machine, port: number): Promise<void> {
    const until = performance.now() + DRAIN_MS;
    while (performance.now() < until && (await openConnections(host, port)) > 0)
      await pause(LOOK_MS, undefined, { signal: this.release.endings.leave });
  }
}
