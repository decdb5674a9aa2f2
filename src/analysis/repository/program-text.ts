/** Program text without its comments, in one pass: a setting that is commented out is no setting. Strings stay as they are. */
export function withoutComments(text: string): string {
  let kept = '';
  let at = 0;
  while (at < text.length) {
    const end = endOfPart(text, at);
    if (!isComment(text, at)) kept += text.slice(at, end);
    at = end;
  }
  return kept;
}

const isComment = (text: string, at: number): boolean => text.startsWith('//', at) || text.startsWith('/*', at);

function endOfPart(text: string, at: number): number {
  const character = text[at];
  if (text.startsWith('//', at)) return endOf(text, '\n', at, 0);
  if (text.startsWith('/*', at)) return endOf(text, '*/', at + 2, 2);
  if (character === '"' || character === "'" || character === '`') return endOfString(text, at, character);
  let next = at + 1;
  while (next < text.length && !/["'`/]/.test(text[next] as string)) next += 1;
  return next;
}

function endOf(text: string, mark: string, from: number, length: number): number {
  const found = text.indexOf(mark, from);
  return found === -1 ? text.length : found + length;
}

function endOfString(text: string, start: number, quote: string): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === quote || (text[at] === '\n' && quote !== '`')) return at + 1;
  }
  return text.length;
}
