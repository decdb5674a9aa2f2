import { formsOf, type SecretForm } from './secret-forms.ts';

export const MASK = '[secret]';

/** Of a form that is longer than that, whatever part of it stands in a line is hidden, if it is at least a piece. */
const LONG = 64;
const PIECE = 16;
/** A part of so many letters, such as a line of base64, holds a whole piece. */
const STRIDE = LONG - PIECE;
const KEY = 4;

/**
 * Hides secrets in lines. Each form is in one table by four of its letters, those by which the fewest others are known, so that a
 * line is gone through once, however many there are and however alike they begin.
 */
export class Masker {
  readonly #forms: SecretForm[];
  readonly #short: SecretForm[];
  readonly #formOf: Int32Array;
  /** Where in its form the four letters stand. */
  readonly #offsetOf: Int32Array;
  /** Four letters more, before those or behind them: most of what is alike by the first four is told apart by these. */
  readonly #probe: Int32Array;
  readonly #probeAt: Int32Array;
  readonly #next: Int32Array;
  readonly #first: Int32Array;
  readonly #shift: number;
  #count = 0;

  constructor(secrets: readonly string[]) {
    const forms = formsOf(secrets);
    this.#short = forms.filter(({ text }) => text.length < KEY);
    this.#forms = forms.filter(({ text }) => text.length >= KEY);
    const pieces = this.#forms.flatMap(({ text }, form) => piecesOf(text).map(piece => ({ ...piece, text, form })));
    const bits = Math.min(22, Math.max(10, Math.ceil(Math.log2(pieces.length * 8 + 1))));
    this.#shift = 32 - bits;
    this.#first = new Int32Array(2 ** bits).fill(-1);
    const lists = Array.from({ length: 5 }, () => new Int32Array(pieces.length)) as [I32, I32, I32, I32, I32];
    [this.#formOf, this.#offsetOf, this.#probe, this.#probeAt, this.#next] = lists;
    const lengths = new Int32Array(2 ** bits);
    for (const piece of pieces) this.#add(piece, this.#rarest(piece, lengths), lengths);
  }

  mask(line: string): string {
    const spans = this.#spansOf(line);
    return spans.length === 0 ? line : hide(line, spans);
  }

  #rarest({ text, start, end }: Piece, lengths: I32): number {
    let best = start;
    for (let at = start + 1; at <= end - KEY; at += 1)
      if ((lengths[this.#slotAt(text, at)] as number) < (lengths[this.#slotAt(text, best)] as number)) best = at;
    return best;
  }

  #add({ text, form, start, end }: Piece, offset: number, lengths: I32): void {
    const slot = this.#slotAt(text, offset);
    const entry = this.#count;
    this.#count += 1;
    this.#formOf[entry] = form;
    this.#offsetOf[entry] = offset;
    const probeAt = offset - KEY >= start ? -KEY : offset + 2 * KEY <= end ? KEY : 0;
    this.#probeAt[entry] = probeAt;
    this.#probe[entry] = keyAt(text, offset + probeAt);
    this.#next[entry] = this.#first[slot] as number;
    this.#first[slot] = entry;
    lengths[slot] = (lengths[slot] as number) + 1;
  }

  #slotAt(text: string, offset: number): number {
    return slotOf(keyAt(text, offset), this.#shift);
  }

  #spansOf(line: string): Span[] {
    const spans = this.#short.flatMap(({ text }) => occurrences(line, text));
    if (this.#count === 0) return spans;
    const first = this.#first;
    const shift = this.#shift;
    let key = 0;
    for (let at = 0; at < line.length; at += 1) {
      key = push(key, line.charCodeAt(at));
      if ((first[slotOf(key, shift)] as number) >= 0 && at >= KEY - 1) this.#look(line, at - KEY + 1, key, spans);
    }
    return spans;
  }

  #look(line: string, at: number, key: number, spans: Span[]): void {
    let entry = this.#first[slotOf(key, this.#shift)] as number;
    const [before, behind] = [keyAt(line, at - KEY), keyAt(line, at + KEY)];
    for (; entry >= 0; entry = this.#next[entry] as number) {
      const probeAt = this.#probeAt[entry] as number;
      if (this.#probe[entry] !== (probeAt < 0 ? before : probeAt > 0 ? behind : key)) continue;
      const form = this.#forms[this.#formOf[entry] as number] as SecretForm;
      const span = spanOf(line, at, form, this.#offsetOf[entry] as number, spans.at(-1));
      if (span) spans.push(span);
    }
  }
}

type I32 = Int32Array;

interface Piece {
  text: string;
  form: number;
  start: number;
  end: number;
}

interface Span {
  start: number;
  end: number;
  /** Where the form begins that was found, for those which are found piece by piece. */
  form?: SecretForm;
  base?: number;
}

/** The last four letters; of letters beyond Latin a part. */
const push = (key: number, code: number): number => (key >>> 8) ^ (code << 24);

function keyAt(text: string, offset: number): number {
  let key = 0;
  for (let at = offset; at < offset + KEY; at += 1) key = push(key, text.charCodeAt(at));
  return key;
}

const { imul, max, min } = Math;

const slotOf = (key: number, shift: number): number => imul(key, 0x9e3779b1) >>> shift;

function piecesOf({ length }: string): { start: number; end: number }[] {
  if (length < LONG) return [{ start: 0, end: length }];
  const starts = Array.from({ length: Math.ceil((length - PIECE) / STRIDE) }, (_, index) => index * STRIDE);
  return [...starts, length - PIECE].map(start => ({ start, end: start + PIECE }));
}

function spanOf(line: string, at: number, form: SecretForm, offset: number, last: Span | undefined): Span | undefined {
  const { text } = form;
  const base = at - offset;
  if (text.length < LONG) return isAt(line, base, text) ? widen(line, base, base + text.length, form) : undefined;
  if (last?.form === form && last.base === base && at < last.end) return undefined;
  let start = at;
  while (start > max(0, base) && line[start - 1] === text[start - 1 - base]) start -= 1;
  let end = at;
  while (end < min(line.length, base + text.length) && line[end] === text[end - base]) end += 1;
  if (end - start < PIECE) return undefined;
  const isWhole = end - start === text.length;
  return { ...(isWhole ? widen(line, start, end, form) : { start, end }), form, base };
}

const isAt = (line: string, at: number, text: string): boolean => at >= 0 && line.startsWith(text, at);

/** Letters of base64 at the borders of a value, and what fills up its end. */
function widen(line: string, start: number, end: number, { left, right }: SecretForm): Span {
  const from = left > 0 && isBase64(line.charCodeAt(start - 1)) ? start - 1 : start;
  let to = right > 0 && isBase64(line.charCodeAt(end)) ? end + 1 : end;
  if (right > 0) while (to - end < 3 && line[to] === '=') to += 1;
  return { start: from, end: to };
}

const isBase64 = (code: number): boolean => /[\w+/-]/.test(String.fromCharCode(code));

function occurrences(line: string, text: string): Span[] {
  const spans: Span[] = [];
  for (let at = line.indexOf(text); at >= 0; at = line.indexOf(text, at + 1))
    spans.push({ start: at, end: at + text.length });
  return spans;
}

/** Spans may overlap, where one secret is a part of another. */
function hide(line: string, spans: Span[]): string {
  spans.sort((one, other) => one.start - other.start);
  let text = '';
  let shown = 0;
  for (const { start, end } of spans) {
    if (start > shown || shown === 0) text += line.slice(shown, start) + MASK;
    shown = max(shown, end);
  }
  // A form that was found in part may end inside a character.
  return (text + line.slice(shown)).toWellFormed();
}
