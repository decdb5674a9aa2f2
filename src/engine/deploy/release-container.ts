import { BuilderKind } from '../../entities/build.ts';
import type { ContainerSpec } from '../../integrations/docker/container-spec.ts';
import { containerName, LABEL, type Labels, networkName, roleLabels } from './names.ts';
import type { Release } from './release.ts';

/** Long enough for what an application has begun; then it is ended. */
export const STOP_SECONDS = 20;

const MOST_STOP_SECONDS = 120;

/** An image may bear labels of its own making: only what makes sense is heard. */
export function stopSecondsOf(labels: Labels): number {
  const seconds = Number(labels[LABEL.stopSeconds] ?? STOP_SECONDS);
  return Number.isInteger(seconds) && seconds >= 0 ? Math.min(seconds, MOST_STOP_SECONDS) : STOP_SECONDS;
}

/** What the application reads: what the user set comes last, and wins. */
export function containerEnvironment({ deployment, environment, runtimeVariables }: Release): Record<string, string> {
  const { appPort, commit, id } = deployment;
  return {
    ...(appPort === null ? {} : { PORT: String(appPort) }),
    SLIPWAY_ENVIRONMENT: environment.slug,
    SLIPWAY_DEPLOYMENT: id,
    SLIPWAY_COMMIT: commit?.sha ?? '',
    ...Object.fromEntries(runtimeVariables.map(({ key, value }) => [key, value])),
  };
}

/** The container of a release: in the environment's own network, with a port on the server's loopback and nowhere else. */
export function releaseContainer(release: Release): ContainerSpec {
  const { deployment, environment, settings } = release;
  const { appPort, hostPort, id, image } = deployment;
  const ports =
    appPort === null || hostPort === null ? [] : [{ hostIp: '127.0.0.1', hostPort, containerPort: appPort }];
  // A generated Dockerfile has it in itself; the repository's own may be started otherwise than it says.
  const command =
    deployment.builder === BuilderKind.DOCKERFILE && settings.startCommand !== null
      ? { entrypoint: ['sh', '-c'], command: [settings.startCommand] }
      : {};
  return {
    name: containerName(id),
    image: image ?? '',
    ...command,
    env: containerEnvironment(release),
    // All of them, always: what we leave out the image could say instead.
    labels: {
      ...roleLabels(deployment, 'app'),
      [LABEL.hostPort]: hostPort === null ? '' : String(hostPort),
      [LABEL.stopSeconds]: String(STOP_SECONDS),
      [LABEL.mayEnd]: 'false',
    },
    network: { name: networkName(environment.id), aliases: ['app'] },
    ports,
    cpus: environment.resources.cpus,
    memoryMb: environment.resources.memoryMb,
    restart: 'unless-stopped',
    stopSeconds: STOP_SECONDS,
  };
}
