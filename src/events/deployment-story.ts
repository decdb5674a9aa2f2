import type { Deployment } from '../entities/deployment.ts';
import { DeploymentMessage, DeploymentMessageKind } from '../entities/deployment-message.ts';
import type { EventAction } from '../entities/event.ts';
import { EventKind } from '../entities/event.ts';
import { ringRows } from './row-bell.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** Rings when the state of a deployment changes. */
export const storyBell = (deploymentId: string): string => `deployment:${deploymentId}`;

/** Rings when there are more lines in the log of a deployment, which is far more often. */
export const logBell = (deploymentId: string): string => `log of deployment:${deploymentId}`;

/** Rings when somebody wants a deployment to end. */
export const cancelDeploymentBell = (deploymentId: string): string => `cancel deployment ${deploymentId}`;

/**
 * Tells of a change of state, in the transaction of the change: a message of its story, and an event. The deployment is new or
 * was loaded with a lock, so that nobody else gives the same number to another message.
 */
export async function tellDeployment(
  unit: UnitOfWork,
  action: EventAction,
  deployment: Deployment,
  message: string,
): Promise<void> {
  deployment.logSeq += 1;
  const { id: deploymentId, logSeq: seq, status, phase, isFinished } = deployment;
  const kind = DeploymentMessageKind.STATUS;
  unit.em.create(DeploymentMessage, { deploymentId, seq, kind, status, phase, isFinished, message });
  unit.tell(EventKind.deployment_updated, action, deployment, deployment.projectId);
  await ringRows(unit.em, storyBell(deploymentId));
}
