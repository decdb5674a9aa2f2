import type { DockerApi } from '../../../integrations/docker/docker-api.ts';
import { environmentLabels, LABEL, networkName } from '../names.ts';

/** The networks of single releases of an environment, but for one. */
export async function networksOfOthers(
  docker: DockerApi,
  environmentId: string,
  own: string | null,
): Promise<string[]> {
  const all = await docker.networks(environmentLabels(environmentId));
  const ofReleases = all.filter(
    ({ name, labels }) => name !== networkName(environmentId) && LABEL.deployment in labels,
  );
  return ofReleases.filter(({ labels }) => labels[LABEL.deployment] !== own).map(({ name }) => name);
}

/** Whoever is still in it leaves it first: a stopped container that misses a network could never be started again. */
export async function dropNetwork(docker: DockerApi, environmentId: string, network: string): Promise<void> {
  for (const { name, networks } of await docker.containers(environmentLabels(environmentId)))
    if (Object.hasOwn(networks, network)) await docker.disconnectNetwork(network, name);
  await docker.removeNetwork(network);
}
