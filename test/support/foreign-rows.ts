import { randomUUID } from 'node:crypto';
import type { TestApp } from './create-app.ts';

interface Column {
  table: string;
  column: string;
  type: string;
  isNeeded: boolean;
  /** The table it refers to. */
  parent: string | null;
  /** The first of its choices, where it has some. */
  choice: string | null;
}

const COLUMNS = `
select c.table_name as table, c.column_name as column, c.data_type as type,
  c.is_nullable = 'NO' and c.column_default is null as "isNeeded",
  (select confrelid::regclass::text from pg_constraint where contype = 'f' and conrelid = c.table_name::regclass
    and conkey = array[c.ordinal_position]::int2[] limit 1) as parent,
  (select substring(pg_get_constraintdef(oid) from '''([^'']+)''') from pg_constraint where contype = 'c'
    and conrelid = c.table_name::regclass and conkey = array[c.ordinal_position]::int2[] limit 1) as choice
from information_schema.columns c
where c.table_schema = 'public' and exists (select from information_schema.columns w
  where w.table_schema = 'public' and w.table_name = c.table_name and w.column_name = 'workspace_id')
order by c.table_name, c.ordinal_position`;

/** A real row of the workspace in every table that knows workspaces, made up where there is none. Returns their ids by table. */
export async function rowInEveryTable(app: TestApp, workspaceId: string): Promise<Map<string, string>> {
  const columns = await app.sql<Column>(COLUMNS);
  const tables = [...new Set(columns.filter(isId).map(({ table }) => table))];
  const ids = new Map<string, string>([['workspace', workspaceId]]);
  for (const table of tables) ids.set(table, (await existing(app, table, workspaceId)) ?? randomUUID());
  let left = tables;
  for (let pass = 0; left.length > 0 && pass < tables.length; pass += 1) {
    const failed: string[] = [];
    for (const table of left) {
      if ((await existing(app, table, workspaceId)) !== undefined) continue;
      const own = columns.filter(column => column.table === table);
      if (!(await insert(app, table, own, ids))) failed.push(table);
    }
    left = failed;
  }
  if (left.length > 0) throw new Error(`no row could be made up in ${left.join(', ')}`);
  return ids;
}

const isId = ({ column, type }: Column): boolean => column === 'id' && type === 'uuid';

async function existing(app: TestApp, table: string, workspaceId: string): Promise<string | undefined> {
  const [row] = await app.sql<{ id: string }>(`select id from "${table}" where workspace_id = $1 limit 1`, [
    workspaceId,
  ]);
  return row?.id;
}

/** Whether it could be inserted: a row it refers to may not be there yet. */
async function insert(app: TestApp, table: string, columns: Column[], ids: Map<string, string>): Promise<boolean> {
  const given = columns.filter(({ isNeeded, parent, column }) => isNeeded || parent !== null || column === 'id');
  const names = given.map(({ column }) => `"${column}"`).join(', ');
  const marks = given.map((_, index) => `$${index + 1}`).join(', ');
  const values = given.map(column => madeUp(column, ids));
  return app.sql(`insert into "${table}" (${names}) values (${marks})`, values).then(
    () => true,
    (error: { code?: string }) => {
      if (error.code === '23503') return false;
      throw error;
    },
  );
}

function madeUp({ table, column, type, parent, choice }: Column, ids: Map<string, string>): unknown {
  if (column === 'id') return ids.get(table);
  if (column === 'workspace_id') return ids.get('workspace');
  if (parent !== null) return ids.get(parent.replaceAll('"', '')) ?? null;
  if (choice !== null) return choice;
  if (type === 'uuid') return randomUUID();
  if (type.startsWith('timestamp')) return new Date();
  if (type === 'jsonb' || type === 'json') return '{}';
  if (type === 'boolean') return false;
  if (['integer', 'bigint', 'smallint', 'numeric'].includes(type)) return 1;
  return type === 'ARRAY' ? [] : `made up ${randomUUID()}`.slice(0, 16);
}
