import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { Statement } from '../../src/database/statement.ts';

let pool: pg.Pool;
let sent: string[];
beforeAll(async () => {
  pool = new pg.Pool({ connectionString: process.env.SLIPWAY_TEST_CLUSTER, max: 1, options: '-c timezone=UTC' });
});
afterAll(() => pool.end());

/** What goes over the wire from now on: the letters of its messages, write by write. */
async function listen(): Promise<void> {
  sent = [];
  const client = await pool.connect();
  const { stream } = (client as unknown as { connection: { stream: { write(bytes: Buffer): boolean } } }).connection;
  const write = stream.write.bind(stream);
  stream.write = (bytes: Buffer) => {
    sent.push(lettersOf(bytes));
    return write(bytes);
  };
  client.release();
}

function lettersOf(bytes: Buffer): string {
  if (bytes.length === 0) return '';
  return String.fromCharCode(bytes.readUInt8(0)) + lettersOf(bytes.subarray(1 + bytes.readUInt32BE(1)));
}

test('rows have the types of the read layer, and nulls stay nulls', async () => {
  const types = new Statement(
    'types',
    `select $1::uuid as id, $2::timestamptz as at, 7::bigint as seq, 3 as "wholeNumber", true as flag,
     '{"a":[1,null]}'::jsonb as data, array['x','y'] as tags, null as nothing, null::timestamptz as never`,
  );
  const id = '01a1dd4b-cdbb-78a1-a06e-6ab63cc384ea';
  const [row] = await types.run(pool, [id, new Date('2026-01-31T12:00:00.5Z')]);
  expect(row).toEqual({
    id,
    at: '2026-01-31T12:00:00.500Z',
    seq: 7,
    wholeNumber: 3,
    flag: true,
    data: { a: [1, null] },
    tags: ['x', 'y'],
    nothing: null,
    never: null,
  });
});

test('a connection parses and describes a statement once', async () => {
  const squares = new Statement('squares', 'select n * n as square from generate_series(1, $1::int) as n');
  await listen();
  expect(await squares.run(pool, [3])).toEqual([{ square: 1 }, { square: 4 }, { square: 9 }]);
  expect(sent).toEqual(['PBDES']);
  sent = [];
  expect(await squares.run(pool, [0])).toEqual([]);
  expect(await squares.run(pool, [1])).toEqual([{ square: 1 }]);
  expect(sent).toEqual(['BES', 'BES']);
});

test('a statement that returns nothing has no rows', async () => {
  const nothing = new Statement('nothing', 'create temporary table if not exists nothing (n integer)');
  expect(await nothing.run(pool, [])).toEqual([]);
  expect(await nothing.run(pool, [])).toEqual([]);
});

test('a failed run rejects with the code of the server, and the next one works', async () => {
  const inverse = new Statement('inverse', 'select 12 / $1::int as inverse');
  await expect(inverse.run(pool, [0])).rejects.toMatchObject({ code: '22012' });
  await expect(inverse.run(pool, ['many'])).rejects.toMatchObject({ code: '22P02' });
  expect(await inverse.run(pool, [4])).toEqual([{ inverse: 3 }]);
});

test('a value that cannot be spelled is refused before anything is sent', async () => {
  const given = new Statement('given', 'select $1::text as given');
  const unspeakable = {
    toPostgres: () => {
      throw new Error('no word for it');
    },
  };
  await expect(given.run(pool, [unspeakable])).rejects.toThrow('no word for it');
  expect(await given.run(pool, ['ä "quoted"'])).toEqual([{ given: 'ä "quoted"' }]);
});
