import { DomainError } from '../errors.ts';

/** One message of a stream: where it stands in the order, and the cursor a caller resumes behind. */
export interface StreamItem {
  position: number;
  cursor: string;
  isLast: boolean;
  value: object;
}

/** Rows in an order, with a bell that rings when there may be more. */
export interface StreamSource {
  /** Readers of streams with the same key read the same rows. */
  readonly key: string;
  /** The position a cursor stands for, or where the stream starts without one. Throws if it is too old or unknown. */
  locate(cursor: string | undefined): Promise<number>;
  read(position: number, limit: number): Promise<StreamItem[]>;
  /** Whether nothing can come after this position any more; a stream without it has no end. */
  isOver?(position: number): Promise<boolean>;
  /**
   * For sources that pass rows over: up to where a read that starts now looks. Whoever was told nothing may go on from there
   * instead of passing over the same rows again.
   */
  settled?(): number | undefined;
  watch(ring: () => void): () => void;
}

/** What lay behind that cursor was pruned: whoever resumes there would miss it without knowing. */
export class CursorTooOld extends DomainError {
  constructor(message = 'Events since that cursor are no longer kept; read the resources anew') {
    super('CURSOR_TOO_OLD', message);
  }
}

const PAGE = 100;

/**
 * A stream that is nothing but stored rows and a cursor. It can be iterated by any GraphQL executor, and
 * a broadcaster can recognise it and serve all readers of the same rows from one execution.
 */
export class StoredStream implements AsyncIterable<object> {
  constructor(
    readonly source: StreamSource,
    readonly start: number,
  ) {}

  static async open(source: StreamSource, cursor: string | null | undefined): Promise<StoredStream> {
    return new StoredStream(source, await source.locate(cursor ?? undefined));
  }

  /** Not a generator: one that waits on an idle promise never reaches its `finally`, and its reader stays for ever. */
  [Symbol.asyncIterator](): AsyncIterator<object, undefined> {
    let position = this.start;
    let isDone = false;
    let buffer: StreamItem[] = [];
    const bell = new Bell();
    const unwatch = this.source.watch(() => bell.ring());
    const finish = () => {
      isDone = true;
      unwatch();
      bell.ring();
    };
    const next = async (): Promise<IteratorResult<object, undefined>> => {
      while (!isDone) {
        if (buffer.length === 0) buffer = await this.source.read(position, PAGE);
        const item = buffer.shift();
        if (item !== undefined) {
          position = item.position;
          if (item.isLast) finish();
          return { done: false, value: item.value };
        }
        if (await this.source.isOver?.(position)) finish();
        else await bell.next();
      }
      return { done: true, value: undefined };
    };
    return {
      next,
      return: () => {
        finish();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }
}

/** A signal that coalesces: many rings while nobody waits count as one. */
export class Bell {
  #isRung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#isRung = true;
    this.#wake?.();
  }

  async next(): Promise<void> {
    if (!this.#isRung) await new Promise<void>(resolve => (this.#wake = resolve));
    this.#isRung = false;
    this.#wake = undefined;
  }
}
