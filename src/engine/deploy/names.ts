import type { Deployment } from '../../entities/deployment.ts';

/** What is on a server is found by its labels; the names only keep things from being made twice. */
export type Labels = Readonly<Record<string, string>>;

export type ContainerRole = 'app' | 'pre-deploy' | 'service';

export const LABEL = {
  environment: 'slipway.environment',
  deployment: 'slipway.deployment',
  role: 'slipway.role',
  hostPort: 'slipway.host-port',
} as const;

export const imageName = ({ environmentId, id }: Pick<Deployment, 'environmentId' | 'id'>): string =>
  `slipway/${environmentId}:${id}`;

export const containerName = (deploymentId: string): string => `slipway-${deploymentId}`;
export const preDeployName = (deploymentId: string): string => `slipway-${deploymentId}-pre-deploy`;
export const networkName = (environmentId: string): string => `slipway-${environmentId}`;

export const environmentLabels = (environmentId: string): Labels => ({ [LABEL.environment]: environmentId });

export const deploymentLabels = ({ environmentId, id }: Pick<Deployment, 'environmentId' | 'id'>): Labels => ({
  ...environmentLabels(environmentId),
  [LABEL.deployment]: id,
});

export const roleLabels = (deployment: Pick<Deployment, 'environmentId' | 'id'>, role: ContainerRole): Labels => ({
  ...deploymentLabels(deployment),
  [LABEL.role]: role,
});
