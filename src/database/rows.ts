import type { EntityClass, EntityMetadata, MikroORM } from '@mikro-orm/core';
import type { Pool } from 'pg';
import { Statement } from './statement.ts';

/** An entity as a plain row: the same names, moments as ISO text, hidden properties left out. */
export type Row<T> = {
  [Name in keyof T]: T[Name] extends Date ? string : T[Name] extends Date | null ? string | null : T[Name];
};

type Value = string | number | boolean | null;
export type Conditions<T> = { [Name in keyof T]?: Value | readonly Value[] | Above | undefined };

/** A moment that still lies ahead, or anything else that is more than this. */
interface Above {
  above: Date | number;
}

export interface Page {
  limit: number;
  after?: string | null | undefined;
}

/**
 * The read layer. Lists and hot reads take plain rows by prepared statements instead of hydrating
 * entities, which is most of what a request costs. Column names come from the entities' own metadata.
 */
export class Rows {
  readonly #selects = new Map<EntityClass<object>, Select>();
  readonly #statements = new Map<string, Statement>();

  constructor(
    private readonly orm: MikroORM,
    private readonly pool: Pool,
  ) {}

  /** Newest first; `after` is the id of the last item seen, which need not exist any more. */
  list<T extends object>(entity: EntityClass<T>, where: Conditions<T>, { limit, after }: Page): Promise<Row<T>[]> {
    const { text, values } = this.#where(entity, where);
    const behind = after ? ` and "id" < $${values.push(after)}` : '';
    return this.query(`${text}${behind} order by "id" desc limit $${values.push(limit)}`, values);
  }

  /** The newest rows of each of several parents. */
  listPerParent<T extends object>(
    entity: EntityClass<T>,
    parent: string,
    parentIds: readonly string[],
    workspaceId: string,
    limit: number,
  ): Promise<Row<T>[]> {
    const { text, columns } = this.#select(entity);
    const lateral = `${text} where "${columns.get(parent)}" = parent.id and "workspace_id" = $2 order by "id" desc limit $3`;
    const all = `select child.* from unnest($1::uuid[]) as parent(id) cross join lateral (${lateral}) as child`;
    return this.query(all, [parentIds, workspaceId, limit]);
  }

  async one<T extends object>(entity: EntityClass<T>, where: Conditions<T>): Promise<Row<T> | undefined> {
    const { text, values } = this.#where(entity, where);
    const [row] = await this.query<Row<T>>(`${text} limit 1`, values);
    return row;
  }

  /** Each distinct text is prepared once per connection. Texts come from code: there are as many as there are call sites. */
  query<T extends object>(text: string, values: readonly unknown[]): Promise<T[]> {
    return this.#statement(text).run(this.pool, values);
  }

  hasColumn(entity: EntityClass<object>, property: string): boolean {
    return this.#select(entity).columns.has(property);
  }

  select(entity: EntityClass<object>): string {
    return this.#select(entity).text;
  }

  #where<T extends object>(entity: EntityClass<T>, conditions: Conditions<T>): { text: string; values: unknown[] } {
    const { text, columns } = this.#select(entity);
    const values: unknown[] = [];
    let tests = '';
    for (const name in conditions) {
      const value = conditions[name];
      if (value !== undefined) tests += `${tests && ' and '}${test(columns.get(name), value as Value | Above, values)}`;
    }
    return { text: `${text} where ${tests || 'true'}`, values };
  }

  #select(entity: EntityClass<object>): Select {
    const known = this.#selects.get(entity);
    if (known) return known;
    const made = selectOf(this.orm.getMetadata().get(entity));
    this.#selects.set(entity, made);
    return made;
  }

  #statement(text: string): Statement {
    const known = this.#statements.get(text);
    if (known) return known;
    const made = new Statement(`slipway_${this.#statements.size}`, text);
    this.#statements.set(text, made);
    return made;
  }
}

interface Select {
  text: string;
  columns: ReadonlyMap<string, string>;
}

function selectOf(metadata: EntityMetadata): Select {
  const stored = metadata.props.filter(({ persist, fieldNames }) => persist !== false && fieldNames);
  const columns = new Map(stored.map(({ name, fieldNames }) => [name as string, fieldNames[0] as string]));
  const shown = stored.filter(({ hidden }) => !hidden).map(({ name }) => name as string);
  const list = shown.map(name => (name === columns.get(name) ? `"${name}"` : `"${columns.get(name)}" as "${name}"`));
  return { text: `select ${list.join(', ')} from "${metadata.tableName}"`, columns };
}

function test(column: string | undefined, value: Value | readonly Value[] | Above, values: unknown[]): string {
  if (column === undefined) throw new TypeError('a condition names a property that is no column');
  if (value === null) return `"${column}" is null`;
  if (typeof value === 'object' && 'above' in value) return `"${column}" > $${values.push(value.above)}`;
  return Array.isArray(value) ? `"${column}" = any($${values.push(value)})` : `"${column}" = $${values.push(value)}`;
}
