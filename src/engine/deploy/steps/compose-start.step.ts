import { DeploymentPhase, DeploymentStatus } from '../../../entities/deployment.ts';
import { restoreServices } from '../compose/kept-services.ts';
import { layOut } from '../compose/layout.ts';
import { startPart } from '../compose/start-part.ts';
import type { DeployStep, Machine } from '../deploy-step.ts';
import { startListening } from '../host-port.ts';
import { deploymentLabels, environmentLabels, LABEL } from '../names.ts';
import type { Release } from '../release.ts';
import { startFailure } from '../start-failure.ts';

/** Starts the services of a compose file, each behind those it depends on, beside those of the release before. */
export class ComposeStartStep implements DeployStep {
  readonly phase = DeploymentPhase.STARTING;

  constructor(private readonly release: Release) {}

  /** What is started already is left as it is, so going through them again does no harm. */
  async hasHappened(): Promise<boolean> {
    return this.release.deployment.status === DeploymentStatus.LIVE;
  }

  async run(machine: Machine): Promise<void> {
    const { deployment, log } = this.release;
    if (deployment.appPort !== null) await machine.proxy.ensure();
    else await log.line('No service publishes a port, so nothing is reachable from outside');
    const parts = await layOut(this.release, this.release.composed(), machine);
    for (const part of parts) {
      const start = () => startPart(this.release, machine, part, parts);
      const remove = () => machine.docker.removeContainer(part.container, { volumes: true });
      try {
        if (part.kind === 'WEB') await startListening(this.release, machine, { start, remove });
        else await start();
      } catch (error) {
        throw startFailure(error, `The service ${part.service.name}`);
      }
    }
  }

  /** Volumes that it made hold nothing yet that anybody used. */
  async undo({ docker }: Machine): Promise<void> {
    const { environment, deployment } = this.release;
    for (const { name } of await docker.containers(deploymentLabels(deployment)))
      await docker.removeContainer(name, { volumes: true });
    await restoreServices(docker, environment.id, deployment.id);
    const made = { ...environmentLabels(environment.id), [LABEL.madeBy]: deployment.id };
    for (const { name } of await docker.volumes(made)) await docker.removeVolume(name);
  }
}
