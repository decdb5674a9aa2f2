import { LRUCache } from 'lru-cache';
import { DomainError } from '../errors.ts';
import type { StreamItem, StreamSource } from '../events/stored-stream.ts';

/** Somebody who is written to, whatever the wire. */
export interface Reader {
  write(frame: Buffer): void;
  /** Resolves when what was written has mostly left, or nobody is there to read it; rejects for one that does not read. */
  drained(): Promise<void>;
  end(lastFrame: Buffer | undefined): void;
  readonly isGone: boolean;
}

interface Seat {
  reader: Reader;
  position: number;
}

const PAGE = 50;
const SLICE = 500;
const FRAMES_KEPT_BYTES = 1024 * 1024;
const RETRY_MS = 500;
/** So much is written before those who read get a turn to read it. */
const TURN_BYTES = 128 * 1024;

type Render = (item: StreamItem) => Promise<Buffer | undefined>;

/**
 * Everyone who listens to the same rows in the same words. A newcomer first catches up by itself, at its own pace,
 * and then takes a seat among the live ones, for whom each row is read, rendered and framed once.
 */
export class Audience {
  readonly #live = new Set<Seat>();
  readonly #catchingUp = new Set<Seat>();
  /** Those who have caught up. They are seated between two reads only, so that nobody is told a row before an earlier one. */
  readonly #arriving = new Set<Seat>();
  readonly #frames = new LRUCache<number, Buffer>({
    maxSize: FRAMES_KEPT_BYTES,
    sizeCalculation: ({ length }) => length,
  });
  readonly #rendering = new Map<number, Promise<Buffer | undefined>>();
  readonly #unwatch: () => void;
  #position = 0;
  #isReading = false;
  #hasNews = false;
  #sinceTurn = 0;

  constructor(
    private readonly source: StreamSource,
    private readonly render: Render,
    private readonly lastFrame: Buffer | undefined,
    private readonly dissolve: () => void,
  ) {
    this.#unwatch = source.watch(() => this.#ring());
  }

  get size(): number {
    return this.#live.size + this.#catchingUp.size + this.#arriving.size;
  }

  join(reader: Reader, start: number): () => void {
    const seat = { reader, position: start };
    this.#catchingUp.add(seat);
    this.#catchUp(seat).catch(() => this.#dismiss(seat));
    return () => this.#leave(seat);
  }

  async #catchUp(seat: Seat): Promise<void> {
    for (;;) {
      const { items, position } = await this.#read(seat.position);
      if (!this.#catchingUp.has(seat)) return;
      if (items.length === 0) break;
      for (const item of items) if (await this.#write(seat, item)) return;
      seat.position = position;
    }
    this.#catchingUp.delete(seat);
    this.#arriving.add(seat);
    this.#ring();
  }

  /** Whether that was the last there is to say. */
  async #write(seat: Seat, item: StreamItem): Promise<boolean> {
    const frame = await this.#frameOf(item);
    if (frame === undefined || seat.reader.isGone) {
      this.#dismiss(seat);
      return true;
    }
    seat.reader.write(frame);
    seat.position = item.position;
    if (item.isLast) {
      this.#finish(seat);
      return true;
    }
    await seat.reader.drained();
    return false;
  }

  async #read(position: number): Promise<{ items: StreamItem[]; position: number }> {
    const settled = this.source.settled?.() ?? position;
    const items = await this.source.read(position, PAGE);
    const last = items.at(-1)?.position ?? position;
    return { items, position: items.length < PAGE ? Math.max(last, settled) : last };
  }

  #ring(): void {
    this.#hasNews = true;
    if (!this.#isReading) void this.#follow();
  }

  /** The flag falls in the same breath as the loop ends: a bell rung between the two would be heard by nobody. */
  async #follow(): Promise<void> {
    this.#isReading = true;
    while (this.#hasNews && this.#live.size + this.#arriving.size > 0) {
      this.#hasNews = false;
      this.#seatArrivals();
      try {
        await this.#tellNews();
      } catch (error) {
        if (error instanceof DomainError) for (const seat of [...this.#live]) this.#dismiss(seat);
        // The source logs its own faults; nobody loses anything, the rows are still there.
        this.#hasNews = true;
        await new Promise(resolve => setTimeout(resolve, RETRY_MS));
      }
    }
    this.#isReading = false;
  }

  /** Reading begins anew behind the one who has heard least; the others are not told again. */
  #seatArrivals(): void {
    for (const seat of this.#arriving) {
      this.#position = this.#live.size === 0 ? seat.position : Math.min(this.#position, seat.position);
      this.#live.add(seat);
    }
    this.#arriving.clear();
  }

  async #tellNews(): Promise<void> {
    const { items, position } = await this.#read(this.#position);
    if (items.length === PAGE) this.#hasNews = true;
    for (const item of items) await this.#tellAll(item);
    this.#position = position;
    if (items.length === 0 && (await this.source.isOver?.(position))) this.#finishAll();
  }

  /** In slices, so that ten thousand readers do not hold up everybody else's requests. */
  async #tellAll(item: StreamItem): Promise<void> {
    const frame = await this.#frameOf(item);
    let written = 0;
    for (const seat of [...this.#live]) {
      if (seat.position >= item.position) continue;
      if (frame === undefined) this.#dismiss(seat);
      else seat.reader.write(frame);
      seat.position = item.position;
      if (item.isLast) this.#finish(seat);
      written += 1;
      if (written % SLICE === 0) await nextTurn();
    }
    this.#position = item.position;
    this.#sinceTurn += frame?.length ?? 0;
    if (this.#sinceTurn < TURN_BYTES) return;
    this.#sinceTurn = 0;
    await nextTurn();
  }

  #frameOf(item: StreamItem): Promise<Buffer | undefined> | Buffer {
    const { position } = item;
    return this.#frames.get(position) ?? this.#rendering.get(position) ?? this.#frame(item);
  }

  #frame(item: StreamItem): Promise<Buffer | undefined> {
    const { position } = item;
    const rendering = this.render(item).finally(() => this.#rendering.delete(position));
    this.#rendering.set(position, rendering);
    return rendering.then(frame => {
      if (frame !== undefined) this.#frames.set(position, frame);
      return frame;
    });
  }

  #finishAll(): void {
    for (const seat of [...this.#live]) this.#finish(seat);
  }

  #finish(seat: Seat): void {
    this.#leave(seat);
    seat.reader.end(this.lastFrame);
  }

  #dismiss(seat: Seat): void {
    this.#leave(seat);
    seat.reader.end(undefined);
  }

  #leave(seat: Seat): void {
    const wasHere = this.#live.delete(seat) || this.#catchingUp.delete(seat) || this.#arriving.delete(seat);
    if (!wasHere || this.size > 0) return;
    this.#unwatch();
    this.dissolve();
  }
}

const nextTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));
