import { plainText } from './plain-text.ts';

const LF = 0x0a;
const CR = 0x0d;

/** Of a line that does not end so much is kept. */
const LONGEST_BYTES = 256 * 1024;
/** The end of a line that was cut may be the beginning of a secret: of a cut line so much goes too. */
const CUT_BYTES = 256;

/**
 * Bytes as they come, over any borders, into lines. Of a line that is written over, as progress bars do it, its last state counts.
 * Nothing is decoded before a line is whole, so that it is the same however it was chunked.
 */
export class LineAssembler {
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #leftOut = 0;
  #isReturned = false;

  *push(chunk: Buffer): Generator<string> {
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      this.#append(chunk.subarray(start, end));
      yield this.#take();
      start = end + 1;
    }
    // Copied: what is held on to may be a few bytes of a chunk of many.
    if (start < chunk.length) this.#append(Buffer.from(chunk.subarray(start)));
  }

  /** What stands behind the last end of a line, if anything does. */
  *end(): Generator<string> {
    if (this.#keptBytes > 0) yield this.#take();
    else this.#reset();
  }

  #append(piece: Buffer): void {
    let end = piece.length;
    while (end > 0 && piece[end - 1] === CR) end -= 1;
    if (end > 0) {
      const returned = piece.lastIndexOf(CR, end - 1);
      if (returned >= 0 || this.#isReturned) this.#reset();
      this.#keep(piece.subarray(returned + 1, end));
    }
    if (end < piece.length) this.#isReturned = true;
  }

  #keep(bytes: Buffer): void {
    const fitting = Math.min(bytes.length, LONGEST_BYTES - this.#keptBytes);
    if (fitting > 0) this.#kept.push(bytes.subarray(0, fitting));
    this.#keptBytes += fitting;
    this.#leftOut += bytes.length - fitting;
  }

  #take(): string {
    const bytes = this.#kept.length === 1 ? (this.#kept[0] as Buffer) : Buffer.concat(this.#kept);
    const leftOut = this.#leftOut;
    this.#reset();
    if (leftOut === 0) return plainText(bytes.toString());
    const beginning = plainText(bytes.toString('utf8', 0, bytes.length - CUT_BYTES));
    return `${beginning} … ${leftOut + CUT_BYTES} bytes of this line are left out`;
  }

  #reset(): void {
    this.#kept = [];
    this.#keptBytes = 0;
    this.#leftOut = 0;
    this.#isReturned = false;
  }
}

/** The same for a line that is there as a whole. */
export function lineOf(bytes: Buffer): string {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === CR) end -= 1;
  const returned = end === 0 ? -1 : bytes.lastIndexOf(CR, end - 1);
  return plainText(bytes.toString('utf8', returned + 1, end));
}
