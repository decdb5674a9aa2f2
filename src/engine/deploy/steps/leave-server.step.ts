import { Deployment, DeploymentPhase } from '../../../entities/deployment.ts';
import { clearEnvironment } from '../clear-environment.ts';
import type { DeployStep } from '../deploy-step.ts';
import { FORGOTTEN, type Release } from '../release.ts';
import { withMachine } from '../with-machine.ts';

/** After a move: removes the environment from the server it was on. */
export class LeaveServerStep implements DeployStep {
  readonly phase = DeploymentPhase.DRAINING;

  constructor(private readonly release: Release) {}

  async hasHappened(): Promise<boolean> {
    return this.#left === null;
  }

  async run(): Promise<void> {
    const { release } = this;
    const left = this.#left;
    if (left === null) return;
    await release.log.line('Removing it from the server it was on');
    await withMachine(release, left, machine => clearEnvironment(machine, release.environment.id, { keepsData: true }));
    await release.record.change(async (_, unit) => {
      const there = { environmentId: release.environment.id, serverId: left };
      for (const each of await unit.em.find(Deployment, there)) Object.assign(each, FORGOTTEN);
    });
  }

  async undo(): Promise<void> {
    // It comes after the switch, when nothing is taken back any more.
  }

  get #left(): string | null {
    const { previous, deployment } = this.release;
    return previous === null || previous.serverId === deployment.serverId ? null : previous.serverId;
  }
}
