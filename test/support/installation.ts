import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { LOCK } from '../../src/database/lock.ts';
import { EVENT_CHANNEL } from '../../src/events/unit-of-work.ts';
import { EMAIL, Service } from './service.ts';

export interface InstallationOptions {
  env?: Record<string, string>;
  /** Figures are taken from the service as it is built for users. */
  isBuilt?: boolean;
}

/** A service with its own folder and its own PostgreSQL, and somebody signed in. */
export class Installation {
  #client: pg.Client;

  private constructor(
    readonly dataDir: string,
    readonly databaseUrl: string,
    readonly service: Service,
    readonly token: string,
    readonly workspaceId: string,
    client: pg.Client,
  ) {
    this.#client = client;
  }

  static async start({ env = {}, isBuilt }: InstallationOptions = {}): Promise<Installation> {
    const dataDir = await mkdtemp(join(tmpdir(), 'slipway-installation-'));
    const service = await Service.start({ DATA_DIR: dataDir, ...env }, isBuilt);
    const socket = encodeURIComponent(join(dataDir, 'postgres', 'socket'));
    const databaseUrl = `postgresql://slipway@/slipway?host=${socket}`;
    const client = await connect(databaseUrl);
    const { rows } = await client.query('select workspace_id as id from users where email = $1', [EMAIL]);
    return new Installation(dataDir, databaseUrl, service, await service.signIn(), rows[0].id, client);
  }

  /** Whatever comes of the work, nothing is left running. */
  static async during<Result>(
    options: InstallationOptions,
    work: (installation: Installation) => Promise<Result>,
  ): Promise<Result> {
    const installation = await Installation.start(options);
    return work(installation).finally(() => installation.stop());
  }

  async sql<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#client.query<Row>(text, values)).rows;
  }

  /** After its server was killed, the connection is of no use any more. */
  async reconnect(): Promise<void> {
    await this.#client.end().catch(() => undefined);
    this.#client = await connect(this.databaseUrl);
  }

  /** Events by the thousand, as the unit of work writes them, with so much text in each. */
  async tell(count: number, bytesEach = 100): Promise<void> {
    await this.sql('begin');
    await this.sql('select pg_advisory_xact_lock($1)', [LOCK.events]);
    await this.sql(
      `insert into event (seq, id, workspace_id, kind, action, at, resource_type, resource_id, data)
       select nextval('event_seq'), ${UUID_V7}, $1, 'run_updated', 'UPDATED', now(), 'Run', gen_random_uuid(),
         jsonb_build_object('subject', repeat(md5(number::text), $3 / 32))
       from generate_series(1, $2) as number`,
      [this.workspaceId, count, bytesEach],
    );
    await this.sql(`select pg_notify('${EVENT_CHANNEL}', '')`);
    await this.sql('commit');
  }

  async eventIds(): Promise<string[]> {
    return (await this.sql<{ id: string }>('select id from event order by seq')).map(({ id }) => id);
  }

  async stop(): Promise<void> {
    await this.#client.end().catch(() => undefined);
    if (this.service.isRunning) await this.service.stop();
    await rm(this.dataDir, { recursive: true, force: true, maxRetries: 20 });
  }
}

async function connect(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** PostgreSQL makes them itself from version 18 on only. */
const UUID_V7 = `
encode(overlay(uuid_send(gen_random_uuid()) placing
  substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 'hex')::uuid`;
