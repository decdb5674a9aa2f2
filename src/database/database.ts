import { MikroORM, type Options } from '@mikro-orm/postgresql';
import { Client, type ClientConfig, Pool, type Connection as Wire } from 'pg';
import { type Connection, poolConfig } from './connection.ts';
import { openEmbeddedPostgres } from './embedded-postgres.ts';
import { guardPool } from './guard-pool.ts';
import { Listener } from './listener.ts';
import { exclusively, LOCK } from './lock.ts';
import { takeRows } from './row-stream.ts';
import { Rows } from './rows.ts';

interface Settings {
  databaseUrl: string | undefined;
  dataDir: string;
}

interface Log {
  info(message: string): void;
  warn(context: object, message: string): void;
}

const READ_CONNECTIONS = 10;

/** One PostgreSQL, as everything above sees it: entities, plain rows, and the ear for NOTIFY. */
export class Database {
  private constructor(
    readonly orm: MikroORM,
    readonly pool: Pool,
    readonly rows: Rows,
    readonly listener: Listener,
    private readonly reads: Pool,
    private readonly stopServer: () => Promise<void>,
  ) {}

  static async open(settings: Settings, ormConfig: (connection: Connection) => Options, log: Log): Promise<Database> {
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
    try {
      return await Database.#prepare(orm, connection, stop, log);
    } catch (error) {
      await orm.close(true);
      throw error;
    }
  }

  static async #prepare(orm: MikroORM, connection: Connection, stop: () => Promise<void>, log: Log): Promise<Database> {
    await migrate(orm, connection);
    const pool = (await orm.em.getConnection().getNativeClient()) as Pool;
    guardPool(pool, err => log.warn({ err }, 'A connection to the database was lost'));
    const listener = new Listener(poolConfig(connection, 'slipway listener', 1), (message, err) =>
      log.warn({ err }, message),
    );
    await listener.start();
    const reads = readPool(connection, log);
    return new Database(orm, pool, new Rows(orm, reads), listener, reads, stop);
  }

  async close(): Promise<void> {
    await this.listener.stop();
    await this.reads.end();
    await this.orm.close(true);
    await this.stopServer();
  }
}

/**
 * Reads have connections of their own: a change that reads on the way holds one already, and ten of them that wait
 * for an eleventh would wait for each other.
 */
function readPool(connection: Connection, log: Log): Pool {
  const pool = new Pool({ ...poolConfig(connection, 'slipway reads', READ_CONNECTIONS), Client: Reading });
  return pool.on('error', err => log.warn({ err }, 'A connection to the database was lost'));
}

/** A client whose rows can be read by whoever asked for them. */
class Reading extends Client {
  declare readonly connection: Wire;

  constructor(config?: string | ClientConfig) {
    super(config);
    takeRows(this.connection);
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
