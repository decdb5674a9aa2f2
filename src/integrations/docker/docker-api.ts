import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import type { Open, Question } from '../duplex-http.ts';
import { type ContainerSpec, creationOf } from './container-spec.ts';
import {
  type ContainerState,
  type ContainerSummary,
  type EngineVersion,
  factsOf,
  type ImageFacts,
  type ImageSummary,
  type InspectedContainer,
  type InspectedImage,
  type Labelled,
  type ListedContainer,
  type ListedImage,
  listedImage,
  stateOf,
  summaryOf,
} from './docker-answers.ts';
import { DockerEngine } from './docker-engine.ts';
import { DockerFault } from './docker-fault.ts';
import { LogFrames, type LogStream } from './log-frames.ts';
import { isPoolEmpty, isSubnetTaken, spareSubnets } from './spare-subnets.ts';

export type Labels = Readonly<Record<string, string>>;

export interface LogWish {
  /** So many of the last lines; all unless told otherwise. */
  tail?: number;
  since?: Date;
  follow?: boolean;
  timestamps?: boolean;
  signal?: AbortSignal;
  /** Whatever is printed from here on will be heard. */
  onOpen?(): void;
  /** While its promise is open nothing more is read. */
  onOutput(chunk: Buffer, from: LogStream): void | Promise<void>;
}

const PULL_MS = 30 * 60_000;
const LOOK_EVERY_MS = 100;
const MOST_LOOKS = 100;
const GRACE_MS = 60_000;

/** A client of the Docker Engine API, as far as we need it. What the engine refuses fails with a `DockerFault`. */
export class DockerApi {
  readonly #engine: DockerEngine;

  constructor(open: Open) {
    this.#engine = new DockerEngine(open);
  }

  close(): void {
    this.#engine.close();
  }

  version(): Promise<EngineVersion> {
    return this.#engine.version();
  }

  async hasImage(ref: string): Promise<boolean> {
    return (await this.inspectImage(ref)) !== null;
  }

  async inspectImage(ref: string): Promise<ImageFacts | null> {
    const found = await this.#engine.find<InspectedImage>(get(`/images/${segments(ref)}/json`));
    return found === null ? null : factsOf(found);
  }

