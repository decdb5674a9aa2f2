/** A container as it is asked for. What is not said here is the same for all of ours. */
export interface ContainerSpec {
  name: string;
  image: string;
  command?: readonly string[];
  entrypoint?: readonly string[];
  /** Any characters but NUL, which no environment can hold. */
  env: Readonly<Record<string, string>>;
  labels: Readonly<Record<string, string>>;
  network?: { name: string; aliases?: readonly string[] };
  isHostNetwork?: boolean;
  ports?: readonly PublishedPort[];
  cpus?: number | null;
  memoryMb?: number | null;
  restart?: 'unless-stopped' | 'on-failure' | 'no';
  volumes?: readonly VolumeMount[];
  workingDirectory?: string;
  user?: string;
  /** How long it may take to end when it is asked to, before it is ended. */
  stopSeconds?: number;
  stopSignal?: string;
  /** True unless told otherwise. Some images bring a first process of their own, which cannot be anything else. */
  hasInit?: boolean;
  isReadOnly?: boolean;
  /** Folders in memory, each with its options. */
  tmpfs?: Readonly<Record<string, string>>;
  sharedMemoryBytes?: number;
  healthcheck?: Healthcheck;
  logMaxMegabytes?: number;
  logMaxFiles?: number;
}

export interface PublishedPort {
  hostIp: string;
  hostPort: number;
  containerPort: number;
}

export interface VolumeMount {
  name: string;
  path: string;
  isReadOnly?: boolean;
}

/** What is null is as the image says, or as Docker does it. */
export interface Healthcheck {
  test: readonly string[];
  intervalMs: number | null;
  timeoutMs: number | null;
  startMs: number | null;
  retries: number | null;
}

const MOST_PROCESSES = 4096;
const MEGABYTE = 1024 * 1024;

/** The same in the words of the engine's API. */
export function creationOf(spec: ContainerSpec): Record<string, unknown> {
  const ports = (spec.ports ?? []).map(({ containerPort, ...host }) => [`${containerPort}/tcp`, host] as const);
  return {
    Image: spec.image,
    Env: Object.entries(spec.env).map(environmentWord),
    Labels: spec.labels,
    ...(spec.command === undefined ? {} : { Cmd: spec.command }),
    ...(spec.entrypoint === undefined ? {} : { Entrypoint: spec.entrypoint }),
    ...(spec.workingDirectory === undefined ? {} : { WorkingDir: spec.workingDirectory }),
    ...(spec.user === undefined ? {} : { User: spec.user }),
    ...(spec.stopSeconds === undefined ? {} : { StopTimeout: spec.stopSeconds }),
    ...(spec.stopSignal === undefined ? {} : { StopSignal: spec.stopSignal }),
    ...(spec.healthcheck === undefined ? {} : { Healthcheck: healthcheckOf(spec.healthcheck) }),
    ExposedPorts: Object.fromEntries(ports.map(([port]) => [port, {}])),
    HostConfig: hostConfigOf(spec, ports),
    ...networkingOf(spec),
  };
}

type Binding = readonly [port: string, host: { hostIp: string; hostPort: number }];

function hostConfigOf(spec: ContainerSpec, ports: readonly Binding[]): Record<string, unknown> {
  const { cpus, memoryMb, logMaxMegabytes = 10, logMaxFiles = 3 } = spec;
  const memory = memoryMb == null ? 0 : Math.round(memoryMb * MEGABYTE);
  return {
    NetworkMode: spec.isHostNetwork ? 'host' : (spec.network?.name ?? 'bridge'),
    PortBindings: bindingsOf(ports),
    NanoCpus: cpus == null ? 0 : Math.round(cpus * 1e9),
    Memory: memory,
    // As much as without swap: else the limit would be twice what was asked for.
    MemorySwap: memory,
    PidsLimit: MOST_PROCESSES,
    ReadonlyRootfs: spec.isReadOnly ?? false,
    ...(spec.tmpfs === undefined ? {} : { Tmpfs: spec.tmpfs }),
    ...(spec.sharedMemoryBytes === undefined ? {} : { ShmSize: spec.sharedMemoryBytes }),
    RestartPolicy: { Name: spec.restart ?? 'no' },
    Mounts: (spec.volumes ?? []).map(({ name, path, isReadOnly = false }) => ({
      ...{ Type: 'volume', Source: name, Target: path, ReadOnly: isReadOnly },
    })),
    LogConfig: { Type: 'json-file', Config: { 'max-size': `${logMaxMegabytes}m`, 'max-file': String(logMaxFiles) } },
    SecurityOpt: ['no-new-privileges'],
    // Reaps what the program leaves behind, and passes signals on to one that was not written to be the first.
    Init: spec.hasInit ?? true,
  };
}

function healthcheckOf({ test, intervalMs, timeoutMs, startMs, retries }: Healthcheck): Record<string, unknown> {
  const nanoseconds = (ms: number | null) => Math.round((ms ?? 0) * 1e6);
  return {
    Test: test,
    Interval: nanoseconds(intervalMs),
    Timeout: nanoseconds(timeoutMs),
    StartPeriod: nanoseconds(startMs),
    Retries: retries ?? 0,
  };
}

function bindingsOf(ports: readonly Binding[]): Record<string, { HostIp: string; HostPort: string }[]> {
  const bindings: Record<string, { HostIp: string; HostPort: string }[]> = {};
  for (const [port, { hostIp, hostPort }] of ports) {
    bindings[port] ??= [];
    bindings[port].push({ HostIp: hostIp, HostPort: String(hostPort) });
  }
  return bindings;
}

function networkingOf({ network }: ContainerSpec): Record<string, unknown> {
  if (network === undefined) return {};
  return { NetworkingConfig: { EndpointsConfig: { [network.name]: { Aliases: network.aliases ?? [] } } } };
}

function environmentWord([key, value]: [key: string, value: string]): string {
  if (key === '' || /[=\0]/.test(key)) throw new TypeError('the name of a variable cannot be empty nor hold = or NUL');
  if (value.includes('\0')) throw new TypeError(`the variable ${key} holds a NUL byte, which no environment can`);
  if (!value.isWellFormed()) throw new TypeError(`the variable ${key} holds half a character`);
  return `${key}=${value}`;
}
