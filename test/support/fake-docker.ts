import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { ContainerOutput, frameOf } from './container-output.ts';

type Labels = Record<string, string>;

export interface FakeContainer {
  name: string;
  labels: Labels;
  state: 'created' | 'running' | 'exited' | 'restarting';
  exitCode?: number;
  restartCount?: number;
  isOutOfMemory?: boolean;
  startedAt?: Date;
  image?: string;
  env?: readonly string[];
  /** Of the server's loopback. */
  hostPort?: number;
}

/** How a container is asked for, as far as it is looked at. */
interface Creation {
  Image?: string;
  Env?: string[];
  Labels?: Labels;
  HostConfig?: { PortBindings?: Record<string, { HostPort: string }[]> };
}

type Execute = (words: readonly string[]) => Promise<{ exitCode: number; output: string }>;

/** An engine that has what it is told it has, and does what it is asked in its memory alone. */
export class FakeDocker {
  readonly containers = new Map<string, FakeContainer>();
  readonly images = new Map<string, Labels>();
  readonly networks = new Map<string, Labels>();
  readonly volumes = new Map<string, Labels>();
  readonly output = new ContainerOutput();
  /** What it was told to do, in order. */
  readonly told: string[] = [];
  /** Comes before anything it is told to do. */
  before: ((what: string) => void | Promise<void>) | undefined;
  /** What it refuses to do, and what it says then. */
  readonly refusals = new Map<string, string>();
  /** How long each one was given when it was last stopped. */
  readonly stopSeconds = new Map<string, number>();
  /** Programs in its containers are run by this. */
  execute: Execute = async () => ({ exitCode: 127, output: '' });
  readonly #executed: Awaited<ReturnType<Execute>>[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(): Promise<FakeDocker> {
    const docker = new FakeDocker();
    await new Promise<void>(resolve => docker.#server.listen(0, '127.0.0.1', resolve));
    return docker;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise(resolve => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    const { pathname, searchParams } = new URL(url, 'http://docker');
    const path = decodeURIComponent(pathname.replace(/^\/v[\d.]+/, ''));
    const isQuestion = method === 'GET';
    const printing = this.containers.get(/^\/containers\/([^/]+)\/logs$/.exec(path)?.[1] ?? '');
    if (printing) {
      this.output.serve(printing.name, searchParams, response, printing.state !== 'exited');
      return;
    }
    const what = `${method} ${path}`;
    const sent = (JSON.parse((await text(request)) || '{}') ?? {}) as Record<string, unknown>;
    const begun = /^\/exec\/(\d+)\/start$/.exec(path)?.[1];
    if (begun !== undefined) {
      response.end(frameOf(1, this.#executed[Number(begun)]?.output ?? ''));
      return;
    }
    if (!isQuestion) {
      this.told.push(what);
      await this.before?.(what);
    }
    const refusal = this.refusals.get(what);
    if (refusal !== undefined) {
      send(response, 500, { message: refusal });
      return;
    }
    const body = isQuestion
      ? this.#look(path, labelsIn(searchParams))
      : ((await this.#make(path, searchParams, sent)) ?? this.#do(method, path, searchParams));
    if (body === undefined) send(response, 404, { message: `No such thing: ${path}` });
    else if (body === null) response.writeHead(204).end();
    else send(response, 200, body);
  }

  #look(path: string, wanted: Labels): object | undefined {
    const fitting = ([, labels]: [string, Labels]) =>
      Object.entries(wanted).every(([key, value]) => labels[key] === value);
    if (path === '/version') return { Version: '27.1.0', ApiVersion: '1.46', MinAPIVersion: '1.24' };
    if (path === '/containers/json')
      return [...this.containers.values()].filter(({ name, labels }) => fitting([name, labels])).map(listed);
    if (path === '/images/json')
      return [...this.images]
        .filter(fitting)
        .map(([tag, Labels]) => ({ Id: `sha256:${tag}`, RepoTags: [tag], Labels, Created: 0 }));
    if (path === '/networks') return [...this.networks].filter(fitting).map(([Name, Labels]) => ({ Name, Labels }));
    if (path === '/volumes')
      return { Volumes: [...this.volumes].filter(fitting).map(([Name, Labels]) => ({ Name, Labels })) };
    const executed = this.#executed[Number(/^\/exec\/(\d+)\/json$/.exec(path)?.[1] ?? -1)];
    if (executed !== undefined) return { ExitCode: executed.exitCode };
    const [, image] = /^\/images\/(.+)\/json$/.exec(path) ?? [];
    const Labels = this.images.get(image ?? '');
    if (Labels !== undefined) return { Id: `sha256:${image}`, Size: 1, Config: { Labels } };
    const container = this.containers.get(/^\/containers\/([^/]+)\/json$/.exec(path)?.[1] ?? '');
    return container && inspected(container);
  }

  /** Answers what was made, and undefined if nothing was to be made. */
  async #make(path: string, query: URLSearchParams, sent: Record<string, unknown>): Promise<object | undefined> {
    const { Name = '', Labels = {} } = sent as { Name?: string; Labels?: Labels };
    if (/^\/networks\/[^/]+\/(connect|disconnect)$/.test(path)) return {};
    if (path === '/networks/create') this.networks.set(Name, Labels);
    else if (path === '/volumes/create') this.volumes.set(Name, Labels);
    else if (path === '/containers/create') return this.#create(query.get('name') ?? '', sent);
    else if (/^\/containers\/[^/]+\/exec$/.test(path)) {
      this.#executed.push(await this.execute((sent as { Cmd: string[] }).Cmd));
      return { Id: String(this.#executed.length - 1) };
    } else return undefined;
    return { Name };
  }

  /** What the image says of itself is said of its containers, too, where they do not say otherwise. */
  #create(name: string, { Image = '', Env = [], Labels = {}, HostConfig }: Creation): object {
    const [binding] = Object.values(HostConfig?.PortBindings ?? {}).flat();
    const labels = { ...this.images.get(Image), ...Labels };
    const more = binding === undefined ? {} : { hostPort: Number(binding.HostPort) };
    this.containers.set(name, { name, labels, state: 'created', image: Image, env: Env, ...more });
    return { Id: name };
  }

  /** Null for what was done. */
  #do(method: string, path: string, query: URLSearchParams): null | undefined {
    const [, kind = '', name = '', verb = ''] =
      /^\/(containers|images|networks|volumes)\/(.+?)(?:\/(start|stop|restart))?$/.exec(path) ?? [];
    const container = this.containers.get(name);
    if (method === 'DELETE') return this.#shelf(kind)?.delete(name) ? null : undefined;
    if (container === undefined) return undefined;
    if (verb === 'stop') this.stopSeconds.set(name, Number(query.get('t')));
    container.state = verb === 'stop' ? 'exited' : 'running';
    if (verb !== 'stop') Object.assign(container, { startedAt: new Date(), restartCount: 0 });
    return null;
  }

  #shelf(kind: string): Map<string, unknown> | undefined {
    const shelves: Record<string, Map<string, unknown>> = {
      containers: this.containers,
      images: this.images,
      networks: this.networks,
      volumes: this.volumes,
    };
    return shelves[kind];
  }
}

function labelsIn(query: URLSearchParams): Labels {
  const { label = [] } = JSON.parse(query.get('filters') ?? '{}') as { label?: string[] };
  return Object.fromEntries(label.map(each => each.split('=') as [string, string]));
}

const listed = ({ name, labels, state, image = 'app' }: FakeContainer) => ({
  ...{ Id: name, Names: [`/${name}`], Image: image, State: state, Created: 0, Labels: labels },
});

const NEVER = '0001-01-01T00:00:00Z';

const inspected = (container: FakeContainer) => ({
  ...{ Id: container.name, Name: `/${container.name}`, Image: 'app', RestartCount: container.restartCount ?? 0 },
  State: {
    Running: container.state !== 'exited' && container.state !== 'created',
    Restarting: container.state === 'restarting',
    OOMKilled: container.isOutOfMemory ?? false,
    ExitCode: container.exitCode ?? 0,
    Error: '',
    StartedAt: container.state === 'created' ? NEVER : (container.startedAt ?? new Date(0)).toISOString(),
    FinishedAt: new Date(0).toISOString(),
  },
  Config: { Image: 'app', Labels: container.labels },
  NetworkSettings: { Networks: {} },
});

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
