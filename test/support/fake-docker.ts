import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ContainerOutput } from './container-output.ts';

type Labels = Record<string, string>;

export interface FakeContainer {
  name: string;
  labels: Labels;
  state: 'running' | 'exited' | 'restarting';
  exitCode?: number;
  restartCount?: number;
  isOutOfMemory?: boolean;
  startedAt?: Date;
}

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

  async #answer({ method = '', url = '' }: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(url, 'http://docker');
    const path = decodeURIComponent(pathname.replace(/^\/v[\d.]+/, ''));
    const isQuestion = method === 'GET';
    const printing = this.containers.get(/^\/containers\/([^/]+)\/logs$/.exec(path)?.[1] ?? '');
    if (printing) {
      this.output.serve(printing.name, searchParams, response, printing.state !== 'exited');
      return;
    }
    if (!isQuestion) {
      const what = `${method} ${path}`;
      this.told.push(what);
      await this.before?.(what);
    }
    const body = isQuestion ? this.#look(path, labelsIn(searchParams)) : this.#do(method, path);
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
    const container = this.containers.get(/^\/containers\/([^/]+)\/json$/.exec(path)?.[1] ?? '');
    return container && inspected(container);
  }

  /** Null for what was done. */
  #do(method: string, path: string): null | undefined {
    const [, kind = '', name = '', verb = ''] =
      /^\/(containers|images|networks|volumes)\/(.+?)(?:\/(start|stop|restart))?$/.exec(path) ?? [];
    const container = this.containers.get(name);
    if (method === 'DELETE') return this.#shelf(kind)?.delete(name) ? null : undefined;
    if (container === undefined) return undefined;
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

const listed = ({ name, labels, state }: FakeContainer) => ({
  ...{ Id: name, Names: [`/${name}`], Image: 'app', State: state, Created: 0, Labels: labels },
});

const inspected = (container: FakeContainer) => ({
  ...{ Id: container.name, Name: `/${container.name}`, Image: 'app', RestartCount: container.restartCount ?? 0 },
  State: {
    Running: container.state !== 'exited',
    Restarting: container.state === 'restarting',
    OOMKilled: container.isOutOfMemory ?? false,
    ExitCode: container.exitCode ?? 0,
    Error: '',
    StartedAt: (container.startedAt ?? new Date(0)).toISOString(),
    FinishedAt: new Date(0).toISOString(),
  },
  Config: { Image: 'app', Labels: container.labels },
  NetworkSettings: { Networks: {} },
});

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
