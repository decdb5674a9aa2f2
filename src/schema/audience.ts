import { LRUCache } from 'lru-cache';
import type { StreamItem, StreamSource } from '../events/stored-stream.ts';

/** Somebody who is written to, whatever the wire. */
export interface Reader {
  write(frame: Buffer): void;
  /** Resolves when what was written has mostly left; rejects or never resolves for one that is gone. */
  drained(): Promise<void>;
  end(lastFrame: Buffer | undefined): void;
  readonly isGone: boolean;
}

interface Seat {
  reader: Reader;
  position: number;
}

const PAGE = 100;
const SLICE = 500;
const FRAMES_KEPT = 200;
const RETRY_MS = 500;

type Render = (item: StreamItem) => Promise<Buffer | undefined>;

/**
 * Everyone who listens to the same rows in the same words. A newcomer first catches up by itself, at its own pace,
 * and takes a seat among the live ones once nothing lies between them.
 */
export class Audience {
  readonly #live = new Set<Seat>();
  readonly #catchingUp = new Set<Seat>();
  readonly #frames = new LRUCache<number, Promise<Buffer | undefined>>({ max: FRAMES_KEPT });
  readonly #unwatch: () => void;
  #position = 0;
  #isReading = false;
  #hasNews = false;

  constructor(
    private readonly source: StreamSource,
    private readonly render: Render,
    private readonly lastFrame: Buffer | undefined,
    private readonly dissolve: () => void,
  ) {
    this.#unwatch = source.watch(() => this.#ring());
  }

  get size(): number {
    return this.#live.size + this.#catchingUp.size;
  }

  join(reader: Reader, start: number): () => void {
    const seat = { reader, position: start };
    this.#catchingUp.add(seat);
    this.#catchUp(seat).catch(() => this.#dismiss(seat));
    return () => this.#leave(seat);
  }

  async #catchUp(seat: Seat): Promise<void> {
    for (;;) {
      const items = await this.source.read(seat.position, PAGE);
      if (!this.#catchingUp.has(seat)) return;
      const isLevel = items.length === 0 && (this.#live.size === 0 || seat.position >= this.#position);
      if (isLevel) break;
      for (const item of items) if (await this.#write(seat, item)) return;
      await seat.reader.drained();
    }
    this.#catchingUp.delete(seat);
    if (this.#live.size === 0) this.#position = seat.position;
    this.#live.add(seat);
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
    if (!item.isLast) return false;
    this.#finish(seat);
    return true;
  }

  #ring(): void {
    this.#hasNews = true;
    if (this.#isReading) return;
    this.#isReading = true;
    void this.#follow().finally(() => {
      this.#isReading = false;
    });
  }

  async #follow(): Promise<void> {
    while (this.#hasNews && this.#live.size > 0) {
      this.#hasNews = false;
      try {
        const items = await this.source.read(this.#position, PAGE);
        if (items.length === PAGE) this.#hasNews = true;
        for (const item of items) await this.#tellAll(item);
      } catch {
        // The source logs its own faults; nobody loses anything, the rows are still there.
        this.#hasNews = true;
        await new Promise(resolve => setTimeout(resolve, RETRY_MS));
      }
    }
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
      if (written % SLICE === 0) await new Promise(resolve => setImmediate(resolve));
    }
    this.#position = item.position;
  }

  #frameOf(item: StreamItem): Promise<Buffer | undefined> {
    const known = this.#frames.get(item.position);
    if (known) return known;
    const frame = this.render(item);
    this.#frames.set(item.position, frame);
    frame.catch(() => this.#frames.delete(item.position));
    return frame;
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
    const wasHere = this.#live.delete(seat) || this.#catchingUp.delete(seat);
    if (!wasHere || this.size > 0) return;
    this.#unwatch();
    this.dissolve();
  }
}
