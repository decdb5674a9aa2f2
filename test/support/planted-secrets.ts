import type { TestApp } from './create-app.ts';

/** Secrets that were given to the service or by it, and the search for them where they have no business. */
export class PlantedSecrets {
  readonly #tests = new Map<string, { kind: string; isIn: (text: string) => boolean }>();

  get size(): number {
    return this.#tests.size;
  }

  plant(kind: string, secret: string): string {
    if (secret.length < 6) throw new Error(`${kind} is too short to be looked for`);
    this.#tests.set(secret, { kind, isIn: searchFor(secret) });
    return secret;
  }

  /** Which of them a text has, as they are or encoded. */
  foundIn(place: string, text: string, except: readonly string[] = []): string[] {
    const found = [...this.#tests].filter(([secret, { isIn }]) => isIn(text) && !except.includes(secret));
    return found.map(([, { kind }]) => `${kind} in ${place}`);
  }

  /** In every column of every table that can hold text, of ours and of the job queue. */
  async foundInDatabase(app: TestApp): Promise<string[]> {
    const columns = await app.sql<{ schema: string; table: string; column: string }>(
      `select table_schema as schema, table_name as table, column_name as column from information_schema.columns
       where table_schema not in ('pg_catalog', 'information_schema')
       and data_type in ('text', 'character varying', 'character', 'json', 'jsonb', 'bytea', 'ARRAY', 'uuid')`,
    );
    const found: string[] = [];
    for (const { schema, table, column } of columns) {
      const rows = await app.sql<{ value: string }>(
        `select distinct "${column}"::text as value from "${schema}"."${table}" where "${column}" is not null`,
      );
      found.push(...this.foundIn(`${schema}.${table}.${column}`, rows.map(({ value }) => value).join('\n')));
    }
    if (columns.length < 50) throw new Error('the database has more columns than that');
    return found;
  }
}

/** Six digits count only where they stand alone. */
function searchFor(secret: string): (text: string) => boolean {
  const alone = new RegExp(`(?<![\\w.-])${secret}(?![\\w.-])`);
  if (/^\d{6}$/.test(secret)) return text => alone.test(text);
  const forms = encodings(secret);
  return text => forms.some(form => text.includes(form));
}

const encodings = (secret: string): string[] => {
  const bytes = Buffer.from(secret);
  return [
    ...new Set([
      secret,
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret),
      bytes.toString('hex'),
      ...base64(bytes),
    ]),
  ];
};

/** Base64 of a text inside another depends on where it begins. */
const base64 = (bytes: Buffer): string[] =>
  [0, 1, 2].flatMap(shift => {
    const whole = Buffer.concat([Buffer.alloc(shift), bytes]);
    const from = shift === 0 ? 0 : shift + 1;
    return [whole.toString('base64'), whole.toString('base64url')].map(text => text.slice(from, -4).replace(/=+$/, ''));
  });
