import { buildStep } from '../dockerfile/build-step.ts';
import { addUser, aptInstall } from '../dockerfile/debian.ts';
import {
  type CacheMount,
  copy,
  dockerfile,
  env,
  from,
  type Instruction,
  run,
  workdir,
} from '../dockerfile/dockerfile.ts';
import { serve } from '../dockerfile/serve.ts';
import { bestOf, type Candidates, found } from '../finding.ts';
import type { Folder } from '../repository/folder.ts';
import { type BuildPlan, noFacts, type Stack, type StackFacts } from '../stack.ts';

/** A language whose rules fit on a page: a manifest, a command that builds, a program that comes out. */
export interface CompiledLanguage {
  readonly language: string;
  readonly packageManager: string;
  /** The file that gives it away. */
  sign(folder: Folder): string | null;
  readonly signConfidence?: number;
  readonly install?: string;
  build(folder: Folder): string;
  start(folder: Folder): string | null;
  readonly startConfidence?: number;
  framework?(folder: Folder): Candidates<string>;
  version?(folder: Folder): Candidates<string>;
  readonly port?: number;
  readonly buildImage: (version: string | null) => string;
  readonly buildPackages?: readonly string[];
  /** Where the image has another way to get what it lacks. */
  readonly setUp?: string;
  readonly runtimeImage: (version: string | null) => string;
  readonly runtimePackages?: readonly string[];
  readonly cacheFolder?: string;
  /** What runs, if it is not the application's folder. */
  readonly output?: string;
  /** Files that are enough to install by. */
  readonly manifests?: readonly string[];
}

/** A name that a shell and a file system read as itself. */
export const plainName = (name: string | null | undefined): string | null =>
  /^[A-Za-z0-9_][\w.-]{0,100}$/.test(name ?? '') ? (name as string) : null;

export const debian = (): string => 'debian:bookworm-slim';

export function compiledStack(rules: CompiledLanguage): Stack {
  return {
    language: rules.language,
    sign(folder) {
      const file = rules.sign(folder);
      return file === null
        ? null
        : found(rules.language, folder.where(file), `${file} belongs to it`, rules.signConfidence ?? 0.94);
    },
    describe: folder => describe(rules, folder),
    dockerfile: (folder, plan) => compiledDockerfile(rules, folder, plan),
  };
}

function describe(rules: CompiledLanguage, folder: Folder): StackFacts {
  const file = folder.where(rules.sign(folder) ?? '');
  const start = rules.start(folder);
  return {
    ...noFacts,
    languageVersion: rules.version?.(folder) ?? [],
    framework: rules.framework?.(folder) ?? [],
    packageManager: [found(rules.packageManager, file, 'the usual one', 0.93)],
    installCommand: rules.install ? [found(rules.install, file, 'fetches what is asked for', 0.9)] : [],
    buildCommand: [found(rules.build(folder), file, 'the usual build', 0.88)],
    startCommand: start === null ? [] : [found(start, file, 'what the build leaves', rules.startConfidence ?? 0.85)],
    isStatic: [found(false, null, 'a program serves', 0.85)],
    port: [found(rules.port ?? 8080, null, 'the usual port', 0.6)],
  };
}

function compiledDockerfile(rules: CompiledLanguage, folder: Folder, plan: BuildPlan): string {
  const version = plan.languageVersion ?? bestOf(rules.version?.(folder) ?? []);
  const caches = rules.cacheFolder
    ? [{ id: `${plan.cacheScope}-${rules.packageManager.replace(/\W/g, '')}`, target: rules.cacheFolder }]
    : [];
  const runtimeImage = rules.runtimeImage(version);
  const isAlpine = runtimeImage.includes('alpine');
  return dockerfile(
    from(rules.buildImage(version), 'build'),
    workdir('/app'),
    aptInstall(...(rules.buildPackages ?? [])),
    run(rules.setUp ?? null),
    ...installFirst(rules, folder, plan, caches),
    copy(['.'], './'),
    ...buildStep(plan, ...caches),

    from(runtimeImage, 'runtime'),
    workdir('/app'),
    !isAlpine && aptInstall(...(rules.runtimePackages ?? ['ca-certificates'])),
    isAlpine ? run('adduser -S -u 10001 app') : addUser(),
    env({ PORT: plan.port }),
    copy([rules.output ?? '/app'], rules.output ?? '/app', { from: 'build', owner: '10001:10001' }),
    ...serve('app', plan),
  );
}

function installFirst(
  rules: CompiledLanguage,
  folder: Folder,
  plan: BuildPlan,
  caches: readonly CacheMount[],
): Instruction[] {
  if (plan.installCommand === null) return [];
  const present = (rules.manifests ?? []).filter(name => folder.has(name));
  const isAlone = present.length > 0 && !plan.hasOwnInstall;
  return [isAlone ? copy(present, './') : copy(['.'], './'), run(plan.installCommand, ...caches, ...plan.secrets)];
}
