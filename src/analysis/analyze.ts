import { AnalysisFailure, printablePath } from './analysis-failure.ts';
import type { AnalysisResult, AnalysisWarning } from './analysis-result.ts';
import { type BuildSettings, checkSettings, isPathInside } from './build-settings.ts';
import { type DescribedApp, describeApp } from './describe-app.ts';
import { findApps, nearestApp } from './find-apps.ts';
import { type AnalysisLimits, defaultLimits } from './limits.ts';
import { servicesOf } from './needs/services.ts';
import { variablesOf } from './needs/variables.ts';
import { Folder } from './repository/folder.ts';
import { openRepository } from './repository/open-repository.ts';
import type { Repository } from './repository/repository.ts';
import { type Deadline, startDeadline } from './snapshot/collect-entries.ts';
import type { Snapshot } from './snapshot/snapshot.ts';

export interface AnalysisOptions {
  /** What the repository is called; a few tools name their program after it. */
  readonly name?: string;
  /** The folder to analyse, from the root of the repository. */
  readonly rootDirectory?: string | null;
  /** What a person decided by hand; it is laid over what was found and into the generated Dockerfile. */
  readonly settings?: BuildSettings;
  /** Prefix of the names of cache mounts: one per project, so that no two tenants share a cache. */
  readonly cacheScope?: string;
  /**
   * Id of a BuildKit secret with the variables of the build, a shell script of `export KEY='…'` lines. With one, the
   * generated Dockerfile reads it where it installs and builds, and takes a digest of it as the argument BUILD_VARIABLES.
   */
  readonly buildSecret?: string;
  readonly limits?: Partial<AnalysisLimits>;
  /** Told as the work goes on. */
  readonly onStep?: (step: AnalysisStep) => void;
}

export type AnalysisStep = 'LISTING' | 'DETECTING' | 'APPS' | 'SERVICES' | 'VARIABLES' | 'DONE';

/** What a repository is. Throws AnalysisFailure, and nothing else, for anything a repository can hold. */
export async function analyzeSnapshot(snapshot: Snapshot, options: AnalysisOptions = {}): Promise<AnalysisResult> {
  const limits = { ...defaultLimits, ...options.limits };
  const deadline = startDeadline(limits.milliseconds);
  const rootDirectory = checkedRoot(options.rootDirectory);
  checkSettings(options.settings ?? {});
  options.onStep?.('LISTING');
  const name = options.name ?? 'app';
  const repository = await openRepository(snapshot, { name, rootDirectory }, limits, deadline);
  return analyzeRepository(repository, rootDirectory, deadline, options);
}

function analyzeRepository(
  repository: Repository,
  rootDirectory: string,
  deadline: Deadline,
  options: AnalysisOptions,
): AnalysisResult {
  const root = new Folder(repository, rootDirectory);
  if (root.files.length === 0)
    throw new AnalysisFailure('ROOT_NOT_FOUND', `There is no folder ${printablePath(rootDirectory)}`);
  const step = (name: AnalysisStep) => {
    deadline.check();
    options.onStep?.(name);
  };
  step('DETECTING');
  const own = describeApp(root, appOptions(root, options));
  step('APPS');
  const others = describeOthers(root, deadline, options);
  const main = mainOf(root, own, others, options) ?? nothingRecognised(repository);
  step('SERVICES');
  const services = servicesOf(root);
  step('VARIABLES');
  const variables = variablesOf(root);
  step('DONE');
  const apps = others.map(({ app }) => app);
  return {
    ...main.app,
    services,
    variables,
    apps,
    warnings: warningsOf(repository, main, main.app.directory !== root.path, others),
  };
}

function checkedRoot(rootDirectory: string | null | undefined): string {
  const path = (rootDirectory ?? '').replace(/^\.?\/+|\/+$/g, '').replace(/^\.$/, '');
  if (!isPathInside(path))
    throw new AnalysisFailure('ROOT_NOT_FOUND', 'The root directory must be inside the repository');
  return path;
}

