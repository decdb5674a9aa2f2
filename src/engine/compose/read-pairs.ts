import type { Spot } from './spot.ts';

const LONGEST_KEY = 256;

/** `KEY: value` or `- KEY=value`. A key alone takes the variable of that name, where it is set. */
export function readPairs(spot: Spot): Record<string, string> {
  const pairs = new Map<string, string>();
  const { variables } = spot.reading;
  for (const [key, value] of spot.isList ? inList(spot) : inMap(spot)) {
    if (key === '' || key.length > LONGEST_KEY || /[=\p{Cc}]/u.test(key)) spot.refuse('has a name that cannot be used');
    if (value !== null) pairs.set(key, value);
    else if (Object.hasOwn(variables, key)) {
      const given = variables[key] ?? '';
      spot.reading.use(key, given.length, spot.place);
      pairs.set(key, given);
    }
  }
  return Object.fromEntries(pairs);
}

const inMap = (spot: Spot): [string, string | null][] =>
  spot.fields().map(([key, field]) => [key, field.isNull ? null : field.text()]);

const inList = (spot: Spot): [string, string | null][] =>
  spot.list().map(each => {
    const text = each.text();
    const sign = text.indexOf('=');
    return sign < 0 ? [text, null] : [text.slice(0, sign), text.slice(sign + 1)];
  });
