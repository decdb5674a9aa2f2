import { DeploymentPhase } from '../../../entities/deployment.ts';
import type { DeployStep } from '../deploy-step.ts';

/** Where there is nothing to do. */
export class NoStep implements DeployStep {
  readonly phase = DeploymentPhase.STARTING;

  async hasHappened(): Promise<boolean> {
    return true;
  }

  async run(): Promise<void> {
    // Nothing.
  }

  async undo(): Promise<void> {
    // Nothing.
  }
}
