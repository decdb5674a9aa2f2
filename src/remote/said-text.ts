/**
 * What a machine says may be anything. Control characters have no business in a line for people, PostgreSQL keeps neither NUL nor
 * halves of characters, and a cut may leave such a half.
 */
export const saidText = (text: string, longest: number): string =>
  text
    .replace(/[\p{Cc}\u2028\u2029]/gu, ' ')
    .trim()
    .slice(0, longest)
    .toWellFormed();

/** The last thing that was complained of: it is what helps. */
export const lastLine = (stderrTail: string, longest: number): string =>
  saidText(stderrTail.trim().split('\n').at(-1) ?? '', longest);