  async images(labels: Labels): Promise<ImageSummary[]> {
    return (await this.#engine.ask<ListedImage[]>(get(`/images/json?${labelled(labels)}`))).map(listedImage);
  }

  /** Its name; what it names goes with the last one, and layers with the last image that has them. */
  async removeImage(ref: string): Promise<void> {
    await this.#engine.find({ method: 'DELETE', path: `/images/${segments(ref)}` });
  }

  /** Whoever hangs up ends it. */
  async pullImage(ref: string, onLine?: (line: string) => void, signal?: AbortSignal): Promise<void> {
    const path = `/images/create?${new URLSearchParams(sourceOf(ref))}`;
    await this.#engine.listen({ method: 'POST', path, ...long(signal), timeoutMs: PULL_MS }, async answer => {
      for await (const line of createInterface({ input: answer })) {
        const said = JSON.parse(line) as { status?: string; id?: string; error?: string };
        // It began with 200 before it knew.
        if (said.error !== undefined) throw new DockerFault(500, said.error);
        onLine?.([said.id, said.status].filter(Boolean).join(': '));
      }
    });
  }

  async ensureNetwork(name: string, labels: Labels): Promise<void> {
    const body = { Name: name, Driver: 'bridge', CheckDuplicate: true, Labels: labels };
    const make = (more: object) =>
      this.#engine.ask({ method: 'POST', path: '/networks/create', body: { ...body, ...more } }).catch(unless(409));
    try {
      await make({});
    } catch (error) {
      if (!isPoolEmpty(error)) throw error;
      await firstThatFits(spareSubnets(name), Subnet => make({ IPAM: { Config: [{ Subnet }] } }));
    }
  }

  async removeNetwork(name: string): Promise<void> {
    await this.#engine.find({ method: 'DELETE', path: `/networks/${segments(name)}` });
  }

  /** One that is in it already stays as it is, by the names it has there. */
  async connectNetwork(name: string, container: string, aliases: readonly string[]): Promise<void> {
    const body = { Container: container, EndpointConfig: { Aliases: aliases } };
    const path = `/networks/${segments(name)}/connect`;
    await this.#engine.ask({ method: 'POST', path, body }).catch(error => {
      if (!(error instanceof DockerFault) || !/already exists in network/.test(error.message)) throw error;
    });
  }

  async disconnectNetwork(name: string, container: string): Promise<void> {
    const body = { Container: container, Force: true };
    await this.#engine.find({ method: 'POST', path: `/networks/${segments(name)}/disconnect`, body });
  }

  async networks(labels: Labels): Promise<Labelled[]> {
    return (await this.#engine.ask<ListedByName[]>(get(`/networks?${labelled(labels)}`))).map(named);
  }

  /**
   * Its id. Asked for again under the same name with the same labels it is the one that is there. While another who asked is still served,
   * Docker has given the name away but does not know its container yet.
   */
  async createContainer(spec: ContainerSpec): Promise<string> {
    const path = `/containers/create?name=${encodeURIComponent(spec.name)}`;
    for (let looks = 0; ; looks += 1) {
      try {
        return (await this.#engine.ask<{ Id: string }>({ method: 'POST', path, body: creationOf(spec) })).Id;
      } catch (error) {
        if (!(error instanceof DockerFault) || error.status !== 409) throw error;
        const there = await this.inspectContainer(spec.name);
        if (there !== null && carries(there.labels, spec.labels)) return there.id;
        if (there !== null || looks === MOST_LOOKS) throw error;
        await pause(LOOK_EVERY_MS);
      }
    }
  }

  async startContainer(name: string): Promise<void> {
    await this.#engine.ask({ method: 'POST', path: `/containers/${segments(name)}/start` });
  }

  async stopContainer(name: string, seconds: number): Promise<void> {
    await this.#end('stop', name, seconds);
  }

  async restartContainer(name: string, seconds: number): Promise<void> {
    await this.#end('restart', name, seconds);
  }

  async removeContainer(name: string, { volumes = false }: { volumes?: boolean } = {}): Promise<void> {
    const path = `/containers/${segments(name)}?force=true&v=${volumes}`;
    await this.#engine.find({ method: 'DELETE', path });
  }

  async renameContainer(name: string, to: string): Promise<void> {
    const path = `/containers/${segments(name)}/rename?name=${encodeURIComponent(to)}`;
    await this.#engine.ask({ method: 'POST', path });
  }

  async inspectContainer(name: string): Promise<ContainerState | null> {
    const found = await this.#engine.find<InspectedContainer>(get(`/containers/${segments(name)}/json`));
    return found === null ? null : stateOf(found);
  }

  async containers(labels: Labels, { all = true }: { all?: boolean } = {}): Promise<ContainerSummary[]> {
    const path = `/containers/json?all=${all}&${labelled(labels)}`;
    return (await this.#engine.ask<ListedContainer[]>(get(path))).map(summaryOf);
  }

  /** Until there is no more; a follower's end comes with the container's, and may come before its last words: see `wholeOutput`. */
  async containerLogs(name: string, wish: LogWish): Promise<void> {
    const path = `/containers/${segments(name)}/logs?${logQuery(wish)}`;
    await this.#hear({ ...get(path), ...long(wish.signal) }, wish);
  }

  /** Its exit code, as soon as it does not run. */
  async waitContainer(name: string, signal?: AbortSignal): Promise<number> {
    const path = `/containers/${segments(name)}/wait`;
    const { StatusCode } = await this.#engine.ask<{ StatusCode: number }>({ method: 'POST', path, ...long(signal) });
    return StatusCode;
  }

  /** Runs a program in a container that runs. For small answers: both of its streams, in the order they came. */
  async execute(name: string, words: readonly string[]): Promise<{ exitCode: number; output: string }> {
    const body = { AttachStdout: true, AttachStderr: true, Cmd: words };
    const path = `/containers/${segments(name)}/exec`;
    const { Id } = await this.#engine.ask<{ Id: string }>({ method: 'POST', path, body });
    const chunks: Buffer[] = [];
    const started: Question = { method: 'POST', path: `/exec/${Id}/start`, body: { Detach: false }, isLong: true };
    await this.#hear(started, { onOutput: piece => void chunks.push(piece) });
    const { ExitCode } = await this.#engine.ask<{ ExitCode: number }>(get(`/exec/${Id}/json`));
    return { exitCode: ExitCode, output: Buffer.concat(chunks).toString() };
  }

  async volumes(labels: Labels): Promise<Labelled[]> {
    const { Volumes } = await this.#engine.ask<{ Volumes: ListedByName[] | null }>(get(`/volumes?${labelled(labels)}`));
    return (Volumes ?? []).map(named);
  }

  /** One that is there already stays as it is. */
  async ensureVolume(name: string, labels: Labels): Promise<void> {
    await this.#engine.ask({ method: 'POST', path: '/volumes/create', body: { Name: name, Labels: labels } });
  }

  async removeVolume(name: string): Promise<void> {
    await this.#engine.find({ method: 'DELETE', path: `/volumes/${segments(name)}` });
  }

  async #hear(question: Question, { onOpen, onOutput }: Pick<LogWish, 'onOpen' | 'onOutput'>): Promise<void> {
    const frames = new LogFrames();
    await this.#engine.listen(question, async answer => {
      onOpen?.();
      for await (const chunk of answer) for (const [piece, from] of frames.take(chunk)) await onOutput(piece, from);
    });
  }

  async #end(how: 'stop' | 'restart', name: string, seconds: number): Promise<void> {
    const path = `/containers/${segments(name)}/${how}?t=${Math.ceil(seconds)}`;
    await this.#engine.ask({ method: 'POST', path, isLong: true, timeoutMs: seconds * 1000 + GRACE_MS });
  }
}

