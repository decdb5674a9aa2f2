/** A compose file as we run it: read, filled in, and held against what is allowed. */
export interface ComposeProject {
  /** Each one behind those it waits for. */
  services: readonly ComposeService[];
  /** Who answers the world, and where; null where nobody does. */
  web: ComposeWeb | null;
  /** What the file wants and does not get, in sentences for the log. */
  warnings: readonly string[];
}

export interface ComposeWeb {
  service: string;
  port: number;
}

export interface ComposeService {
  name: string;
  /** What it is started from where nothing is built; else only a name for it. */
  image: string | null;
  build: ComposeBuild | null;
  /** Null for what the image says; an empty list for nothing. */
  command: readonly string[] | null;
  entrypoint: readonly string[] | null;
  /** What `environment` gives it; goes before everything else. */
  environment: Readonly<Record<string, string>>;
  /** What its `env_file` gives it; goes behind the variables of the environment it is deployed in. */
  defaults: Readonly<Record<string, string>>;
  volumes: readonly ComposeMount[];
  tmpfs: Readonly<Record<string, string>>;
  dependsOn: readonly ComposeDependency[];
  /** Other names it is called by. */
  aliases: readonly string[];
  /** Where it listens, by `ports`: TCP, inside its container. */
  ports: readonly number[];
  exposes: readonly number[];
  restart: 'unless-stopped' | 'on-failure' | 'no';
  /** Somebody waits until it has ended well: it is a job, not a server. */
  isJob: boolean;
  workingDirectory: string | null;
  user: string | null;
  stopSeconds: number | null;
  stopSignal: string | null;
  isReadOnly: boolean;
  /** Whether a small program of Docker's is its first process; null where the file does not say. */
  hasInit: boolean | null;
  sharedMemoryBytes: number | null;
  healthcheck: ComposeHealthcheck | null;
}

export interface ComposeBuild {
  /** From the root of the repository. */
  context: string;
  /** From the root of the context; null where its text is given instead. */
  dockerfile: string | null;
  dockerfileText: string | null;
  args: Readonly<Record<string, string>>;
  target: string | null;
}

export interface ComposeMount {
  /** Of the file's own `volumes`, not of the server. */
  volume: string;
  path: string;
  isReadOnly: boolean;
}

export interface ComposeDependency {
  service: string;
  condition: 'STARTED' | 'HEALTHY' | 'ENDED_WELL';
  /** It may as well be missing. */
  isOptional: boolean;
}

export interface ComposeHealthcheck {
  test: readonly string[];
  intervalMs: number | null;
  timeoutMs: number | null;
  startMs: number | null;
  retries: number | null;
}
