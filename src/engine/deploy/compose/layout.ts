import type { ComposeService } from '../../compose/compose-project.ts';
import { DeployFailure } from '../deploy-failure.ts';
import type { Machine } from '../deploy-step.ts';
import { containerName, keptContainerName, serviceContainerName } from '../names.ts';
import type { Release } from '../release.ts';
import type { Composition } from './composition.ts';

/**
 * How a service is run. `APP`: each release has its own, beside that of the release before. `JOB`: the same, but it ends. `KEPT`: it has
 * data, and there is one of it for all releases, since two programs on the same data would destroy it.
 */
export type PartKind = 'WEB' | 'APP' | 'JOB' | 'KEPT';

export interface Part {
  service: ComposeService;
  kind: PartKind;
  container: string;
  image: string;
  /** The same as long as what is started is the same. */
  imageKey: string;
  /** Where its image keeps data and the file names no volume. */
  declared: readonly string[];
}

/** Which container each service gets. The images must be on the server: some say that they hold data, where the file does not. */
export async function layOut(release: Release, composition: Composition, { docker }: Machine): Promise<Part[]> {
  const parts: Part[] = [];
  for (const service of composition.project.services) {
    const image = composition.imageOf(service);
    const facts = await docker.inspectImage(image);
    if (facts === null)
      throw new DeployFailure('IMAGE_GONE', `The image of the service ${service.name} is not on the server`, AGAIN);
    const declared = facts.volumes.filter(path => !service.volumes.some(volume => volume.path === path));
    const kind = kindOf(service, composition, declared);
    const imageKey = service.build === null ? image : facts.contentKey;
    parts.push({ service, kind, container: '', image, imageKey, declared: kind === 'KEPT' ? declared : [] });
  }
  const first = parts.find(({ kind }) => kind === 'WEB') ?? parts.find(({ kind }) => kind === 'APP');
  return parts.map(part => ({ ...part, container: containerOf(release, part, part === first) }));
}

function kindOf(service: ComposeService, { project }: Composition, declared: readonly string[]): PartKind {
  if (service.name === project.web?.service) return 'WEB';
  if (service.isJob) return 'JOB';
  const hasData = declared.length > 0 || service.volumes.some(({ isReadOnly }) => !isReadOnly);
  return hasData ? 'KEPT' : 'APP';
}

/** The web service has the name that the only container of other releases has: it is verified, routed and drained as that one is. */
function containerOf({ deployment, environment }: Release, { service, kind }: Part, isFirst: boolean): string {
  if (kind === 'KEPT') return keptContainerName(environment.id, service.name);
  return isFirst ? containerName(deployment.id) : serviceContainerName(deployment.id, service.name);
}

/** What can be started before everything else: kept services that wait for nobody but each other. */
export function groundOf(parts: readonly Part[]): Part[] {
  const ground = new Set<string>();
  // Each stands behind those it depends on.
  for (const { service, kind } of parts)
    if (kind === 'KEPT' && service.dependsOn.every(each => ground.has(each.service))) ground.add(service.name);
  return parts.filter(({ service }) => ground.has(service.name));
}

const AGAIN = 'Deploy the commit again.';
