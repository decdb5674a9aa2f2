import type { GraphQLField, GraphQLInputType, GraphQLNamedType } from 'graphql';
import { getNamedType, getNullableType, isEnumType, isInputObjectType, isListType } from 'graphql';
import type { Deprecation } from '../services/scope.ts';

/** Words for `@deprecated` that say at every door what to use instead, since when, and when it will be gone (YYYY-MM-DD). */
export const deprecated = (instead: string, since: string, until: string) => ({
  deprecationReason: `${instead} Deprecated since ${since}, gone after ${until}.`,
});

const DATES = / Deprecated since (\d{4}-\d\d-\d\d), gone after (\d{4}-\d\d-\d\d)\.$/;

export type Reason = string | null | undefined;
type Field = GraphQLField<unknown, unknown>;
type Values = Record<string, unknown>;

/** The first that was deprecated, and the first that goes. */
export function readDeprecation(reasons: readonly Reason[]): Deprecation | undefined {
  const dates = reasons.flatMap(reason => (reason ? [datesOf(reason)] : []));
  if (dates.length === 0) return undefined;
  const earliest = (name: keyof Deprecation) => new Date(Math.min(...dates.map(each => each[name].getTime())));
  return { since: earliest('since'), until: earliest('until') };
}

function datesOf(reason: string): Deprecation {
  const [, since = '', until = ''] = DATES.exec(reason) ?? [];
  const read = { since: new Date(since), until: new Date(until) };
  if (!(read.since < read.until)) throw new TypeError(`say it by deprecated() of schema/deprecation.ts: ${reason}`);
  return read;
}

/** RFC 9745 and RFC 8594. */
export function deprecationHeaders(deprecation: Deprecation | undefined): Map<string, string> {
  if (deprecation === undefined) return new Map();
  const { since, until } = deprecation;
  return new Map([
    ['Deprecation', `@${since.getTime() / 1000}`],
    ['Sunset', until.toUTCString()],
  ]);
}

/** What calls of a root field use that is deprecated: the field itself, and arguments that are given. Mostly that is nothing. */
export function deprecationOfCalls(field: Field): (values: Values) => Deprecation | undefined {
  const seen = new Set<GraphQLNamedType>();
  const isCurrent = isNew(field) && field.args.every(arg => isNew(arg) && isNewType(arg.type, seen));
  return isCurrent ? () => undefined : values => readDeprecation(reasonsOfCall(field, values));
}

const isNew = ({ deprecationReason }: { deprecationReason?: Reason }): boolean => !deprecationReason;

function isNewType(type: GraphQLInputType, seen: Set<GraphQLNamedType>): boolean {
  const named = getNamedType(type);
  if (seen.has(named)) return true;
  seen.add(named);
  if (isEnumType(named)) return named.getValues().every(isNew);
  if (!isInputObjectType(named)) return true;
  return Object.values(named.getFields()).every(field => isNew(field) && isNewType(field.type, seen));
}

const reasonsOfCall = ({ deprecationReason, args }: Field, values: Values): Reason[] => [
  deprecationReason,
  ...args.flatMap(arg =>
    values[arg.name] === undefined ? [] : [arg.deprecationReason, ...reasonsOfValue(arg.type, values[arg.name])],
  ),
];

/** Fields of input objects and values of enums, wherever they are given. */
export function reasonsOfValue(type: GraphQLInputType, value: unknown): Reason[] {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    return (Array.isArray(value) ? value : [value]).flatMap(item => reasonsOfValue(nullable.ofType, item));
  }
  if (isEnumType(nullable)) return [nullable.getValue(String(value))?.deprecationReason];
  if (!isInputObjectType(nullable) || typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => {
    const field = nullable.getFields()[name];
    return field ? [field.deprecationReason, ...reasonsOfValue(field.type, part)] : [];
  });
}
