import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { restCall } from '../../support/doors.ts';
import { eventually } from '../../support/eventually.ts';
import { GitServer } from '../../support/git-server.ts';
import { Service } from '../../support/service.ts';
import { addServer, type Call, DeployBench, gitSettings, IMAGES } from './deploy-bench.ts';
import { LabServer } from './lab-server.ts';

/** A service in a process of its own, which can be killed at any moment and comes back with the same data. */
export class KilledSite {
  #client: pg.Client | undefined;

  private constructor(
    readonly bench: DeployBench,
    readonly dataDir: string,
    private readonly held: { service: Service; token: string },
    private readonly settings: Record<string, string>,
  ) {}

  static async start(): Promise<KilledSite> {
    const git = await GitServer.start();
    const server = await LabServer.start({ hasDocker: true });
    await server.load(...IMAGES);
    const dataDir = await mkdtemp(join(tmpdir(), 'slipway-killed-'));
    const settings = { DATA_DIR: dataDir, ACCESS_TOKEN_TTL: '5h', ...gitSettings(git) };
    const service = await Service.start(settings, Service.isBuilt);
    const held = { service, token: await service.signIn() };
    const call: Call = (method, path, body) =>
      restCall(`${held.service.url}/api/v1${path}`, method, { token: held.token, ...(body ? { body } : {}) });
    const bench = new DeployBench(call, git, server, await addServer(call, server));
    return new KilledSite(bench, dataDir, held, settings);
  }

  get service(): Service {
    return this.held.service;
  }

  /** Killed when the deployment is seen in that phase. */
  async killIn(deploymentId: string, phase: string): Promise<void> {
    await eventually(async () => {
      const [row] = await this.sql<{ phase: string; is_finished: boolean }>(
        'select phase, is_finished from deployment where id = $1',
        [deploymentId],
      );
      if (row?.is_finished) throw new Error(`It was over before ${phase}`);
      return row?.phase === phase;
    }, 120_000);
    await this.service.kill();
  }

  async comeBack(): Promise<void> {
    this.held.service = await Service.start(this.settings, Service.isBuilt);
    await this.#client?.end().catch(() => undefined);
    this.#client = undefined;
  }

  async sql<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    this.#client ??= await this.#connect();
    return (await this.#client.query<Row>(text, values)).rows;
  }

  /** Folders of the control plane that hold what a deployment needs for a while. */
  async tempFiles(): Promise<string[]> {
    return readdir(join(this.dataDir, 'git', 'work')).catch(() => []);
  }

  async stop(): Promise<void> {
    await this.#client?.end().catch(() => undefined);
    if (this.service.isRunning) await this.service.stop();
    await this.bench.server.stop();
    await this.bench.git.stop();
    await rm(this.dataDir, { recursive: true, force: true, maxRetries: 20 });
  }

  async #connect(): Promise<pg.Client> {
    const socket = encodeURIComponent(join(this.dataDir, 'postgres', 'socket'));
    const client = new pg.Client({ connectionString: `postgresql://slipway@/slipway?host=${socket}` });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }
}
