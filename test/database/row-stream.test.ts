import { EventEmitter } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Connection } from 'pg';
import { readRowsBy, takeRows } from '../../src/database/row-stream.ts';

type Field = string | null;

const message = (kind: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.write(kind, 'latin1');
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};

function rowMessage(fields: readonly Field[]): Buffer {
  const count = Buffer.alloc(2);
  count.writeUInt16BE(fields.length);
  const parts = fields.flatMap(field => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(field === null ? -1 : Buffer.byteLength(field));
    return [length, Buffer.from(field ?? '')];
  });
  return message('D', Buffer.concat([count, ...parts]));
}

/** What comes of bytes that arrive in pieces: rows for whoever reads them, and the rest for pg. */
function receive(bytes: Buffer, cuts: readonly number[], isRead: boolean) {
  const passed: Buffer[] = [];
  const connection = {
    attachListeners: (stream: EventEmitter) => stream.on('data', chunk => passed.push(Buffer.from(chunk as Buffer))),
  } as unknown as Connection;
  takeRows(connection);
  const rows: Field[][] = [];
  if (isRead) readRowsBy(connection, { readRow: fields => rows.push([...fields]) });
  const socket = new EventEmitter();
  (connection as unknown as { attachListeners(stream: EventEmitter): void }).attachListeners(socket);
  const edges = [0, ...cuts.map(cut => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  for (const [index, edge] of edges.slice(1).entries()) socket.emit('data', bytes.subarray(edges[index], edge));
  return { rows, passed: Buffer.concat(passed) };
}

const field = fc.option(
  fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.string({ minLength: 120, maxLength: 300 })),
  { nil: null },
);
const rowsOfFields = fc.array(fc.array(field, { maxLength: 8 }), { maxLength: 20 });
const cuts = fc.array(fc.nat(20_000), { maxLength: 30 });

describe('rows taken out of a connection', () => {
  const before = Buffer.concat([message('1', Buffer.alloc(0)), message('T', Buffer.from('columns'))]);
  const unsaid = [message('2', Buffer.alloc(0)), message('C', Buffer.from('SELECT 1\0'))] as const;
  const after = message('Z', Buffer.from('I'));

  test('are what was sent, whatever it holds and wherever the bytes are cut', () => {
    fc.assert(
      fc.property(rowsOfFields, cuts, (sent, edges) => {
        const rows = Buffer.concat(sent.map(rowMessage));
        const bytes = Buffer.concat([before, unsaid[0], rows, unsaid[1], after]);
        expect(receive(bytes, edges, true)).toEqual({ rows: sent, passed: Buffer.concat([before, after]) });
      }),
      { numRuns: 500 },
    );
  });

  test('are left to pg where nobody reads them, to the byte', () => {
    fc.assert(
      fc.property(rowsOfFields, cuts, (sent, edges) => {
        const bytes = Buffer.concat([before, ...unsaid, ...sent.map(rowMessage), after]);
        expect(receive(bytes, edges, false)).toEqual({ rows: [], passed: bytes });
      }),
    );
  });
});
