import { createHash } from 'node:crypto';
import type { ContainerSpec, VolumeMount } from '../../../integrations/docker/container-spec.ts';
import {
  declaredVolumeName,
  environmentLabels,
  LABEL,
  networkName,
  releaseNetworkName,
  roleLabels,
  volumeName,
} from '../names.ts';
import type { Release } from '../release.ts';
import { STOP_SECONDS } from '../release-container.ts';
import type { Part } from './layout.ts';

/** The container of one service of a release. Nothing of the server is ever in it but volumes of its own environment. */
export function partContainer(release: Release, part: Part): ContainerSpec {
  return part.kind === 'KEPT' ? keptContainer(release, part) : ownContainer(release, part);
}

function ownContainer(release: Release, part: Part): ContainerSpec {
  const { deployment } = release;
  const { appPort, hostPort } = deployment;
  const isRouted = part.kind === 'WEB' && appPort !== null && hostPort !== null;
  const ports = isRouted ? [{ hostIp: '127.0.0.1', hostPort, containerPort: appPort }] : [];
  return {
    ...commonSpec(release, part),
    labels: {
      ...roleLabels(deployment, part.kind === 'JOB' ? 'pre-deploy' : 'app'),
      ...partLabels(part),
      [LABEL.hostPort]: isRouted ? String(hostPort) : '',
    },
    network: { name: releaseNetworkName(deployment.id), aliases: aliasesOf(part) },
    ports,
    restart: part.kind === 'JOB' ? 'no' : part.kind === 'WEB' ? 'unless-stopped' : part.service.restart,
  };
}

/** Its digest says whether the one that runs is what is wanted: all but who made it, and when. */
function keptContainer(release: Release, part: Part): ContainerSpec {
  const { environment, deployment } = release;
  const spec = {
    ...commonSpec(release, part),
    network: { name: networkName(environment.id), aliases: aliasesOf(part) },
    restart: part.service.restart,
  };
  const labels = {
    ...environmentLabels(environment.id),
    [LABEL.role]: 'service',
    ...partLabels(part),
    [LABEL.spec]: digestOf({ ...spec, env: Object.entries(spec.env).sort(), image: part.imageKey }),
    [LABEL.madeBy]: deployment.id,
  };
  return { ...spec, labels };
}

function commonSpec(release: Release, part: Part): Omit<ContainerSpec, 'labels'> {
  const { environment } = release;
  const { service, container, image } = part;
  return {
    ...{ name: container, image, env: partEnvironment(release, part), volumes: mountsOf(release, part) },
    ...(service.command === null ? {} : { command: service.command }),
    ...(service.entrypoint === null ? {} : { entrypoint: service.entrypoint }),
    ...(service.workingDirectory === null ? {} : { workingDirectory: service.workingDirectory }),
    ...(service.user === null ? {} : { user: service.user }),
    ...(service.stopSignal === null ? {} : { stopSignal: service.stopSignal }),
    ...(service.sharedMemoryBytes === null ? {} : { sharedMemoryBytes: service.sharedMemoryBytes }),
    ...(service.healthcheck === null ? {} : { healthcheck: service.healthcheck }),
    hasInit: service.hasInit ?? service.build !== null,
    isReadOnly: service.isReadOnly,
    tmpfs: service.tmpfs,
    stopSeconds: service.stopSeconds ?? STOP_SECONDS,
    cpus: environment.resources.cpus,
    memoryMb: environment.resources.memoryMb,
  };
}

/**
 * What the file gives it goes last. What is ours, the web service and whatever is built here, gets the environment's variables; an image
 * of somebody else gets those that the file names.
 */
export function partEnvironment(release: Release, { service, kind }: Part): Record<string, string> {
  const { deployment, environment, runtimeVariables } = release;
  const isOurs = kind === 'WEB' || service.build !== null;
  const told = { SLIPWAY_DEPLOYMENT: deployment.id, SLIPWAY_COMMIT: deployment.commit?.sha ?? '' };
  return {
    ...(kind === 'WEB' && deployment.appPort !== null ? { PORT: String(deployment.appPort) } : {}),
    ...(isOurs ? { SLIPWAY_ENVIRONMENT: environment.slug } : {}),
    // One that is kept would be another with each deployment.
    ...(isOurs && kind !== 'KEPT' ? told : {}),
    ...service.defaults,
    ...(isOurs ? Object.fromEntries(runtimeVariables.map(({ key, value }) => [key, value])) : {}),
    ...service.environment,
  };
}

export function mountsOf({ environment }: Release, { service, declared }: Part): VolumeMount[] {
  return [
    ...service.volumes.map(({ volume, ...mount }) => ({ name: volumeName(environment.id, volume), ...mount })),
    ...declared.map(path => ({ name: declaredVolumeName(environment.id, service.name, path), path })),
  ];
}

export const aliasesOf = ({ service }: Part): string[] => [service.name, ...service.aliases];

const partLabels = ({ service }: Part): Record<string, string> => ({
  [LABEL.service]: service.name,
  // Always said: what we leave out an image could say instead.
  [LABEL.mayEnd]: String(service.restart !== 'unless-stopped'),
  [LABEL.stopSeconds]: String(service.stopSeconds ?? STOP_SECONDS),
});

const digestOf = (spec: object): string => createHash('sha256').update(JSON.stringify(spec)).digest('hex');
