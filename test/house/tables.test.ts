import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ormConfig } from '../../mikro-orm.config.ts';
import { Database } from '../../src/database/database.ts';
import { silentLog, testConfig } from '../support/settings.ts';
import { cloneDatabase, dropDatabase } from '../support/test-database.ts';

let databaseUrl: string;
let database: Database;
beforeAll(async () => {
  databaseUrl = await cloneDatabase();
  database = await Database.open(testConfig({ DATABASE_URL: databaseUrl }), ormConfig, silentLog);
});
afterAll(async () => {
  await database.close();
  await dropDatabase(databaseUrl);
});

/** Tables without an entity: counters are counted by SQL alone, and the ORM keeps its own book. */
const WITHOUT_ENTITY = ['mikro_orm_migrations', 'rate_counter'];

type Columns = Record<string, string[]>;

/** Types that hold the same. */
const KINDS: readonly [RegExp, string][] = [
  [/\[\]$/, 'list'],
  [/^(text|varchar|character varying|char)/, 'text'],
  [/^(int|integer|smallint)/, 'integer'],
  [/^timestamp/, 'moment'],
  [/^json/, 'json'],
  [/^bool/, 'boolean'],
];
const kindOf = (type: string): string => KINDS.find(([pattern]) => pattern.test(type))?.[1] ?? type;
const describeColumn = (name: string, type: string, isNullable: boolean) =>
  `${name} ${kindOf(type)}${isNullable ? ' null' : ''}`;

function columnsOfEntities(): Columns {
  const tables = [...database.orm.getMetadata().getAll().values()].filter(
    ({ abstract, embeddable }) => !abstract && !embeddable,
  );
  return Object.fromEntries(
    tables.map(({ tableName, props }) => [
      tableName,
      props
        .filter(({ persist, fieldNames }) => persist !== false && fieldNames)
        .map(prop => describeColumn(prop.fieldNames[0] ?? '', prop.columnTypes?.[0] ?? '', prop.nullable === true))
        .sort(),
    ]),
  );
}

async function columnsOfTables(): Promise<Columns> {
  const { rows } = await database.pool.query<{ table: string; name: string; type: string; isNullable: boolean }>(`
    select relname as table, attname as name, format_type(atttypid, atttypmod) as type, not attnotnull as "isNullable"
    from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = 'public'::regnamespace and relkind = 'r' and attnum > 0 and not attisdropped`);
  const byTable = Object.groupBy(
    rows.filter(({ table }) => !WITHOUT_ENTITY.includes(table)),
    ({ table }) => table,
  );
  return Object.fromEntries(
    Object.entries(byTable).map(([table, columns = []]) => [
      table,
      columns.map(({ name, type, isNullable }) => describeColumn(name, type, isNullable)).sort(),
    ]),
  );
}

test('every entity has the columns of its table, and every table those of its entity', async () => {
  expect(columnsOfEntities()).toEqual(await columnsOfTables());
});

test('a column more, or one that may be null, would be seen', async () => {
  await database.pool.query(
    'alter table workspace add column colour text; alter table session alter column user_id drop not null',
  );
  const [entities, tables] = [columnsOfEntities(), await columnsOfTables()];
  expect(tables.workspace).not.toEqual(entities.workspace);
  expect(tables.session).not.toEqual(entities.session);
  expect(tables.run).toEqual(entities.run);
});
