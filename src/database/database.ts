import { MikroORM, type Options } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { type Connection, poolConfig } from './connection.ts';
import { openEmbeddedPostgres } from './embedded-postgres.ts';
import { Listener } from './listener.ts';
import { exclusively, LOCK } from './lock.ts';
import { Rows } from './rows.ts';

interface Settings {
  databaseUrl: string | undefined;
  dataDir: string;
}

interface Log {
  info(message: string): void;
  warn(context: object, message: string): void;
}

/** One PostgreSQL, as everything above sees it: entities, plain rows, and the ear for NOTIFY. */
export class Database {
  private constructor(
    readonly orm: MikroORM,
    readonly pool: Pool,
    readonly rows: Rows,
    readonly listener: Listener,
    private readonly stopServer: () => Promise<void>,
  ) {}

  static async open(
    settings: Settings,
    ormConfig: (connection: Connection) => Options,
    log: Log,
  ): Promise<Database> {
    const { connection, stop } = await reachServer(settings, log);
    try {
      return await Database.#connect(connection, stop, ormConfig, log);
    } catch (error) {
      await stop();
      throw error;
    }
  }

  static async #connect(
    connection: Connection,
    stop: () => Promise<void>,
    ormConfig: (connection: Connection) => Options,
    log: Log,
  ): Promise<Database> {
    const orm = (await MikroORM.init(ormConfig(connection))) as MikroORM;
    await migrate(orm, connection);
    const pool = (await orm.em.getConnection().getNativeClient()) as Pool;
    const listener = new Listener(poolConfig(connection, 'slipway listener', 1), (message, err) =>
      log.warn({ err }, message),
    );
    await listener.start();
    return new Database(orm, pool, new Rows(orm, pool), listener, stop);
  }

  async close(): Promise<void> {
    await this.listener.stop();
    await this.orm.close(true);
    await this.stopServer();
  }
}

async function reachServer(
  settings: Settings,
  log: Log,
): Promise<{ connection: Connection; stop: () => Promise<void> }> {
  const { databaseUrl, dataDir } = settings;
  if (databaseUrl !== undefined) return { connection: { connectionString: databaseUrl }, stop: async () => undefined };
  const server = await openEmbeddedPostgres({ dataDir, log: line => log.info(line) });
  return { connection: server.connection, stop: () => server.stop() };
}

/** Instances that start together migrate one after the other; where nothing is to be done, nobody waits. */
async function migrate(orm: MikroORM, connection: Connection): Promise<void> {
  if ((await orm.migrator.getPending()).length === 0) return;
  await exclusively(poolConfig(connection, 'slipway migration', 1), LOCK.migrate, () => orm.migrator.up());
}
