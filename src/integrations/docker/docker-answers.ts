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
}

/** What a list tells of a container. */
export type ContainerSummary = Pick<
  ContainerState,
  'id' | 'name' | 'image' | 'isRunning' | 'isRestarting' | 'labels' | 'networks'
> & { createdAt: Date };

export interface ImageFacts {
  id: string;
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
  Config: { Labels?: Record<string, string> | null; ExposedPorts?: Record<string, unknown> | null } | null;
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

export const factsOf = ({ Id, Size, Config }: InspectedImage): ImageFacts => ({
  id: Id,
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

function tcpPort(exposed: string): number[] {
  const [, port] = /^(\d+)(?:\/tcp)?$/.exec(exposed) ?? [];
  return port === undefined ? [] : [Number(port)];
}

/** The engine tells of what never was as of the year 1. */
function timeOf(said: string): Date | null {
  return said === '' || said.startsWith('0001-') ? null : new Date(said);
}
