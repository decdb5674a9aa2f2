import type { EntityManager } from '@mikro-orm/postgresql';
import { Deployment } from '../../entities/deployment.ts';
import { Environment } from '../../entities/environment.ts';
import type { Host } from '../../remote/host.ts';
import { clearEnvironment } from './clear-environment.ts';
import { healServices } from './compose/heal-services.ts';
import { asideServices } from './compose/kept-services.ts';
import { dropNetwork, networksOfOthers } from './compose/release-networks.ts';
import type { Machine } from './deploy-step.ts';
import { environmentLabels, LABEL } from './names.ts';
import type { ProxyRoute } from './proxy-settings.ts';
import { FORGOTTEN } from './release.ts';
import { stopSecondsOf } from './release-container.ts';
import { useMachine } from './with-machine.ts';

/**
 * Removes what deployments left on a server that could not be reached then: containers of theirs that neither serve nor are being
 * deployed, and images that no release keeps. Whatever is not of one of our environments is somebody else's.
 */
export async function tidyServer(em: EntityManager, serverId: string, host: Host): Promise<void> {
  const left = await em.fork().find(Deployment, { serverId, hasLeftovers: true }, { fields: ['environmentId'] });
  if (left.length === 0) return;
  await useMachine(host, async machine => {
    for (const environmentId of new Set(left.map(each => each.environmentId))) {
      if (!(await tidyEnvironment(em, machine, environmentId, serverId))) continue;
      const cleared = { environmentId, serverId, hasLeftovers: true, isFinished: true };
      await em.fork().nativeUpdate(Deployment, cleared, { hasLeftovers: false });
    }
  });
}

/** Says whether it is done. While a deployment is under way it waits: that one looks after its own. */
async function tidyEnvironment(
  em: EntityManager,
  machine: Machine,
  environmentId: string,
  serverId: string,
): Promise<boolean> {
  const kept = await keptOf(em, environmentId, serverId);
  if (kept.isBusy) return false;
  if (!kept.isHere) {
    await clearEnvironment(machine, environmentId, { keepsData: true });
    await em.fork().nativeUpdate(Deployment, { environmentId, serverId, isFinished: true }, FORGOTTEN);
    return true;
  }
  // A switch may have been cut half-way: what serves is pointed at before anything else goes.
  if (kept.route !== null) await machine.proxy.route(environmentId, kept.route);
  await tidyContainers(machine, environmentId, kept);
  // That took its time: one that has begun meanwhile has images and services of its own.
  if ((await keptOf(em, environmentId, serverId)).isBusy) return false;
  await tidyServices(em, machine, environmentId, kept);
  await tidyImages(machine, environmentId, kept);
  return true;
}

async function tidyContainers({ docker }: Machine, environmentId: string, { deployments }: Kept): Promise<void> {
  for (const { name, labels } of await docker.containers(environmentLabels(environmentId))) {
    if (deployments.has(labels[LABEL.deployment] ?? '') || labels[LABEL.role] === 'service') continue;
    await docker.stopContainer(name, stopSecondsOf(labels));
    await docker.removeContainer(name, { volumes: true });
  }
}

/** Of compose files. */
async function tidyServices(em: EntityManager, { docker }: Machine, environmentId: string, kept: Kept): Promise<void> {
  await healServices(em, docker, environmentId, null);
  for (const { name } of await asideServices(docker, environmentId))
    await docker.removeContainer(name, { volumes: true });
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
  /** How the world gets to what serves here. */
  route: ProxyRoute | null;
  isHere: boolean;
  isBusy: boolean;
}

async function keptOf(em: EntityManager, environmentId: string, serverId: string): Promise<Kept> {
  const fork = em.fork();
  const environment = await fork.findOne(Environment, environmentId);
  const open = await fork.find(Deployment, { environmentId, isFinished: false });
  const withImage = await fork.find(Deployment, { environmentId, serverId, image: { $ne: null } });
  const isHere = environment?.serverId === serverId && environment.currentDeploymentId !== null;
  const serving = isHere ? await fork.findOne(Deployment, { id: environment?.currentDeploymentId ?? '' }) : null;
  const current = isHere ? (environment?.currentDeploymentId ?? null) : null;
  const deployments = new Set([...open.map(({ id }) => id), ...(current === null ? [] : [current])]);
  const images = new Set(withImage.flatMap(({ image, images: more }) => [image ?? '', ...more]));
  const isBusy = open.some(({ startedAt }) => startedAt !== null);
  return { deployments, current, images, route: routeOf(environment, serving), isHere, isBusy };
}

function routeOf(environment: Environment | null, serving: Deployment | null): ProxyRoute | null {
  const [listenPort, upstreamPort] = [environment?.publicPort ?? null, serving?.hostPort ?? null];
  return listenPort === null || upstreamPort === null ? null : { listenPort, upstreamPort };
}
