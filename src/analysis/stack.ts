import type { SecretMount } from './dockerfile/dockerfile.ts';
import type { Candidates, Found } from './finding.ts';
import type { Folder } from './repository/folder.ts';

/** What a language's rules say of one folder. */
export interface StackFacts {
  readonly languageVersion: Candidates<string>;
  readonly framework: Candidates<string>;
  readonly packageManager: Candidates<string>;
  readonly installCommand: Candidates<string>;
  readonly buildCommand: Candidates<string>;
  readonly startCommand: Candidates<string>;
  readonly releaseCommand: Candidates<string>;
  readonly outputDirectory: Candidates<string>;
  readonly isStatic: Candidates<boolean>;
  readonly port: Candidates<number>;
  readonly warnings: readonly { code: string; message: string; file: string | null }[];
}

export const noFacts: StackFacts = {
  languageVersion: [],
  framework: [],
  packageManager: [],
  installCommand: [],
  buildCommand: [],
  startCommand: [],
  releaseCommand: [],
  outputDirectory: [],
  isStatic: [],
  port: [],
  warnings: [],
};

/** The facts after a person's settings were laid over them: what will really be built. */
export interface BuildPlan {
  readonly languageVersion: string | null;
  readonly framework: string | null;
  readonly packageManager: string | null;
  readonly installCommand: string | null;
  readonly buildCommand: string | null;
  /** Empty for a static site; nothing else is built without one. */
  readonly startCommand: string;
  readonly outputDirectory: string | null;
  readonly isStatic: boolean;
  readonly port: number;
  /** Prefix of the cache mounts' names: two tenants must never share a cache. */
  readonly cacheScope: string;
  /** Where the commands that install and build find variables that are not for the image. */
  readonly secrets: readonly SecretMount[];
  /** A person chose the install command, so the files it needs are unknown. */
  readonly hasOwnInstall: boolean;
}

export interface Stack {
  readonly language: string;
  /** The sign of this language in a folder, the surer the higher its confidence; null where there is none. */
  sign(folder: Folder): Found<string> | null;
  describe(folder: Folder): StackFacts;
  /** For the context the stack names in `contextOf`; without that, for the folder itself. */
  dockerfile(folder: Folder, plan: BuildPlan): string;
  contextOf?(folder: Folder): string;
}

/** How a start command asks for the port it was given, with the one to take where none was. */
export const portOr = (port: number): string => `\${PORT:-${port}}`;
