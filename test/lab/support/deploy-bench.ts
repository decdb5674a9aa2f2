import { type Person, TestApp } from '../../support/create-app.ts';
import type { Answer } from '../../support/doors.ts';
import { eventually } from '../../support/eventually.ts';
import { GitServer } from '../../support/git-server.ts';
import { LabServer, type LabServerWish } from './lab-server.ts';

export interface EnvironmentAnswer {
  id: string;
  projectId: string;
  slug: string;
  status: string;
  statusReason: string | null;
  needsDeploy: boolean;
  url: string | null;
  serverId: string | null;
  currentDeploymentId: string | null;
  latestDeploymentId: string | null;
}

export interface DeploymentAnswer {
  id: string;
  number: number;
  status: string;
  phase: string | null;
  isFinished: boolean;
  image: string | null;
  commit: { sha: string; message: string } | null;
  error: { phase: string | null; code: string; message: string; hint: string | null } | null;
  phases: { name: string; startedAt: string; finishedAt: string | null }[];
  createdAt: string;
  finishedAt: string | null;
}

/** Images that the lab's servers need before anything can be deployed on them. */
export const IMAGES = ['caddy:2', 'node:24-bookworm-slim'];

/** What a Git server of the lab needs to be reached. */
export const gitSettings = (git: GitServer) => ({
  OUTBOUND_ALLOW: '127.0.0.0/8,::1/128',
  OUTBOUND_CA_FILE: git.caFile,
});

/** An application that says what it is told, and in which version. */
export const webApp = (text: string, more: Record<string, string> = {}): Record<string, string> => ({
  Dockerfile: [
    'FROM node:24-bookworm-slim',
    'WORKDIR /app',
    'COPY . .',
    'EXPOSE 8080',
    'CMD ["node", "server.js"]',
  ].join('\n'),
  'server.js': `require('http').createServer((q, s) => s.end(${JSON.stringify(text)})).listen(8080)`,
  ...more,
});

export type Call = <Body>(method: string, path: string, body?: object) => Promise<Answer<Body>>;

/** Somebody signed in to a service, a Git server and a machine to deploy to. */
export class DeployBench {
  constructor(
    private readonly call: Call,
    readonly git: GitServer,
    readonly server: LabServer,
    readonly serverId: string,
  ) {}

  rest<Body = never>(method: string, path: string, body?: object): Promise<Answer<Body>> {
    return this.call<Body>(method, path, body);
  }

  /** A project of a new repository, analysed. */
  async project(name: string, files: Record<string, string>): Promise<{ projectId: string; path: string }> {
    const repository = await this.git.publish(name, files);
    const made = await this.rest<{ id: string }>('POST', '/projects', { name, repository });
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    const projectId = made.body.id;
    await eventually(async () => {
      const { status } = (await this.rest<{ status: string }>('GET', `/projects/${projectId}`)).body;
      return status !== 'ANALYZING';
    });
    return { projectId, path: `${name}.git` };
  }

  /** A project with one environment on the bench's server. */
  async environment(
    name: string,
    files: Record<string, string>,
    more: object = {},
  ): Promise<{ id: string; path: string; projectId: string }> {
    const { projectId, path } = await this.project(name, files);
    const environment = { name: 'production', serverId: this.serverId, ...more };
    const done = await this.rest<{ environment: { id: string } }>('POST', `/projects/${projectId}/finalize`, {
      environment,
    });
    if (done.status !== 200) throw new Error(JSON.stringify(done.body));
    return { id: done.body.environment.id, path, projectId };
  }

  async get(id: string): Promise<EnvironmentAnswer> {
    return (await this.rest<EnvironmentAnswer>('GET', `/environments/${id}`)).body;
  }

  /** Asks for a deployment and waits for its end. */
  async deploy(environmentId: string, body: object = {}): Promise<DeploymentAnswer> {
    const asked = await this.rest<DeploymentAnswer>('POST', `/environments/${environmentId}/deployments`, body);
    if (asked.status !== 202) throw new Error(JSON.stringify(asked.body));
    return this.finished(environmentId, asked.body.id);
  }

  async finished(environmentId: string, id: string): Promise<DeploymentAnswer> {
    for (;;) {
      const path = `/environments/${environmentId}/deployments/${id}?wait=30`;
      const { body } = await this.rest<DeploymentAnswer>('GET', path);
      if (body.isFinished) return body;
    }
  }

  async log(environmentId: string, id: string): Promise<string> {
    const path = `/environments/${environmentId}/deployments/${id}/logs?limit=100`;
    const { body } = await this.rest<{ message: string }[]>('GET', path);
    return body.map(({ message }) => message).join('\n');
  }

  /** What the world sees at the environment's address. */
  async page(id: string, path = '/'): Promise<string> {
    const { url } = await this.get(id);
    const answer = await fetch(`${url}${path}`, { signal: AbortSignal.timeout(5000) });
    return `${answer.status} ${await answer.text()}`;
  }

  /** All that is on the server of an environment: containers, images, networks and volumes with its label. */
  async remains(environmentId: string): Promise<string> {
    const label = `label=slipway.environment=${environmentId}`;
    const lists = [
      ['ps', '--all', '--quiet'],
      ['images', '--quiet'],
      ['network', 'ls', '--quiet'],
      ['volume', 'ls', '--quiet'],
    ];
    const found = await Promise.all(lists.map(words => this.server.exec('docker', ...words, '--filter', label)));
    return found.filter(text => text !== '').join('\n');
  }
}

/** A bench whose service is in this process. */
export class LocalBench extends DeployBench {
  private constructor(
    readonly app: TestApp,
    readonly ann: Person,
    call: Call,
    git: GitServer,
    server: LabServer,
    serverId: string,
  ) {
    super(call, git, server, serverId);
  }

  static async start(settings: Record<string, string> = {}, wish: LabServerWish = {}): Promise<LocalBench> {
    const git = await GitServer.start();
    const server = await LabServer.start({ hasDocker: true, ...wish });
    await server.load(...IMAGES);
    const app = await TestApp.start({ ...gitSettings(git), ...settings });
    const ann = await app.register();
    const call: Call = (method, path, body) => app.rest(method, path, { token: ann.token, ...(body ? { body } : {}) });
    return new LocalBench(app, ann, call, git, server, await addServer(call, server));
  }

  async stop(): Promise<void> {
    await this.app.stop();
    await this.server.stop();
    await this.git.stop();
  }
}

/** Adds a machine of the lab and waits until it is ready. */
export async function addServer(call: Call, server: LabServer, name = 'lab'): Promise<string> {
  const body = { name, host: server.address, username: 'deploy', privateKey: server.privateKey };
  const { id } = (await call<{ id: string }>('POST', '/servers', body)).body;
  await eventually(async () => (await call<{ status: string }>('GET', `/servers/${id}`)).body.status === 'READY');
  return id;
}
