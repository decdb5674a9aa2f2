const ESC = '\u001b';
const CSI = `(?:${ESC}\\[|\u009b)[0-?]*[ -/]*[@-~]`;
const TITLES = `${ESC}[\\]PX^_][^\u0007${ESC}\u009c]*(?:\u0007|${ESC}\\\\|\u009c)`;

/** Colours, titles and what else is meant for a terminal, then whatever is left of control characters; a tab is text. */
const FOR_TERMINALS = new RegExp(`${CSI}|${TITLES}|${ESC}[ -/]*[0-~]?|[^\\P{Cc}\\t\\0]`, 'gu');

const UNPLAIN = /[^\P{Cc}\t]/u;

/** Text without what is meant for a terminal, and without NUL, which no database takes. */
export const plainText = (text: string): string =>
  UNPLAIN.test(text) ? text.replace(FOR_TERMINALS, '').replaceAll('\0', '\u{fffd}') : text;

/** Cut at whole characters into parts of so many bytes at most. */
export function splitText(text: string, mostBytes: number): string[] {
  // A unit of UTF-16 is three bytes of UTF-8 at most.
  if (text.length * 3 <= mostBytes || Buffer.byteLength(text) <= mostBytes) return [text];
  const bytes = Buffer.from(text);
  const parts: string[] = [];
  for (let start = 0; start < bytes.length; ) {
    let end = Math.min(start + mostBytes, bytes.length);
    while (end < bytes.length && ((bytes[end] as number) & 0xc0) === 0x80) end -= 1;
    parts.push(bytes.toString('utf8', start, end));
    start = end;
  }
  return parts;
}
