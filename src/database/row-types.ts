import pg from 'pg';

const TIMESTAMPTZ = 1184;
const BIGINT = 20;

/** PostgreSQL's text for a moment in UTC, `2026-01-31 12:00:00.5+00`, as ISO 8601 with milliseconds. */
export function isoMoment(text: string): string {
  const milliseconds = text.length > 22 ? text.slice(20, -3) : '';
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${milliseconds.padEnd(3, '0')}Z`;
}

const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  [TIMESTAMPTZ]: isoMoment,
  [BIGINT]: Number,
};

/** How the read layer reads column values: moments stay text, sequences are numbers. */
export const rowTypes: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    parsers[oid] ?? pg.types.getTypeParser(oid, format as 'text'),
};
