import 'reflect-metadata';
import { ReflectMetadataProvider } from '@mikro-orm/decorators/legacy';
import { Migrator } from '@mikro-orm/migrations';
import { defineConfig } from '@mikro-orm/postgresql';
import { readConfig } from './src/config.ts';
import { type Connection, poolConfig } from './src/database/connection.ts';
import { entities } from './src/entities/index.ts';
import { migrations } from './src/migrations/index.ts';

const POOL_SIZE = 10;

/** Entities, migrations, connection. `propagationOnPrototype` is off: it makes every property an accessor. */
export const ormConfig = (connection: Connection) =>
  defineConfig({
    entities,
    dbName: databaseOf(connection),
    driverOptions: poolConfig(connection, 'slipway', POOL_SIZE),
    metadataProvider: ReflectMetadataProvider,
    metadataCache: { enabled: false },
    propagationOnPrototype: false,
    extensions: [Migrator],
    migrations: { migrationsList: migrations, snapshot: false, disableForeignKeys: false },
    forceUtcTimezone: true,
    logger: () => undefined,
  });

const databaseOf = (connection: Connection): string =>
  'database' in connection
    ? connection.database
    : (/^[^/]*\/\/[^/]*\/([^/?]+)/.exec(connection.connectionString)?.[1] ?? '');

/** For the mikro-orm command line, which works on DATABASE_URL. */
export default () => ormConfig({ connectionString: readConfig().databaseUrl ?? 'postgresql:///slipway' });
