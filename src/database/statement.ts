import pg, { type Connection, type Pool, type Submittable } from 'pg';
import { serialize } from 'pg-protocol';
import { type Fields, type RowReader, readRowsBy } from './row-stream.ts';
import { rowTypes } from './row-types.ts';

type MakeRow = (fields: Fields) => object;
type Done = (error: Error | null, rows?: object[]) => void;

interface Column {
  name: string;
  dataTypeID: number;
}

/** What pg knows of a connection beyond what its types say. */
interface Wire extends Connection {
  parsedStatements: Record<string, string>;
  sendCopyFail(reason: string): void;
}

/**
 * A statement that each connection parses and describes once. Its rows come out of code that was written for its columns:
 * to build them name by name, as pg does, is a good part of what a list costs.
 */
export class Statement {
  readonly makers = new WeakMap<Connection, MakeRow>();

  constructor(
    readonly name: string,
    readonly text: string,
  ) {}

  async run<T extends object>(pool: Pool, values: readonly unknown[]): Promise<T[]> {
    // The pool answers what is submitted to it by a promise; its types only know of queries it makes itself.
    return pool.query(new Execution(this, values)) as unknown as Promise<T[]>;
  }
}

/** One run of a statement, as pg's client drives it. */
class Execution implements Submittable, RowReader {
  readonly name: string;
  readonly text: string;
  /** Set by the client. */
  callback: Done | undefined;
  readonly #rows: object[] = [];
  #connection: Connection | undefined;
  #make: MakeRow | undefined;
  #fault: Error | undefined;

  constructor(
    private readonly statement: Statement,
    private readonly values: readonly unknown[],
  ) {
    this.name = statement.name;
    this.text = statement.text;
  }

  submit(connection: Connection): Error | null {
    this.#connection = connection;
    this.#make = this.statement.makers.get(connection);
    readRowsBy(connection, this);
    try {
      connection.stream.write(this.#messages(connection as Wire));
      return null;
    } catch (error) {
      return error as Error;
    }
  }

  handleRowDescription({ fields }: { fields: readonly Column[] }): void {
    this.#make = rowMaker(fields);
    if (this.#connection) this.statement.makers.set(this.#connection, this.#make);
  }

  readRow(fields: Fields): void {
    try {
      if (this.#make) this.#rows.push(this.#make(fields));
    } catch (error) {
      this.#fault = error as Error;
    }
  }

  /** On a connection that gives rows in pg's own way. */
  handleDataRow({ fields }: { fields: Fields }): void {
    this.readRow(fields);
  }

  handleReadyForQuery(): void {
    this.#leave();
    if (this.#fault) this.callback?.(this.#fault);
    else this.callback?.(null, this.#rows);
  }

  handleError(error: Error): void {
    this.#leave();
    this.callback?.(error);
  }

  handleCopyInResponse(connection: Wire): void {
    connection.sendCopyFail('nothing to copy');
  }

  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyData(): void {}

  /** The connection is somebody else's from here on. */
  #leave(): void {
    if (this.#connection) readRowsBy(this.#connection, undefined);
  }

  /** All that is to be said, in one piece. What cannot be spelled throws before anything is sent. */
  #messages(wire: Wire): Buffer {
    const { name, text } = this;
    const bound = serialize.bind({ statement: name, values: this.values.map(value => prepareValue(value)) });
    if (this.#make !== undefined) return Buffer.concat([bound, RUN]);
    const parsed = wire.parsedStatements[name] === undefined ? [serialize.parse({ name, text })] : [];
    return Buffer.concat([...parsed, bound, serialize.describe({ type: 'P', name: '' }), RUN]);
  }
}

const RUN = Buffer.concat([serialize.execute(), serialize.sync()]);

/** pg's own spelling of values: dates, arrays, objects. Its types leave it out. */
const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): unknown } }).utils;

const asItIs = pg.types.getTypeParser(pg.types.builtins.TEXT, 'text');

function rowMaker(columns: readonly Column[]): MakeRow {
  const parsers = columns.map(({ dataTypeID }) => rowTypes.getTypeParser(dataTypeID, 'text'));
  const values = parsers.map((parser, index) => {
    const field = `fields[${index}]`;
    return parser === asItIs ? field : `${field} === null ? null : parsers[${index}](${field})`;
  });
  const properties = columns.map(({ name }, index) => `${JSON.stringify(name)}: ${values[index]}`);
  return new Function('parsers', `return fields => ({ ${properties.join(', ')} })`)(parsers) as MakeRow;
}
