import { createHash } from 'node:crypto';

/** What is known of a container that was looked at. */
export interface ContainerState {
  id: string;
  name: string;
  image: string;
  isRunning: boolean;
  isRestarting: boolean;
  exitCode: number;
  isOutOfMemory: boolean;
  restartCount: number;
  /** Null for one that never ran. */
  startedAt: Date | null;
  /** Null for one that has not ended since it was last started. */
  finishedAt: Date | null;
  labels: Record<string, string>;
  /** Why it could not be started. */
  error: string | null;
  /** Its address in each network. */
  networks: Record<string, string>;
  /** What its own check says of it; null where it has none. */
  health: 'starting' | 'healthy' | 'unhealthy' | null;
}

/** What a list tells of a container. */
export type ContainerSummary = Pick<
  ContainerState,
  'id' | 'name' | 'image' | 'isRunning' | 'isRestarting' | 'labels' | 'networks'
> & { createdAt: Date };

export interface ImageFacts {
  id: string;
  /** What is in it and how it starts, whatever its name and labels: the same for two builds of the same. */
  contentKey: string;
  /** Where it says that it keeps data. */
  volumes: string[];
  labels: Record<string, string>;
  exposedPorts: number[];
  sizeBytes: number;
}

export interface ImageSummary {
  id: string;
  tags: string[];
  labels: Record<string, string>;
  createdAt: Date;
}

export interface Labelled {
  name: string;
  labels: Record<string, string>;
}

export interface EngineVersion {
  version: string;
  apiVersion: string;
  minApiVersion: string;
}

interface NetworkEntry {
  IPAddress?: string;
}

export interface InspectedContainer {
  Id: string;
  Name: string;
  Image: string;
  RestartCount: number;
  State: {
    Running: boolean;
    Restarting: boolean;
    OOMKilled: boolean;
    ExitCode: number;
    Error: string;
    StartedAt: string;
    FinishedAt: string;
    Health?: { Status: string } | null;
  };
  Config: { Image: string; Labels: Record<string, string> | null };
  NetworkSettings: { Networks: Record<string, NetworkEntry> | null };
}

export interface ListedContainer {
  Id: string;
  Names: string[] | null;
  Image: string;
  State: string;
  Created: number;
  Labels: Record<string, string> | null;
  NetworkSettings?: { Networks: Record<string, NetworkEntry> | null };
}

export interface InspectedImage {
  Id: string;
  Size: number;
  RootFS?: { Layers?: string[] | null };
  Config: ImageConfig | null;
}

interface ImageConfig {
  Labels?: Record<string, string> | null;
  ExposedPorts?: Record<string, unknown> | null;
  Volumes?: Record<string, unknown> | null;
  [more: string]: unknown;
}

export interface ListedImage {
  Id: string;
  RepoTags: string[] | null;
  Labels: Record<string, string> | null;
  Created: number;
}

export const stateOf = (found: InspectedContainer): ContainerState => ({
  id: found.Id,
  name: found.Name.replace(/^\//, ''),
  image: found.Config.Image,
  isRunning: found.State.Running && !found.State.Restarting,
  isRestarting: found.State.Restarting,
  exitCode: found.State.ExitCode,
  isOutOfMemory: found.State.OOMKilled,
  restartCount: found.RestartCount,
  startedAt: timeOf(found.State.StartedAt),
  finishedAt: found.State.Running ? null : timeOf(found.State.FinishedAt),
  labels: found.Config.Labels ?? {},
  error: found.State.Error === '' ? null : found.State.Error,
  networks: addressesOf(found.NetworkSettings.Networks),
  health: healthOf(found.State.Health?.Status),
});

export const summaryOf = (found: ListedContainer): ContainerSummary => ({
  id: found.Id,
  name: (found.Names?.[0] ?? '').replace(/^\//, ''),
  image: found.Image,
  isRunning: found.State === 'running',
  isRestarting: found.State === 'restarting',
  labels: found.Labels ?? {},
  networks: addressesOf(found.NetworkSettings?.Networks ?? null),
  createdAt: new Date(found.Created * 1000),
});

export const factsOf = ({ Id, Size, RootFS, Config }: InspectedImage): ImageFacts => ({
  id: Id,
  contentKey: contentKey(RootFS?.Layers ?? [], Config ?? {}),
  volumes: Object.keys(Config?.Volumes ?? {}).sort(),
  labels: Config?.Labels ?? {},
  exposedPorts: Object.keys(Config?.ExposedPorts ?? {}).flatMap(tcpPort),
  sizeBytes: Size,
});

export const listedImage = ({ Id, RepoTags, Labels, Created }: ListedImage): ImageSummary => ({
  id: Id,
  tags: (RepoTags ?? []).filter(tag => tag !== '<none>:<none>'),
  labels: Labels ?? {},
  createdAt: new Date(Created * 1000),
});

const addressesOf = (networks: Record<string, NetworkEntry> | null): Record<string, string> =>
  Object.fromEntries(Object.entries(networks ?? {}).map(([name, { IPAddress = '' }]) => [name, IPAddress]));

function contentKey(layers: readonly string[], config: ImageConfig): string {
  const started = STARTED_BY.map(key => config[key] ?? null);
  return createHash('sha256')
    .update(JSON.stringify([layers, started]))
    .digest('hex');
}

/** What of an image's settings decides how a container of it runs. */
const STARTED_BY = ['Cmd', 'Entrypoint', 'Env', 'WorkingDir', 'User', 'Volumes', 'StopSignal', 'Healthcheck'];

const healthOf = (status: string | undefined): ContainerState['health'] =>
  status === 'starting' || status === 'healthy' || status === 'unhealthy' ? status : null;

function tcpPort(exposed: string): number[] {
  const [, port] = /^(\d+)(?:\/tcp)?$/.exec(exposed) ?? [];
  return port === undefined ? [] : [Number(port)];
}

/** The engine tells of what never was as of the year 1. */
function timeOf(said: string): Date | null {
  return said === '' || said.startsWith('0001-') ? null : new Date(said);
}