function appOptions(folder: Folder, { name, settings, cacheScope, buildSecret }: AnalysisOptions) {
  const scope = /^[A-Za-z0-9][\w-]{0,63}$/.test(cacheScope ?? '') ? (cacheScope as string) : 'app';
  const lastName = folder.path.slice(folder.path.lastIndexOf('/') + 1);
  return {
    name: lastName || (name ?? 'app'),
    settings: settings ?? {},
    cacheScope: scope,
    buildSecret: buildSecret ?? null,
  };
}

/** A person's settings are for the application they chose, not for those beside it. */
function describeOthers(root: Folder, deadline: Deadline, options: AnalysisOptions): DescribedApp[] {
  return findApps(root).flatMap(folder => {
    deadline.check();
    return describeBeside(folder, { ...options, settings: {} }) ?? [];
  });
}

/** One broken manifest somewhere below spoils that application only; it stays among the warnings. */
function describeBeside(folder: Folder, options: AnalysisOptions): DescribedApp | null {
  try {
    return describeApp(folder, appOptions(folder, options));
  } catch (fault) {
    const isBroken =
      fault instanceof AnalysisFailure && folder.repository.refusals.some(({ file }) => file === fault.file);
    if (isBroken) return null;
    throw fault;
  }
}

/** The root itself, unless it starts nothing: then the application it holds. */
function mainOf(
  root: Folder,
  own: DescribedApp | null,
  others: readonly DescribedApp[],
  options: AnalysisOptions,
): DescribedApp | null {
  const startsNothing = own?.app.builder === 'GENERATED' && own.app.generatedDockerfile === null;
  if (own !== null && !(startsNothing && others.length === 1)) return own;
  const folder = folderOf(root, surest(others)) ?? nearestApp(root);
  return folder === null ? own : describeApp(folder, appOptions(folder, options));
}

const folderOf = (root: Folder, described: DescribedApp | null): Folder | null =>
  described === null ? null : new Folder(root.repository, described.app.directory);

/** Of several applications a server before a site, then the surest. */
function surest(others: readonly DescribedApp[]): DescribedApp | null {
  const rank = ({ app }: DescribedApp) => (app.isStatic ? 1 : 0) - app.confidence;
  return [...others].sort((a, b) => rank(a) - rank(b))[0] ?? null;
}

function nothingRecognised(repository: Repository): never {
  const [refusal] = repository.refusals;
  if (refusal) throw new AnalysisFailure(refusal.code, refusal.message, refusal.file);
  throw new AnalysisFailure('NOTHING_RECOGNISED', 'No manifest, Dockerfile or web page was recognised');
}

function warningsOf(
  repository: Repository,
  main: DescribedApp,
  isNested: boolean,
  others: readonly DescribedApp[],
): AnalysisWarning[] {
  const nested = {
    code: 'ROOT_WITHOUT_APP',
    message: `The root holds no application; ${main.app.directory} was taken`,
    file: main.app.directory,
  };
  const several = {
    code: 'SEVERAL_APPS',
    message: `${others.length} applications were found: choose one as the root directory`,
    file: null,
  };
  return [
    ...main.warnings,
    ...incompleteSources(repository),
    ...(isNested ? [nested] : []),
    ...(others.length > 1 ? [several] : []),
    ...repository.refusals.slice(0, 20).map(({ code, message, file }) => ({ code, message, file })),
  ];
}

/** What a clone leaves out unless it is told otherwise. */
function incompleteSources(repository: Repository): AnalysisWarning[] {
  const usesLfs = /filter=lfs/.test(repository.text('.gitattributes') ?? '');
  const submodules = { code: 'SUBMODULES', message: 'Parts of the repository are submodules', file: '.gitmodules' };
  const largeFiles = { code: 'LARGE_FILES', message: 'Some files are kept in Git LFS', file: '.gitattributes' };
  return [...(repository.hasFile('.gitmodules') ? [submodules] : []), ...(usesLfs ? [largeFiles] : [])];
}
