import { Invalid } from '../errors.ts';

export interface DotenvEntry {
  key: string;
  value: string;
  /** Where it begins. */
  line: number;
}

/**
 * The text of a `.env` file, byte for byte: what stands in quotes is kept as it is, line ends and `$` included, and only double
 * quotes know escapes. The usual parsers drop lines they do not understand and cut values at any `#`; here a line that is
 * not understood is refused by its number.
 */
export function readDotenv(text: string): DotenvEntry[] {
  const scan = new Scan(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
  const entries = new Map<string, DotenvEntry>();
  while (!scan.isAtEnd) {
    const entry = scan.next();
    if (entry === undefined) continue;
    const before = entries.get(entry.key);
    if (before) throw fault(entry.line, `sets a name that line ${before.line} has set already`);
    entries.set(entry.key, entry);
  }
  return [...entries.values()];
}

const BYTE_ORDER_MARK = '\ufeff';
const NOTHING = /[ \t]*(?:#[^\r\n]*)?(?:\r?\n|$)/y;
const NAME = /[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]{0,254})[ \t]*=/y;
const BLANKS = /[ \t]*/y;
const REST = /[^\n]*/y;

class Scan {
  #at = 0;
  #line = 1;

  constructor(private readonly text: string) {}

  get isAtEnd(): boolean {
    return this.#at >= this.text.length;
  }

  /** Undefined for a line that says nothing. */
  next(): DotenvEntry | undefined {
    if (this.#take(NOTHING) !== undefined) return undefined;
    const line = this.#line;
    const key = this.#take(NAME)?.[1];
    if (key === undefined) throw fault(line, 'is not NAME=value, with a name of letters, digits and underscores');
    const blanks = this.#take(BLANKS)?.[0] ?? '';
    const quote = this.text[this.#at] ?? '';
    return { key, line, value: QUOTES.includes(quote) ? this.#quoted(quote, line) : this.#bare(blanks, line) };
  }

  #quoted(quote: string, line: number): string {
    const end = this.#closing(quote);
    if (end === undefined) throw fault(line, 'opens a quote that is never closed');
    const inner = this.text.slice(this.#at + 1, end);
    this.#moveTo(end + 1);
    const closedAt = this.#line;
    if (this.#take(NOTHING) === undefined) throw fault(closedAt, 'has something behind the closing quote');
    return quote === '"' ? inner.replace(ESCAPE, (_, letter: string) => ESCAPED[letter] ?? letter) : inner;
  }

  #closing(quote: string): number | undefined {
    for (let at = this.#at + 1; at < this.text.length; at += 1) {
      if (this.text[at] === quote) return at;
      if (quote === '"' && this.text[at] === '\\') at += 1;
    }
    return undefined;
  }

  /** A `#` begins a comment behind a blank only: passwords have some. */
  #bare(blanks: string, line: number): string {
    const said = (this.#take(REST)?.[0] ?? '').replace(/\r$/, '');
    this.#moveTo(this.#at + 1);
    if (said.includes('\r')) throw fault(line, 'has a carriage return inside; put the value in quotes');
    const all = blanks + said;
    const comment = all.search(/[ \t]#/);
    return withoutBlanks(comment === -1 ? all : all.slice(0, comment));
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text);
    if (found === null) return undefined;
    this.#moveTo(this.#at + found[0].length);
    return found;
  }

  #moveTo(at: number): void {
    for (; this.#at < at; this.#at += 1) if (this.text[this.#at] === '\n') this.#line += 1;
  }
}

const QUOTES: readonly string[] = ['"', "'", '`'];
const ESCAPE = /\\([nrt"\\$`])/g;
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/** Other white space may be meant. */
function withoutBlanks(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && isBlank(text[from])) from += 1;
  while (to > from && isBlank(text[to - 1])) to -= 1;
  return text.slice(from, to);
}

const isBlank = (letter: string | undefined): boolean => letter === ' ' || letter === '\t';

const fault = (line: number, message: string): Invalid =>
  new Invalid({ field: 'dotenv', message: `line ${line} ${message}` });
