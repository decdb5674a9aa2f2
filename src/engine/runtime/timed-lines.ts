import { clock } from '../../clock.ts';
import { LogStream } from '../../entities/deployment-message.ts';
import { lineOf } from '../deploy/log-lines.ts';
import type { Masker } from '../deploy/masker.ts';
import { splitText } from '../deploy/plain-text.ts';
import type { TimedLine } from './runtime-line.ts';

const STREAMS = { stdout: LogStream.STDOUT, stderr: LogStream.STDERR } as const;
type From = keyof typeof STREAMS;

const LF = 0x0a;
/** Docker itself cuts lines after 16 KB. */
const LONGEST_BYTES = 256 * 1024;
const MESSAGE_BYTES = 8 * 1024;

/** Makes lines of what Docker sends of a container's output: a moment, a space, and what was printed. */
export class TimedLines {
  readonly #held = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };

  constructor(
    private readonly masker: Masker,
    private readonly prefix = '',
  ) {}

  *push(chunk: Buffer, from: From): Generator<TimedLine> {
    const bytes = Buffer.concat([this.#held[from], chunk]);
    let start = 0;
    for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
      yield* this.#read(bytes.subarray(start, end), from);
      start = end + 1;
    }
    this.#held[from] = Buffer.from(bytes.subarray(start));
    if (this.#held[from].length > LONGEST_BYTES) yield* this.#takeHeld(from);
  }

  /** What stands behind the last end of a line. */
  *end(): Generator<TimedLine> {
    for (const from of ['stdout', 'stderr'] as const) if (this.#held[from].length > 0) yield* this.#takeHeld(from);
  }

  *#takeHeld(from: From): Generator<TimedLine> {
    yield* this.#read(this.#held[from], from);
    this.#held[from] = Buffer.alloc(0);
  }

  *#read(bytes: Buffer, from: From): Generator<TimedLine> {
    const space = bytes.indexOf(' ');
    const time = space < 0 ? '' : bytes.toString('latin1', 0, space);
    const isTimed = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\d*Z$/.test(time);
    const at = isTimed ? `${time.slice(0, 23)}Z` : clock.now().toISOString();
    const text = this.masker.mask(lineOf(isTimed ? bytes.subarray(space + 1) : bytes));
    for (const message of splitText(this.prefix + text, MESSAGE_BYTES))
      yield { time: isTimed ? time : '', at, stream: STREAMS[from], message };
  }
}
