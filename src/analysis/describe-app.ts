import { AnalysisFailure } from './analysis-failure.ts';
import type { AnalysisWarning, AppResult, Builder, Finding, FindingField } from './analysis-result.ts';
import type { BuildSettings } from './build-settings.ts';
import { composeFileOf, composeServices, dockerfileOf, exposedPorts } from './declared/container-files.ts';
import { declaredRelease, declaredStart } from './declared/start-commands.ts';
import { dockerignoreOf } from './dockerfile/dockerignore.ts';
import { bestOf, type Candidates, candidates, type Found, found } from './finding.ts';
import type { Folder } from './repository/folder.ts';
import { signsIn } from './signs.ts';
import { type BuildPlan, noFacts, type Stack, type StackFacts } from './stack.ts';

export interface AppOptions {
  readonly name: string;
  readonly settings: BuildSettings;
  readonly cacheScope: string;
  readonly buildSecret: string | null;
}

export interface DescribedApp {
  readonly app: AppResult;
  readonly warnings: readonly AnalysisWarning[];
}

/** One folder as an application, or null where nothing in it could be one. */
export function describeApp(folder: Folder, options: AppOptions): DescribedApp | null {
  const signs = signsIn(folder);
  const [chosen] = signs;
  const dockerfile = options.settings.dockerfile ?? named(folder, dockerfileOf(folder));
  const composeFile = options.settings.composeFile ?? named(folder, composeFileOf(folder));
  if (chosen === undefined && dockerfile === null && composeFile === null) return null;
  const facts = withSettings(factsOf(folder, chosen?.stack ?? null, dockerfile), options.settings);
  refuseUnread(folder, chosen?.sign.file ?? dockerfile ?? composeFile);
  const plan = planOf(facts, options);
  const builder = options.settings.builder ?? builderOf(folder, plan, dockerfile, chosen !== undefined);
  const isGenerated = chosen !== undefined && canBeGenerated(builder, plan);
  const findings = findingsOf(
    signs.map(({ sign }) => sign),
    facts,
  );
  const app: AppResult = {
    ...{ name: options.name, directory: folder.path, language: chosen?.stack.language ?? null },
    ...answersOf(facts, plan),
    ...{ dockerfile, composeFile, builder },
    generatedDockerfile: isGenerated ? chosen.stack.dockerfile(folder, plan).trimStart() : null,
    generatedDockerignore: isGenerated ? dockerignoreOf(chosen.stack.language) : null,
    contextDirectory: (isGenerated ? chosen.stack.contextOf?.(folder) : null) ?? folder.path,
    confidence: confidenceOf(findings),
    findings,
  };
  return { app, warnings: [...facts.warnings, ...startWarning(folder, app)] };
}

const named = (folder: Folder, file: string | null): string | null => (file === null ? null : folder.where(file));

/** The file that decides what this is must be readable: everything else would follow from its absence. */
function refuseUnread(folder: Folder, file: string | null): void {
  const refusal = folder.repository.refusals.find(candidate => candidate.file === file);
  if (refusal) throw new AnalysisFailure(refusal.code, refusal.message, refusal.file);
}

function factsOf(folder: Folder, stack: Stack | null, dockerfile: string | null): StackFacts {
  const facts = stack?.describe(folder) ?? noFacts;
  const declared = declaredStart(folder);
  const isSite = bestOf(facts.isStatic) === true && declared.length === 0;
  return {
    ...facts,
    isStatic:
      declared.length > 0 && bestOf(facts.isStatic) === true
        ? [servesItself(declared), ...facts.isStatic]
        : facts.isStatic,
    startCommand: isSite ? [] : candidates(...declared, ...facts.startCommand),
    releaseCommand: candidates(...declaredRelease(folder), ...facts.releaseCommand),
    port: candidates(
      ...portsOfContainers(folder, dockerfile),
      ...facts.port,
      isSite && found(8080, null, 'the port our image for static sites listens on', 0.9),
    ),
  };
}

const servesItself = ([start]: Candidates<string>): Found<boolean> =>
  found(false, start?.file ?? null, 'a start command is written down', 0.9);

function portsOfContainers(folder: Folder, dockerfile: string | null): Candidates<number> {
  const own = dockerfileOf(folder);
  if (dockerfile !== null && own !== null) return exposedPorts(folder, own);
  const compose = composeFileOf(folder);
  const built = composeServices(folder).filter(({ context }) => context === folder.path);
  return built
    .flatMap(({ ports }) => ports)
    .map(port => found(port, named(folder, compose), 'the compose file publishes it', 0.9));
}

const byHand = <T>(value: T): Found<T> => found(value, null, 'set by hand', 1);

