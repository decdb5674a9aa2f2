import { EventEmitter } from 'node:events';
import type { Connection } from 'pg';

export type Fields = readonly (string | null)[];

/** What a connection runs now, if that reads its rows itself. The array is used again for the next row. */
export interface RowReader {
  readRow(fields: Fields): void;
}

const readers = new WeakMap<Connection, RowReader>();

/** From now on the rows that come are this one's, until it is told that there are no more. */
export const readRowsBy = (connection: Connection, reader: RowReader | undefined): void => {
  if (reader) readers.set(connection, reader);
  else readers.delete(connection);
};

/** pg's types leave it out: how a connection gives its parser a stream to listen to. */
interface Listening {
  attachListeners(stream: EventEmitter): void;
}

/**
 * Takes rows out of what a connection receives, for those who read them by themselves; all else goes on to pg's own parser.
 * To that parser a row is a message, an event and a conversion per field, which is a third of what a list costs.
 */
export function takeRows(connection: Connection): void {
  const listening = connection as Connection & Listening;
  const attach = listening.attachListeners.bind(connection);
  listening.attachListeners = stream => {
    const rest = new EventEmitter();
    attach(rest);
    const splitter = new Splitter(connection, bytes => rest.emit('data', bytes));
    stream.on('data', chunk => splitter.take(chunk as Buffer));
    stream.on('end', () => rest.emit('end'));
  };
}

const DATA_ROW = 'D'.charCodeAt(0);
/** "Bound" and "done": for one who reads rows the end is what comes after them. */
const UNSAID = new Set(['2', 'C'].map(letter => letter.charCodeAt(0)));
/** A letter for the kind and the length of what follows, itself included. */
const HEAD = 5;

/** Parts the bytes of PostgreSQL's protocol into messages. */
class Splitter {
  readonly #fields: (string | null)[] = [];
  #held: Buffer[] = [];
  #heldBytes = 0;
  #needed = HEAD;

  constructor(
    private readonly connection: Connection,
    private readonly pass: (bytes: Buffer) => void,
  ) {}

  take(chunk: Buffer): void {
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes < this.#needed) return;
    const bytes = this.#held.length === 1 ? chunk : Buffer.concat(this.#held);
    const end = this.#split(bytes);
    this.#held = end < bytes.length ? [bytes.subarray(end)] : [];
    this.#heldBytes = bytes.length - end;
    this.#needed = this.#heldBytes < HEAD ? HEAD : 1 + bytes.readUInt32BE(end + 1);
  }

  /** Goes from message to message; gives where the first that is not whole begins. */
  #split(bytes: Buffer): number {
    let [at, passed] = [0, 0];
    while (at + HEAD <= bytes.length) {
      const end = at + 1 + bytes.readUInt32BE(at + 1);
      if (end > bytes.length) break;
      const kind = bytes[at] as number;
      const reader = kind === DATA_ROW || UNSAID.has(kind) ? readers.get(this.connection) : undefined;
      if (reader) {
        if (passed < at) this.pass(bytes.subarray(passed, at));
        if (kind === DATA_ROW) reader.readRow(this.#fieldsOf(bytes, at + HEAD, end));
        passed = end;
      }
      at = end;
    }
    if (passed < at) this.pass(bytes.subarray(passed, at));
    return at;
  }

  /**
   * A row of ASCII is decoded at once and then cut, the lengths between its fields included. What is not ASCII shows by bytes of 128
   * and more that are no part of a length; such a row is decoded field by field.
   */
  #fieldsOf(bytes: Buffer, start: number, end: number): Fields {
    const base = start + 2;
    const text = bytes.toString('latin1', base, end);
    const fields = this.#fields;
    fields.length = bytes.readUInt16BE(start);
    let highBytes = Buffer.byteLength(text) - text.length;
    for (let index = 0, at = 0; index < fields.length; index += 1) {
      const length = bytes.readInt32BE(base + at);
      at += 4;
      highBytes -= highBytesOf(length);
      fields[index] = length < 0 ? null : text.slice(at, at + length);
      at += Math.max(length, 0);
    }
    if (highBytes > 0) decodeEach(fields, bytes, base);
    return fields;
  }
}

function highBytesOf(length: number): number {
  if ((length & 0x80_80_80_80) === 0) return 0;
  return ((length >>> 31) & 1) + ((length >>> 23) & 1) + ((length >>> 15) & 1) + ((length >>> 7) & 1);
}

function decodeEach(fields: (string | null)[], bytes: Buffer, base: number): void {
  for (let index = 0, at = base; index < fields.length; index += 1) {
    const start = at + 4;
    at = start + Math.max(bytes.readInt32BE(at), 0);
    if (fields[index] !== null) fields[index] = bytes.toString('utf8', start, at);
  }
}
