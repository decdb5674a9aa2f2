import type { ContainerSummary } from '../../../integrations/docker/docker-answers.ts';
import type { DockerApi } from '../../../integrations/docker/docker-api.ts';
import { asideContainerName, environmentLabels, keptContainerName, LABEL } from '../names.ts';
import { stopSecondsOf } from '../release-container.ts';

/** The services of compose files that outlive releases on a server, and what is set aside while one of them is replaced. */
export async function keptServices(docker: DockerApi, environmentId: string): Promise<ContainerSummary[]> {
  const all = await docker.containers(environmentLabels(environmentId));
  return all.filter(({ labels }) => labels[LABEL.role] === 'service' && labels[LABEL.service] !== undefined);
}

/** The same for all environments of a server; but for those that were set aside. */
export async function allKeptServices(docker: DockerApi): Promise<ContainerSummary[]> {
  const all = await docker.containers({ [LABEL.role]: 'service' });
  return all.filter(({ name, labels }) => {
    const { [LABEL.environment]: environmentId = '', [LABEL.service]: service } = labels;
    return service !== undefined && name === keptContainerName(environmentId, service);
  });
}

/**
 * Makes room for another container of a service. The one that is there is only set aside: should the deployment fail, it comes back.
 * It is renamed before it is stopped, so that whoever finds it under that name knows what to do, however far this came.
 */
export async function setAside(docker: DockerApi, environmentId: string, service: string, by: string): Promise<void> {
  const name = keptContainerName(environmentId, service);
  const aside = asideContainerName(environmentId, service);
  const there = await docker.inspectContainer(name);
  if (there?.labels[LABEL.madeBy] === by) await docker.removeContainer(name, { volumes: true });
  else if (there !== null) {
    await docker.removeContainer(aside, { volumes: true });
    await docker.renameContainer(name, aside);
  }
  const before = await docker.inspectContainer(aside);
  if (before?.isRunning) await docker.stopContainer(aside, stopSecondsOf(before.labels));
}

/** After a deployment that failed: what it made goes, what it had set aside runs again. */
export async function restoreServices(docker: DockerApi, environmentId: string, by: string): Promise<void> {
  for (const { name, labels } of await keptServices(docker, environmentId)) {
    if (labels[LABEL.madeBy] !== by) continue;
    await docker.stopContainer(name, stopSecondsOf(labels));
    await docker.removeContainer(name, { volumes: true });
  }
  for (const { name, labels } of await asideServices(docker, environmentId)) {
    const kept = keptContainerName(environmentId, labels[LABEL.service] ?? '');
    if ((await docker.inspectContainer(kept)) !== null) continue;
    await docker.renameContainer(name, kept);
    await docker.startContainer(kept);
  }
}

export async function asideServices(docker: DockerApi, environmentId: string): Promise<ContainerSummary[]> {
  const all = await keptServices(docker, environmentId);
  return all.filter(({ name, labels }) => name === asideContainerName(environmentId, labels[LABEL.service] ?? ''));
}

/** After a deployment that went live: what was set aside, and services that its release does not have. */
export async function outdatedServices(
  docker: DockerApi,
  environmentId: string,
  wanted: ReadonlySet<string>,
): Promise<ContainerSummary[]> {
  return (await keptServices(docker, environmentId)).filter(({ name }) => !wanted.has(name));
}
