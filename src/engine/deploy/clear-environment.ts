import { shutPort } from '../../commands/port.commands.ts';
import type { Machine } from './deploy-step.ts';
import { environmentLabels } from './names.ts';
import { stopSecondsOf } from './release-container.ts';

/** Removes everything of an environment from a server, found by its labels. Its volumes are data, and stay unless told otherwise. */
export async function clearEnvironment(
  machine: Machine,
  environmentId: string,
  { keepsData }: { keepsData: boolean },
): Promise<void> {
  const { docker } = machine;
  const labels = environmentLabels(environmentId);
  await leaveProxy(machine, environmentId);
  for (const { name, labels: own } of await docker.containers(labels)) {
    await docker.stopContainer(name, stopSecondsOf(own));
    await docker.removeContainer(name, { volumes: true });
  }
  for (const { tags, id } of await docker.images(labels))
    for (const ref of tags.length > 0 ? tags : [id]) await docker.removeImage(ref);
  for (const { name } of await docker.networks(labels)) await docker.removeNetwork(name);
  if (keepsData) return;
  for (const { name } of await docker.volumes(labels)) await docker.removeVolume(name);
}

const PROXY = 'slipway-proxy';

/** The world is let in no longer where nobody answers it. */
export async function leaveProxy({ docker, host, proxy, prefix }: Machine, environmentId: string): Promise<void> {
  if ((await docker.inspectContainer(PROXY)) === null) return;
  await proxy.ensure();
  const route = await proxy.upstreamOf(environmentId);
  if (route === null) return;
  // As long as the route is there, whoever comes after a crash knows the port.
  await host.run(shutPort(prefix, route.listenPort));
  await proxy.unroute(environmentId);
}
