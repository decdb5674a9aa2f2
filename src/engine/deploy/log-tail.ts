import type { LogStream } from '../../entities/deployment-message.ts';

interface TailLine {
  text: string;
  stream: LogStream;
}

const MOST_BYTES = 1024 * 1024;

/** The last lines of what is too much to be stored. */
export class LogTail {
  #lines: TailLine[] = [];
  #bytes = 0;
  #leftOut = 0;

  constructor(private readonly most: number) {}

  push(line: TailLine): void {
    this.#lines.push(line);
    this.#bytes += line.text.length;
    // Dropped by the half, so that a line costs the same however many are kept.
    if (this.#lines.length >= 2 * this.most || this.#bytes > 2 * MOST_BYTES) this.#drop();
  }

  take(): { leftOut: number; lines: TailLine[] } {
    this.#drop();
    const taken = { leftOut: this.#leftOut, lines: this.#lines };
    this.#lines = [];
    this.#bytes = 0;
    this.#leftOut = 0;
    return taken;
  }

  #drop(): void {
    let first = this.#lines.length;
    let bytes = 0;
    while (first > 0 && this.#lines.length - first < this.most) {
      const { length } = (this.#lines[first - 1] as TailLine).text;
      if (bytes + length > MOST_BYTES) break;
      bytes += length;
      first -= 1;
    }
    this.#leftOut += first;
    this.#lines = this.#lines.slice(first);
    this.#bytes = bytes;
  }
}
