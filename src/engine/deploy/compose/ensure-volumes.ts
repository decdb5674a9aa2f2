import type { ContainerSpec } from '../../../integrations/docker/container-spec.ts';
import type { DockerApi } from '../../../integrations/docker/docker-api.ts';
import { environmentLabels, LABEL } from '../names.ts';
import type { Release } from '../release.ts';

/** Makes what a container is about to mount: what Docker makes by itself bears no label, and nobody would find it again. */
export async function ensureVolumes(
  docker: DockerApi,
  release: Release,
  { volumes = [] }: ContainerSpec,
): Promise<void> {
  const { environment, deployment } = release;
  const labels = { ...environmentLabels(environment.id), [LABEL.madeBy]: deployment.id };
  for (const { name } of volumes) await docker.ensureVolume(name, labels);
}
