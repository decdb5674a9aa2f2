export type Builder = 'DOCKERFILE' | 'GENERATED' | 'STATIC' | 'COMPOSE';

/** One answer with its evidence. `alternatives` are what the same repository could also mean. */
export interface Finding {
  readonly field: FindingField;
  readonly value: string | number | boolean;
  readonly file: string | null;
  readonly reason: string;
  readonly confidence: number;
  readonly alternatives: readonly { value: string | number | boolean; file: string | null; reason: string }[];
}

export type FindingField =
  | 'language'
  | 'languageVersion'
  | 'framework'
  | 'packageManager'
  | 'installCommand'
  | 'buildCommand'
  | 'startCommand'
  | 'outputDirectory'
  | 'isStatic'
  | 'port';

export interface ServiceFinding {
  /** POSTGRES, MYSQL, MARIADB, REDIS and MONGODB can be run beside the application; any other kind is told, not run. */
  readonly kind: string;
  readonly reason: string;
  readonly file: string;
  /** Declared by the application (a provider, an address), and not only by a driver among its dependencies. */
  readonly required: boolean;
}

export interface VariableFinding {
  readonly key: string;
  readonly required: boolean;
  readonly example: string | null;
  readonly foundIn: string;
  readonly description: string | null;
  readonly isSecret: boolean;
  /** Inlined by the framework when it builds, so a change needs a new build. */
  readonly isBuildTime: boolean;
}

export interface AnalysisWarning {
  readonly code: string;
  readonly message: string;
  readonly file: string | null;
}

/** What one application of the repository is and how it is built and started. */
export interface AppResult {
  readonly name: string;
  /** Where it lives, from the root of the repository; empty for the root. */
  readonly directory: string;
  readonly language: string | null;
  readonly languageVersion: string | null;
  readonly framework: string | null;
  readonly packageManager: string | null;
  readonly installCommand: string | null;
  readonly buildCommand: string | null;
  readonly startCommand: string | null;
  /** To be run before a release takes over, such as migrations. Never part of the start. */
  readonly releaseCommand: string | null;
  readonly outputDirectory: string | null;
  readonly isStatic: boolean;
  readonly port: number | null;
  readonly dockerfile: string | null;
  readonly composeFile: string | null;
  readonly builder: Builder;
  /** Made for `contextDirectory`; null where the repository has its own Dockerfile or compose file. */
  readonly generatedDockerfile: string | null;
  /** To be written beside the generated Dockerfile as `<name>.dockerignore`: the repository's own might leave out what it needs. */
  readonly generatedDockerignore: string | null;
  /** The folder to send to `docker build`: the workspace's root where members need each other. */
  readonly contextDirectory: string;
  readonly confidence: number;
  readonly findings: readonly Finding[];
}

export interface AnalysisResult extends AppResult {
  readonly services: readonly ServiceFinding[];
  readonly variables: readonly VariableFinding[];
  /** Every application of a monorepo; empty where the repository is one application. */
  readonly apps: readonly AppResult[];
  readonly warnings: readonly AnalysisWarning[];
}
