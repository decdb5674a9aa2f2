import { newId } from '../../src/id.ts';
import { type Person, TestApp } from './create-app.ts';
import { restEngine } from './deployments.ts';
import { eventually } from './eventually.ts';
import { GitServer } from './git-server.ts';
import { type Door, type Outcome, ThreeDoors } from './three-doors.ts';
import { watchAnalysis } from './watching.ts';

type Args = Record<string, unknown>;
type RouteName = Parameters<ThreeDoors['call']>[1];

export interface EnvironmentAnswer {
  id: string;
  projectId: string;
  name: string;
  slug: string;
  branch: string | null;
  serverId: string | null;
  status: string;
  needsDeploy: boolean;
  currentDeploymentId: string | null;
  latestDeploymentId: string | null;
  version: number;
}

/** Servers that do not answer are waited for a while. */
const RUN_MS = 60_000;

export interface LiveRelease {
  serverId?: string;
  hostPort?: number;
  status?: string;
}

/** A service, somebody in it, and projects whose repository was analysed. */
export class EnvironmentBench {
  #count = 0;

  private constructor(
    readonly git: GitServer,
    readonly app: TestApp,
    readonly doors: ThreeDoors,
    readonly ann: Person,
  ) {}

  static async start(settings: Record<string, string> = {}): Promise<EnvironmentBench> {
    const git = await GitServer.start();
    const reach = { OUTBOUND_ALLOW: '127.0.0.0/8', OUTBOUND_CA_FILE: git.caFile };
    const app = await TestApp.start({ ...reach, ...settings });
    // What is queued stays queued: these environments have no real server to be deployed to.
    await restEngine(app);
    return new EnvironmentBench(git, app, await ThreeDoors.of(app), await app.register());
  }

  async stop(): Promise<void> {
    await this.app.stop();
    await this.git.stop();
  }

  call(door: Door, name: RouteName, args: Args, token: string | undefined = this.ann.token): Promise<Outcome> {
    return this.doors.call(door, name, args, { token });
  }

  /** Analysed to its end; of an address that leads nowhere that is a failure. */
  async project(address?: string): Promise<string> {
    this.#count += 1;
    const shop = { 'package.json': '{"scripts":{"start":"node ."}}' };
    const repository = address ?? (await this.git.publish(`shop-${this.#count}`, shop));
    const body = { name: 'Shop', repository };
    const { token } = this.ann;
    const { id } = (await this.app.rest<{ id: string }>('POST', '/projects', { token, body })).body;
    await watchAnalysis(this.app, this.ann, id);
    return id;
  }

  async environment(wish: Args & { projectId: string }): Promise<EnvironmentAnswer> {
    this.#count += 1;
    const body = { name: `production ${this.#count}`, ...wish };
    const made = await this.app.rest<EnvironmentAnswer>('POST', '/environments', { token: this.ann.token, body });
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    return made.body;
  }

  async get(id: string): Promise<EnvironmentAnswer> {
    return (await this.app.rest<EnvironmentAnswer>('GET', `/environments/${id}`, { token: this.ann.token })).body;
  }

  /** A machine that never answers: its name has no address. */
  async server(place: object = { host: 'server.invalid', username: 'root' }): Promise<string> {
    this.#count += 1;
    const body = { name: `web ${this.#count}`, ...place };
    return (await this.app.rest<{ id: string }>('POST', '/servers', { token: this.ann.token, body })).body.id;
  }

  /** As the engine leaves it behind when a deployment has gone live. */
  async makeLive(environment: EnvironmentAnswer, release: LiveRelease = {}): Promise<string> {
    const id = newId();
    const serverId = release.serverId ?? environment.serverId;
    const commit = { sha: 'c'.repeat(40), message: 'First', author: 'Ann' };
    await this.app.sql(
      `insert into deployment (id, created_at, workspace_id, project_id, environment_id, server_id, number, status, trigger,
         is_finished, commit, branch, image, app_port, host_port, started_at, finished_at)
       values ($1, now(), $2, $3, $4, $5, 1000, 'LIVE', 'MANUAL', true, $6, 'main', $7, 3000, $8, now(), now())`,
      [
        ...[id, this.ann.workspaceId, environment.projectId, environment.id, serverId],
        ...[JSON.stringify(commit), `slipway/${environment.id}:${id}`, release.hostPort ?? null],
      ],
    );
    await this.app.sql(
      `update environment set current_deployment_id = $2, latest_deployment_id = $2, server_id = $3, status = $4,
         needs_deploy = false, deployment_count = 1000 where id = $1`,
      [environment.id, id, serverId, release.status ?? 'LIVE'],
    );
    return id;
  }

  /** The run once it is over. */
  ended({ id }: { id: string }): Promise<RunAnswer> {
    return eventually(async () => {
      const { body } = await this.app.rest<RunAnswer>('GET', `/runs/${id}`, { token: this.ann.token });
      return body.finishedAt === null ? undefined : body;
    }, RUN_MS);
  }

  /** As the clock does it every minute, but now. */
  async look(): Promise<void> {
    const { boss } = this.app.app.queue;
    const id = (await boss.send('apps.watch', {})) ?? '';
    await eventually(async () => (await boss.findJobs('apps.watch', { id }))[0]?.state === 'completed', RUN_MS);
  }

  /** The rows of its deployments, the newest first. */
  deployments(environmentId: string): Promise<DeploymentRow[]> {
    return this.app.sql<DeploymentRow>(
      `select id, status, trigger, server_id as "serverId", wanted_commit as "wantedCommit", branch, image,
         superseded_by as "supersededBy", has_leftovers as "hasLeftovers" from deployment where environment_id = $1 order by number desc`,
      [environmentId],
    );
  }
}

export interface RunAnswer {
  status: string;
  steps: { name: string; status: string; message: string | null }[];
  error: { code: string; message: string; hint: string | null } | null;
  leftBehind: string[];
  finishedAt: string | null;
}

export interface DeploymentRow {
  id: string;
  status: string;
  trigger: string;
  serverId: string | null;
  wantedCommit: string | null;
  branch: string | null;
  image: string | null;
  supersededBy: string | null;
  hasLeftovers: boolean;
}
