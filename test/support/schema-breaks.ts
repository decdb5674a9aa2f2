import type { JsonSchema, OpenApiDocument } from '../../src/rest/openapi-types.ts';

/** What callers send must be taken as before; what they are shown must be what it was, and may be more. */
export type Direction = 'sent' | 'shown';

/** Two schemas and the documents their references lead into. `wide` should take whatever `narrow` describes. */
interface Pair {
  wide: JsonSchema;
  narrow: JsonSchema;
}

interface Plain extends JsonSchema {
  isNullable: boolean;
}

const LIMITS = [
  ['minLength', 1],
  ['minimum', 1],
  ['exclusiveMinimum', 1],
  ['minItems', 1],
  ['maxLength', -1],
  ['maximum', -1],
  ['maxItems', -1],
] as const;

/** Compares the schemas of two versions of the contract. */
export class SchemaBreaks {
  readonly #seen = new Set<string>();

  constructor(
    private readonly before: OpenApiDocument,
    private readonly after: OpenApiDocument,
  ) {}

  find(direction: Direction, before: JsonSchema, after: JsonSchema, place: string): string[] {
    const known = `${direction} ${before.$ref} ${after.$ref}`;
    if (before.$ref && this.#seen.has(known)) return [];
    if (before.$ref) this.#seen.add(known);
    const old = plain(before, this.before);
    const now = plain(after, this.after);
    const pair = direction === 'sent' ? { wide: now, narrow: old } : { wide: old, narrow: now };
    return [
      ...scalarFaults(pair, direction).map(fault => `${place}: ${fault}`),
      ...this.#itemFaults(direction, old, now, place),
      ...this.#propertyFaults(direction, old, now, place),
    ];
  }

  #itemFaults(direction: Direction, old: Plain, now: Plain, place: string): string[] {
    return old.items && now.items ? this.find(direction, old.items, now.items, `${place}[]`) : [];
  }

  #propertyFaults(direction: Direction, old: Plain, now: Plain, place: string): string[] {
    const { properties = {} } = now;
    const faults = Object.entries(old.properties ?? {}).flatMap(([name, schema]) => {
      const other = properties[name];
      const isGone = other === undefined && (direction === 'shown' || now.additionalProperties === false);
      if (isGone) return [`${place}.${name}: is gone`];
      return other === undefined ? [] : this.find(direction, schema, other, `${place}.${name}`);
    });
    const [more, fewer] = direction === 'sent' ? [now, old] : [old, now];
    const missing = (more.required ?? []).filter(name => !fewer.required?.includes(name) && name in properties);
    const word = direction === 'sent' ? 'is required now' : 'may be missing now';
    return [...faults, ...missing.map(name => `${place}.${name}: ${word}`)];
  }
}

function scalarFaults({ wide, narrow }: { wide: Plain; narrow: Plain }, direction: Direction): string[] {
  const [types, taken] = [typesOf(narrow), typesOf(wide)];
  const isTypeKept = taken.length === 0 || (types.length > 0 && types.every(type => taken.includes(type)));
  const rules: [boolean, string][] = [
    [isTypeKept, `its type changed: ${types} and ${taken}`],
    [wide.isNullable || !narrow.isNullable, direction === 'sent' ? 'null is refused now' : 'may be null now'],
    [isEnumKept({ wide, narrow }, direction), 'values are gone'],
    [wide.pattern === undefined || wide.pattern === narrow.pattern, 'its pattern changed'],
    [wide.format === undefined || wide.format === narrow.format, 'its format changed'],
    [direction === 'shown' || isSame(wide.default, narrow.default), 'its default changed'],
    [LIMITS.every(([name, sign]) => isWithin(wide[name], narrow[name], sign)), 'its limits are tighter'],
  ];
  return rules.flatMap(([holds, fault]) => (holds ? [] : [fault]));
}

/** A value more in an answer is an addition; callers are told to expect it. */
function isEnumKept({ wide, narrow }: Pair, direction: Direction): boolean {
  if (wide.enum === undefined) return true;
  if (narrow.enum === undefined) return false;
  return direction === 'shown' || narrow.enum.every(value => wide.enum?.includes(value));
}

const isWithin = (wide: number | undefined, narrow: number | undefined, sign: 1 | -1): boolean =>
  wide === undefined || (narrow !== undefined && (narrow - wide) * sign >= 0);

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const typesOf = ({ type }: JsonSchema): string[] => [type ?? []].flat().filter(name => name !== 'null');

/** References followed, and the two ways of saying "or null" brought to one. */
function plain(schema: JsonSchema, document: OpenApiDocument): Plain {
  if (schema.$ref !== undefined) {
    const found = document.components.schemas[schema.$ref.split('/').at(-1) ?? ''];
    return { ...plain(found ?? {}, document), ...(schema.default === undefined ? {} : { default: schema.default }) };
  }
  const [only] = schema.anyOf ?? [];
  if (only !== undefined && schema.anyOf?.some(({ type }) => type === 'null')) {
    return { ...plain(only, document), isNullable: true };
  }
  const isNullable = [schema.type].flat().includes('null');
  const isAnything = schema.type === undefined && schema.enum === undefined && schema.const === undefined;
  return { ...schema, isNullable: isNullable || isAnything };
}
