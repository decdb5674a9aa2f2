import { DeploymentPhase, DeploymentStatus } from '../../../entities/deployment.ts';
import { healServices } from '../compose/heal-services.ts';
import { groundOf, layOut } from '../compose/layout.ts';
import { dropNetwork } from '../compose/release-networks.ts';
import { startPart } from '../compose/start-part.ts';
import type { DeployStep, Machine } from '../deploy-step.ts';
import { deploymentLabels, environmentLabels, networkName, releaseNetworkName } from '../names.ts';
import type { Release } from '../release.ts';

/** Lays the ground of a compose file: its network, and the services with data, which the pre-deploy command needs already. */
export class ComposeGroundStep implements DeployStep {
  constructor(private readonly release: Release) {}

  get phase(): DeploymentPhase {
    return this.release.runsPreDeploy ? DeploymentPhase.PRE_DEPLOY : DeploymentPhase.STARTING;
  }

  async hasHappened(): Promise<boolean> {
    return this.release.deployment.status === DeploymentStatus.LIVE;
  }

  async run(machine: Machine): Promise<void> {
    const { environment, deployment } = this.release;
    const { docker } = machine;
    await docker.ensureNetwork(networkName(environment.id), environmentLabels(environment.id));
    await docker.ensureNetwork(releaseNetworkName(deployment.id), deploymentLabels(deployment));
    await healServices(this.release.em, docker, environment.id, deployment.id);
    if (!this.release.runsPreDeploy) return;
    const parts = await layOut(this.release, this.release.composed(), machine);
    for (const part of groundOf(parts)) await startPart(this.release, machine, part, parts);
  }

  async undo({ docker }: Machine): Promise<void> {
    const { environment, deployment } = this.release;
    await dropNetwork(docker, environment.id, releaseNetworkName(deployment.id));
  }
}
