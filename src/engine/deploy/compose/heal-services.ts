import type { EntityManager } from '@mikro-orm/postgresql';
import { Deployment, DeploymentStatus } from '../../../entities/deployment.ts';
import type { DockerApi } from '../../../integrations/docker/docker-api.ts';
import { LABEL } from '../names.ts';
import { keptServices, restoreServices } from './kept-services.ts';

/** Takes back what deployments that failed left of their services, on a server that could not be reached then. */
export async function healServices(
  em: EntityManager,
  docker: DockerApi,
  environmentId: string,
  current: string | null,
): Promise<void> {
  const services = await keptServices(docker, environmentId);
  const makers = new Set(services.flatMap(({ labels }) => labels[LABEL.madeBy] ?? []));
  if (current !== null) makers.delete(current);
  if (makers.size === 0) return;
  const status = [DeploymentStatus.LIVE, DeploymentStatus.SUPERSEDED];
  for (const { id } of await em.fork().find(Deployment, { id: [...makers], status })) makers.delete(id);
  for (const failed of makers) await restoreServices(docker, environmentId, failed);
}