function withSettings(facts: StackFacts, settings: BuildSettings): StackFacts {
  const laid = <T>(setting: T | null | undefined, seen: Candidates<T>): Candidates<T> =>
    setting === null || setting === undefined || setting === '' ? seen : candidates(byHand(setting), ...seen);
  const isStatic = settings.builder === 'STATIC' ? true : settings.startCommand ? false : null;
  return {
    ...facts,
    languageVersion: laid(settings.languageVersion, facts.languageVersion),
    installCommand: laid(settings.installCommand, facts.installCommand),
    buildCommand: laid(settings.buildCommand, facts.buildCommand),
    startCommand: laid(settings.startCommand, facts.startCommand),
    outputDirectory: laid(settings.outputDirectory, facts.outputDirectory),
    isStatic: laid(isStatic, facts.isStatic),
    port: laid(settings.port, facts.port),
  };
}

function planOf(facts: StackFacts, { settings, cacheScope, buildSecret }: AppOptions): BuildPlan {
  return {
    languageVersion: bestOf(facts.languageVersion),
    framework: bestOf(facts.framework),
    packageManager: bestOf(facts.packageManager),
    installCommand: bestOf(facts.installCommand),
    buildCommand: bestOf(facts.buildCommand),
    startCommand: bestOf(facts.startCommand) ?? '',
    outputDirectory: bestOf(facts.outputDirectory),
    isStatic: bestOf(facts.isStatic) ?? false,
    port: bestOf(facts.port) ?? 8080,
    cacheScope,
    secrets: buildSecret === null ? [] : [{ secret: buildSecret }],
    hasOwnInstall: Boolean(settings.installCommand),
  };
}

/** What the owner wrote comes before what we would write, if it is about the application and not only its databases. */
function builderOf(folder: Folder, plan: BuildPlan, dockerfile: string | null, hasLanguage: boolean): Builder {
  const contexts = new Set(composeServices(folder).flatMap(({ context }) => (context === null ? [] : [context])));
  const isComposed = contexts.size > 1 || (contexts.size === 1 && dockerfile === null);
  if (composeFileOf(folder) !== null && (isComposed || (!hasLanguage && dockerfile === null))) return 'COMPOSE';
  if (dockerfile !== null) return 'DOCKERFILE';
  return plan.isStatic ? 'STATIC' : 'GENERATED';
}

/** A Dockerfile that cannot say what to start would only fail later. */
const canBeGenerated = (builder: Builder, plan: BuildPlan): boolean =>
  builder === 'STATIC' || (builder === 'GENERATED' && (plan.isStatic || plan.startCommand !== ''));

function answersOf(facts: StackFacts, plan: BuildPlan) {
  const { cacheScope: _scope, hasOwnInstall: _own, secrets: _secrets, ...answers } = plan;
  const hasPort = facts.port.length > 0;
  return {
    ...answers,
    startCommand: bestOf(facts.startCommand),
    port: hasPort ? plan.port : null,
    releaseCommand: bestOf(facts.releaseCommand),
  };
}

const fields = [
  'languageVersion',
  'framework',
  'packageManager',
  'installCommand',
  'buildCommand',
  'startCommand',
  'outputDirectory',
  'isStatic',
  'port',
] as const;

function findingsOf(languages: Candidates<string>, facts: StackFacts): Finding[] {
  return [finding('language', languages), ...fields.map(field => finding(field, facts[field]))].filter(
    each => each !== null,
  );
}

function finding(field: FindingField, [best, ...others]: Candidates<string | number | boolean>): Finding | null {
  if (best === undefined) return null;
  const alternatives = others.slice(0, 8).map(({ value, file, reason }) => ({ value, file, reason }));
  return { field, value: best.value, file: best.file, reason: best.reason, confidence: best.confidence, alternatives };
}

/** As sure as the least sure of the answers that decide whether it will run. */
function confidenceOf(findings: readonly Finding[]): number {
  const deciding = findings.filter(({ field }) =>
    ['language', 'packageManager', 'startCommand', 'isStatic'].includes(field),
  );
  return deciding.length === 0 ? 0.5 : Math.min(...deciding.map(({ confidence }) => confidence));
}

function startWarning(folder: Folder, app: AppResult): AnalysisWarning[] {
  const isComplete =
    app.isStatic || app.startCommand !== null || app.builder === 'DOCKERFILE' || app.builder === 'COMPOSE';
  if (isComplete) return [];
  return [
    {
      code: 'START_UNKNOWN',
      message: 'Nothing says how the application is started: set a start command',
      file: folder.path || null,
    },
  ];
}
