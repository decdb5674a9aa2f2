import type { EntityManager } from '@mikro-orm/postgresql';
import { Deployment } from '../../entities/deployment.ts';
import { Environment } from '../../entities/environment.ts';
import type { Host } from '../../remote/host.ts';
import { leaveProxy } from './clear-environment.ts';
import { environmentLabels, LABEL } from './names.ts';
import { STOP_SECONDS } from './release-container.ts';
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
    const { docker } = machine;
    for (const environmentId of new Set(left.map(each => each.environmentId))) {
      const { containers, images, isHere } = await keptOf(em, environmentId, serverId);
      const labels = environmentLabels(environmentId);
      for (const container of await docker.containers(labels)) {
        if (containers.has(container.labels[LABEL.deployment] ?? '') || container.labels[LABEL.role] === 'service')
          continue;
        await docker.stopContainer(container.name, STOP_SECONDS);
        await docker.removeContainer(container.name, { volumes: true });
      }
      for (const { tags } of await docker.images(labels))
        for (const tag of tags) if (!images.has(tag)) await docker.removeImage(tag);
      if (!isHere) await leaveProxy(machine, environmentId);
    }
  });
  for (const each of left) each.hasLeftovers = false;
  await fork.flush();
}

interface Kept {
  containers: ReadonlySet<string>;
  images: ReadonlySet<string>;
  isHere: boolean;
}

async function keptOf(em: EntityManager, environmentId: string, serverId: string): Promise<Kept> {
  const fork = em.fork();
  const environment = await fork.findOne(Environment, environmentId);
  const open = await fork.find(Deployment, { environmentId, isFinished: false });
  const withImage = await fork.find(Deployment, { environmentId, serverId, image: { $ne: null } });
  const isHere = environment?.serverId === serverId && environment.currentDeploymentId !== null;
  const containers = new Set(open.map(({ id }) => id));
  if (isHere && environment?.currentDeploymentId != null) containers.add(environment.currentDeploymentId);
  return { containers, images: new Set(withImage.map(({ image }) => image ?? '')), isHere };
}
