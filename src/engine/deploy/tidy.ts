import type { EntityManager } from '@mikro-orm/postgresql';
import { Deployment } from '../../entities/deployment.ts';
import { Environment } from '../../entities/environment.ts';
import type { Host } from '../../remote/host.ts';
import { leaveProxy } from './clear-environment.ts';
import { healServices } from './compose/heal-services.ts';
import { asideServices, keptServices } from './compose/kept-services.ts';
import { dropNetwork, networksOfOthers } from './compose/release-networks.ts';
import type { Machine } from './deploy-step.ts';
import { environmentLabels, LABEL } from './names.ts';
import { stopSecondsOf } from './release-container.ts';
import { useMachine } from './with-machine.ts';

/**
 * Removes what deployments left on a server that could not be reached then: containers of theirs that neither serve nor are being
 * deployed, and images that no release keeps. Whatever is not of one of our environments is somebody else's.
 */
export async function tidyServer(em: EntityManager, serverId: string, host: Host): Promise<void> {
  const fork = em.fork();
  const left = await fork.find(Deployment, { serverId, hasLeftovers: true });
  if (left.length === 0) return;
  await useMachine(host, async machine => {
    for (const environmentId of new Set(left.map(each => each.environmentId))) {
      const kept = await keptOf(em, environmentId, serverId);
      await tidyContainers(machine, environmentId, kept);
      if (!kept.isBusy) await tidyServices(em, machine, environmentId, kept);
      await tidyImages(machine, environmentId, kept);
      if (!kept.isHere) await leaveProxy(machine, environmentId);
    }
  });
  for (const each of left) each.hasLeftovers = false;
  await fork.flush();
}

async function tidyContainers({ docker }: Machine, environmentId: string, { deployments }: Kept): Promise<void> {
  for (const { name, labels } of await docker.containers(environmentLabels(environmentId))) {
    if (deployments.has(labels[LABEL.deployment] ?? '') || labels[LABEL.role] === 'service') continue;
    await docker.stopContainer(name, stopSecondsOf(labels));
    await docker.removeContainer(name, { volumes: true });
  }
}

/** Of compose files. While a deployment is under way they are its business: it heals them itself. */
async function tidyServices(em: EntityManager, { docker }: Machine, environmentId: string, kept: Kept): Promise<void> {
  await healServices(em, docker, environmentId, null);
  const gone = kept.isHere ? await asideServices(docker, environmentId) : await keptServices(docker, environmentId);
  for (const { name } of gone) await docker.removeContainer(name, { volumes: true });
  for (const network of await networksOfOthers(docker, environmentId, kept.current))
    await dropNetwork(docker, environmentId, network);
}

async function tidyImages({ docker }: Machine, environmentId: string, { images }: Kept): Promise<void> {
  const labels = environmentLabels(environmentId);
  const inUse = new Set((await docker.containers(labels)).map(({ image }) => image));
  for (const { tags } of await docker.images(labels))
    for (const tag of tags) if (!images.has(tag) && !inUse.has(tag)) await docker.removeImage(tag);
}

interface Kept {
  /** Whose containers stay. */
  deployments: ReadonlySet<string>;
  current: string | null;
  images: ReadonlySet<string>;
  isHere: boolean;
  isBusy: boolean;
}

async function keptOf(em: EntityManager, environmentId: string, serverId: string): Promise<Kept> {
  const fork = em.fork();
  const environment = await fork.findOne(Environment, environmentId);
  const open = await fork.find(Deployment, { environmentId, isFinished: false });
  const withImage = await fork.find(Deployment, { environmentId, serverId, image: { $ne: null } });
  const isHere = environment?.serverId === serverId && environment.currentDeploymentId !== null;
  const current = isHere ? (environment?.currentDeploymentId ?? null) : null;
  const deployments = new Set([...open.map(({ id }) => id), ...(current === null ? [] : [current])]);
  const images = new Set(withImage.flatMap(({ image, images: more }) => [image ?? '', ...more]));
  return { deployments, current, images, isHere, isBusy: open.some(({ startedAt }) => startedAt !== null) };
}