interface ListedByName {
  Name: string;
  Labels: Record<string, string> | null;
}

const named = ({ Name, Labels }: ListedByName): Labelled => ({ name: Name, labels: Labels ?? {} });

const get = (path: string): Question => ({ method: 'GET', path });

const long = (signal: AbortSignal | undefined) => ({ isLong: true, timeoutMs: null, ...(signal ? { signal } : {}) });

/** The slashes of an image's name are part of the path. */
const segments = (ref: string): string => ref.split('/').map(encodeURIComponent).join('/');

const labelled = (labels: Labels): URLSearchParams => {
  const label = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return new URLSearchParams({ filters: JSON.stringify({ label }) });
};

const carries = (labels: Labels, wanted: Labels): boolean =>
  Object.entries(wanted).every(([key, value]) => labels[key] === value);

const unless = (status: number) => (error: unknown) => {
  if (!(error instanceof DockerFault) || error.status !== status) throw error;
};

async function firstThatFits(subnets: Iterable<string>, attempt: (subnet: string) => Promise<unknown>): Promise<void> {
  for (const subnet of subnets) {
    try {
      await attempt(subnet);
      return;
    } catch (error) {
      if (!isSubnetTaken(error)) throw error;
    }
  }
  throw new DockerFault(409, 'Docker has no addresses left for another network');
}

/** Without a tag every one of them would be pulled. */
function sourceOf(ref: string): { fromImage: string; tag?: string } {
  if (ref.includes('@')) return { fromImage: ref };
  const [, name = ref, tag = 'latest'] = /^(.*?)(?::([^/:]+))?$/s.exec(ref) ?? [];
  return { fromImage: name, tag };
}

function logQuery({ tail, since, follow = false, timestamps = false }: LogWish): URLSearchParams {
  return new URLSearchParams({
    stdout: 'true',
    stderr: 'true',
    follow: String(follow),
    timestamps: String(timestamps),
    tail: tail === undefined ? 'all' : String(tail),
    ...(since === undefined ? {} : { since: (since.getTime() / 1000).toFixed(3) }),
  });
}
