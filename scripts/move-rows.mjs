/**
 * Copies everything a service knows from one migrated database to another, which is still empty. Tables are found, not listed, and rows
 * travel as JSON, so it needs neither pg_dump nor the same version of PostgreSQL on both sides.
 */

const PAGE = 500;
/** The migrations are the target's own, and counters mean nothing after a minute. */
const LEFT_BEHIND = ['mikro_orm_migrations', 'rate_counter'];

/** Takes two connected clients of pg; all or nothing. Returns how many rows went to each table. */
export async function moveRows(from, to) {
  await checkFit(from, to);
  await from.query('begin isolation level repeatable read read only');
  await to.query('begin');
  try {
    const counts = await copyAll(from, to);
    await to.query('commit');
    return counts;
  } catch (error) {
    await to.query('rollback');
    throw error;
  } finally {
    await from.query('rollback');
  }
}

async function checkFit(from, to) {
  const [wanted, found] = [await migrationsOf(from), await migrationsOf(to)];
  if (found === undefined)
    throw new Error('The target has no tables yet: start the service on it once, and stop it again.');
  if (wanted !== found)
    throw new Error('The two databases are of different versions: start this same service once on each.');
  const { rows } = await to.query('select count(*)::int as count from users');
  if (rows[0].count > 0) throw new Error('The target has accounts already: nothing was copied.');
}

async function migrationsOf(client) {
  const { rows } = await client.query(`select to_regclass('public.mikro_orm_migrations') as name`);
  if (rows[0].name === null) return undefined;
  const migrations = await client.query('select name from mikro_orm_migrations order by name');
  return migrations.rows.map(({ name }) => name).join();
}

async function copyAll(from, to) {
  const counts = {};
  // Made by the target at its first start, and to be replaced by the one that knows the setup code.
  await to.query('delete from instance');
  // Without accounts there is no work but what the clock began.
  await to.query('delete from pgboss.job');
  for (const name of await tablesOf(from)) counts[name] = await copy(from, to, 'public', name, '');
  counts['waiting jobs'] = await copy(from, to, 'pgboss', 'job', `where state in ('created', 'retry', 'active')`);
  for (const { name, value, called } of await sequencesOf(from))
    await to.query('select setval($1, $2, $3)', [name, value, called]);
  return counts;
}

/** What the clock begins, both may have begun in the same minute: once is enough. */
const ONCE = ' on conflict do nothing';

async function tablesOf(client) {
  const { rows } = await client.query(
    `select table_name as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> all($1) order by 1`,
    [LEFT_BEHIND],
  );
  return rows.map(({ name }) => name);
}

/** By a cursor, so that a large table passes in pieces. The text of the JSON goes over untouched: no number is rounded on the way. */
async function copy(from, to, schema, name, condition) {
  const table = `"${schema}"."${name}"`;
  const columns = await columnsOf(from, schema, name);
  await from.query(
    `declare passing no scroll cursor for select to_json(t)::text as row from (select ${columns} from ${table} ${condition}) t`,
  );
  let count = 0;
  for (;;) {
    const { rows } = await from.query(`fetch ${PAGE} from passing`);
    if (rows.length === 0) break;
    const page = `[${rows.map(({ row }) => row).join(',')}]`;
    await to.query(
      `insert into ${table} (${columns}) overriding system value select ${columns} from json_populate_recordset(null::${table}, $1::json)${schema === 'pgboss' ? ONCE : ''}`,
      [page],
    );
    count += rows.length;
  }
  await from.query('close passing');
  return count;
}

async function columnsOf(client, schema, name) {
  const { rows } = await client.query(
    `select column_name as name from information_schema.columns
     where table_schema = $1 and table_name = $2 and is_generated = 'NEVER' order by ordinal_position`,
    [schema, name],
  );
  return rows.map(column => `"${column.name}"`).join(', ');
}

async function sequencesOf(client) {
  const { rows } = await client.query(`select sequencename as name from pg_sequences where schemaname = 'public'`);
  const sequences = [];
  for (const { name } of rows.filter(({ name }) => !LEFT_BEHIND.some(table => name.startsWith(table)))) {
    const state = await client.query(`select last_value as value, is_called as called from "${name}"`);
    sequences.push({ name, ...state.rows[0] });
  }
  return sequences;
}
