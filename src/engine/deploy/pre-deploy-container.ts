import type { ContainerSpec } from '../../integrations/docker/container-spec.ts';
import { layOut } from './compose/layout.ts';
import { mountsOf, partEnvironment } from './compose/part-container.ts';
import type { Machine } from './deploy-step.ts';
import { networkName, preDeployName, releaseNetworkName, roleLabels } from './names.ts';
import type { Release } from './release.ts';
import { containerEnvironment } from './release-container.ts';

/** Where the pre-deploy command runs: in the new image, with all that the release will have. */
export async function preDeployContainer(release: Release, machine: Machine): Promise<ContainerSpec> {
  const { deployment, environment } = release;
  return {
    name: preDeployName(deployment.id),
    entrypoint: ['sh', '-c'],
    command: [environment.preDeployCommand ?? ''],
    labels: roleLabels(deployment, 'pre-deploy'),
    memoryMb: environment.resources.memoryMb,
    cpus: environment.resources.cpus,
    restart: 'no',
    ...((await composedPart(release, machine)) ?? {
      image: deployment.image ?? '',
      env: containerEnvironment(release),
      network: { name: networkName(environment.id) },
    }),
  };
}

type Surroundings = Pick<ContainerSpec, 'image' | 'env' | 'network' | 'volumes'>;

/** Of a compose file: in the service that stands for the release. */
async function composedPart(release: Release, machine: Machine): Promise<Surroundings | null> {
  const composition = release.composition();
  if (composition === null) return null;
  const parts = await layOut(release, composition, machine);
  const part = parts.find(({ service }) => service.name === composition.main.name);
  if (part === undefined) return null;
  return {
    image: part.image,
    env: partEnvironment(release, part),
    network: { name: releaseNetworkName(release.deployment.id) },
    volumes: mountsOf(release, part),
  };
}
