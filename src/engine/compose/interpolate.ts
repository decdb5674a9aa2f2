/** Puts variables into a text as compose does: `$A`, `${A}`, `${A:-x}`, `${A-x}`, `${A:?x}`, `${A?x}`, `${A:+x}`, `${A+x}`, `$$`. */
export interface Interpolation {
  variables: Readonly<Record<string, string>>;
  /** Nobody set it, and no other value is given: it stays empty. */
  onUnset(name: string): void;
  /** A variable was put in, so long: a short text can ask for a long value very often. */
  onFilled(name: string, characters: number): void;
  /** The text cannot be filled in; `why` follows the place it stands at. */
  fail(why: string, hint?: string): never;
}

const MOST_NESTED = 8;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const OPERATOR = /:?[-?+]/y;

export function interpolate(text: string, how: Interpolation, depth = 0): string {
  if (depth > MOST_NESTED) how.fail('nests variables too deep');
  let filled = '';
  let at = 0;
  for (let next = text.indexOf('$'); next >= 0; next = text.indexOf('$', at)) {
    filled += text.slice(at, next);
    const piece = pieceAt(text, next, how, depth);
    filled += piece.value;
    at = piece.end;
  }
  return filled + text.slice(at);
}

interface Piece {
  value: string;
  end: number;
}

function pieceAt(text: string, at: number, how: Interpolation, depth: number): Piece {
  if (text[at + 1] === '$') return { value: '$', end: at + 2 };
  if (text[at + 1] === '{') return braced(text, at, how, depth);
  const name = match(NAME, text, at + 1);
  if (name === null) return how.fail('has a $ that begins no variable', 'Write $$ for a plain $.');
  return { value: variable(name, how), end: at + 1 + name.length };
}

function braced(text: string, at: number, how: Interpolation, depth: number): Piece {
  const close = closingBrace(text, at + 2);
  const name = match(NAME, text, at + 2);
  if (close === null || name === null) return how.fail('has a ${ that is no variable', 'Write $$ for a plain $.');
  const rest = text.slice(at + 2 + name.length, close);
  const end = close + 1;
  if (rest === '') return { value: variable(name, how), end };
  const operator = match(OPERATOR, rest, 0);
  if (operator === null) return how.fail('has a ${ that is no variable', 'Write $$ for a plain $.');
  const other = rest.slice(operator.length);
  return { value: choose(name, operator, other, how, depth), end };
}

function choose(name: string, operator: string, other: string, how: Interpolation, depth: number): string {
  const value = Object.hasOwn(how.variables, name) ? how.variables[name] : undefined;
  const isThere = value !== undefined && (!operator.startsWith(':') || value !== '');
  if (operator.endsWith('+')) return isThere ? interpolate(other, how, depth + 1) : '';
  if (isThere) return variable(name, how);
  if (operator.endsWith('-')) return interpolate(other, how, depth + 1);
  return how.fail(`needs the variable ${name}${reason(other)}`, `Set the variable ${name} of the environment.`);
}

function variable(name: string, how: Interpolation): string {
  const value = Object.hasOwn(how.variables, name) ? how.variables[name] : undefined;
  if (value === undefined) how.onUnset(name);
  how.onFilled(name, value?.length ?? 0);
  return value ?? '';
}

/** What the file says to whoever forgot it. */
const reason = (said: string): string => {
  const plain = said.replace(/\p{Cc}+/gu, ' ').trim();
  return plain === '' ? '' : ` (${plain.slice(0, 120)})`;
};

function closingBrace(text: string, from: number): number | null {
  let open = 1;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '}') open -= 1;
    else if (text[at] === '{') open += 1;
    if (open === 0) return at;
  }
  return null;
}

function match(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}
