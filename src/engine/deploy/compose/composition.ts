import { createHash } from 'node:crypto';
import { type ComposeFiles, type ComposeTold, gatherCompose, readGathered } from '../../compose/compose-files.ts';
import type { ComposeBuild, ComposeProject, ComposeService } from '../../compose/compose-project.ts';
import { DeployFailure } from '../deploy-failure.ts';
import type { DeploySource } from '../deploy-means.ts';
import { serviceImageName } from '../names.ts';
import type { Release } from '../release.ts';

/** What is kept of a release: its file as it was written, so that other variables can be put into it, and what was built. */
interface Stored {
  files: ComposeFiles;
  built: Readonly<Record<string, BuiltImage>>;
}

interface BuiltImage {
  image: string;
  /** What it was built with; the source is the commit's. */
  key: string;
}

/** A compose file as a release puts it on a server: the file with its variables, and the images of its services. */
export class Composition {
  private constructor(
    readonly project: ComposeProject,
    private readonly stored: Stored,
  ) {}

  /** From the source, for a release that is built. */
  static async plan(release: Release, source: DeploySource, file: string | null): Promise<Composition> {
    if (file === null)
      throw new DeployFailure(
        'COMPOSE_REFUSED',
        'There is no compose file',
        'Set build.composeFile, or another builder.',
      );
    const files = await gatherCompose(source.snapshot, file, toldOf(release));
    const project = readGathered(files, toldOf(release));
    return new Composition(project, { files, built: builtImages(release, project) });
  }

  /** As it was kept, with the variables of a release. */
  static open(release: Release, kept: string): Composition {
    const stored = JSON.parse(kept) as Stored;
    return new Composition(readGathered(stored.files, toldOf(release)), stored);
  }

  /** All images that were built for it. */
  get images(): string[] {
    return [...new Set(Object.values(this.stored.built).map(({ image }) => image))];
  }

  /** The one that stands for the release: of the web service, or else of the first that is built. */
  get mainImage(): string {
    return this.imageOf(this.main);
  }

  get main(): ComposeService {
    const { services, web } = this.project;
    const named = services.find(({ name }) => name === web?.service);
    const built = services.find(({ build }) => build !== null);
    return (named?.build == null ? (built ?? named) : named) ?? (services[0] as ComposeService);
  }

  /** Whether what was built is what would be built now: variables can be arguments of builds. */
  get isUpToDate(): boolean {
    const built = this.project.services.filter(({ build }) => build !== null);
    return built.every(({ name, build }) => this.stored.built[name]?.key === keyOf(build as ComposeBuild));
  }

  imageOf({ name, build, image }: ComposeService): string {
    const built = Object.hasOwn(this.stored.built, name) ? this.stored.built[name]?.image : undefined;
    const found = build === null ? image : built;
    if (found == null) throw new DeployFailure('IMAGE_GONE', `There is no image of the service ${name}`, AGAIN);
    return found;
  }

  toString(): string {
    return JSON.stringify(this.stored);
  }
}

/** Services that are built alike share an image. */
function builtImages({ deployment }: Release, { services }: ComposeProject): Stored['built'] {
  const images = new Map<string, string>();
  const built = services.flatMap(({ name, build }) => {
    if (build === null) return [];
    const key = keyOf(build);
    const image = images.get(key) ?? serviceImageName(deployment, name);
    images.set(key, image);
    return [[name, { image, key }] as const];
  });
  return Object.fromEntries(built);
}

const AGAIN = 'Deploy the commit again.';

const toldOf = ({ variables, settings }: Release): ComposeTold => ({
  variables: Object.fromEntries(variables.map(({ key, value }) => [key, value])),
  secrets: new Set(variables.filter(({ isSecret }) => isSecret).map(({ key }) => key)),
  port: settings.port ?? null,
});

const keyOf = (build: ComposeBuild): string =>
  createHash('sha256').update(JSON.stringify(build)).digest('hex').slice(0, 32);
