export type LogStream = 'stdout' | 'stderr';

const HEADER_BYTES = 8;
const STREAMS: readonly (LogStream | undefined)[] = ['stdout', 'stdout', 'stderr'];

/**
 * Takes apart what the engine sends of a container without a terminal: pieces of both streams, each behind eight bytes that say of
 * which it is and how long. A piece is passed on as it arrives, however it was cut on the way.
 */
export class LogFrames {
  #header = Buffer.alloc(0);
  #from: LogStream = 'stdout';
  #left = 0;

  *take(chunk: Buffer): Generator<[chunk: Buffer, from: LogStream]> {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#left === 0) {
        rest = this.#readHeader(rest);
        continue;
      }
      const piece = rest.subarray(0, this.#left);
      this.#left -= piece.length;
      rest = rest.subarray(piece.length);
      yield [piece, this.#from];
    }
  }

  #readHeader(chunk: Buffer): Buffer {
    const missing = HEADER_BYTES - this.#header.length;
    this.#header = Buffer.concat([this.#header, chunk.subarray(0, missing)]);
    if (this.#header.length === HEADER_BYTES) {
      const from = STREAMS[this.#header.readUInt8(0)];
      if (from === undefined) throw new Error('The engine sent output in a form we do not know');
      this.#from = from;
      this.#left = this.#header.readUInt32BE(4);
      this.#header = Buffer.alloc(0);
    }
    return chunk.subarray(missing);
  }
}
