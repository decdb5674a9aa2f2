import { createHash } from 'node:crypto';
import type { Deployment } from '../../entities/deployment.ts';

/** What is on a server is found by its labels; the names only keep things from being made twice. */
export type Labels = Readonly<Record<string, string>>;

export type ContainerRole = 'app' | 'pre-deploy' | 'service';

export const LABEL = {
  environment: 'slipway.environment',
  deployment: 'slipway.deployment',
  role: 'slipway.role',
  hostPort: 'slipway.host-port',
  /** Of a compose file, and of nothing else: which of its services this is. */
  service: 'slipway.service',
  /** It is no fault if it has ended well. */
  mayEnd: 'slipway.may-end',
  /** A digest of all that a container was made of. */
  spec: 'slipway.spec',
  /** The deployment that made what outlives it. */
  madeBy: 'slipway.made-by',
  /** How long it may take to end. */
  stopSeconds: 'slipway.stop-seconds',
} as const;

export const imageName = ({ environmentId, id }: Pick<Deployment, 'environmentId' | 'id'>): string =>
  `slipway/${environmentId}:${id}`;

export const containerName = (deploymentId: string): string => `slipway-${deploymentId}`;
export const preDeployName = (deploymentId: string): string => `slipway-${deploymentId}-pre-deploy`;
export const networkName = (environmentId: string): string => `slipway-${environmentId}`;

/** What a compose file makes: the services that each release starts anew, and those that are kept with their data. */
export const serviceImageName = (deployment: Pick<Deployment, 'environmentId' | 'id'>, service: string): string =>
  `${imageName(deployment)}-${service}`;
export const serviceContainerName = (deploymentId: string, service: string): string =>
  `slipway-${deploymentId}-${service}`;
export const releaseNetworkName = (deploymentId: string): string => `slipway-${deploymentId}`;
export const keptContainerName = (environmentId: string, service: string): string =>
  `slipway-${environmentId}-${service}`;
/** The one before, while it is not known whether the new one stays. */
export const asideContainerName = (environmentId: string, service: string): string =>
  `slipway-before-${environmentId}-${service}`;
export const volumeName = (environmentId: string, volume: string): string => `slipway-${environmentId}-${volume}`;
/** Of a volume that an image declares and the file does not name. */
export const declaredVolumeName = (environmentId: string, service: string, path: string): string =>
  `slipway-${environmentId}.${service}-${createHash('sha256').update(path).digest('hex').slice(0, 12)}`;

export const environmentLabels = (environmentId: string): Labels => ({ [LABEL.environment]: environmentId });

export const deploymentLabels = ({ environmentId, id }: Pick<Deployment, 'environmentId' | 'id'>): Labels => ({
  ...environmentLabels(environmentId),
  [LABEL.deployment]: id,
});

export const roleLabels = (deployment: Pick<Deployment, 'environmentId' | 'id'>, role: ContainerRole): Labels => ({
  ...deploymentLabels(deployment),
  [LABEL.role]: role,
});

/** A container that was meant to end, and did so without a fault. */
export const hasEndedWell = (state: { labels: Labels; isRunning: boolean; isRestarting: boolean; exitCode: number }) =>
  state.labels[LABEL.mayEnd] === 'true' && !state.isRunning && !state.isRestarting && state.exitCode === 0;
