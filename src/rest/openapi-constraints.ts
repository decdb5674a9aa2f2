import { types } from 'node:util';
import { getMetadataStorage as getValidations } from 'class-validator';
import { getMetadataStorage as getSchemaMarks } from 'type-graphql';
import type { JsonSchema } from './openapi-types.ts';

type Class = abstract new (...args: never[]) => object;
type Root = 'Query' | 'Mutation' | 'Subscription';

interface Handler {
  target: object;
  methodName: string;
  schemaName: string;
}

/** TypeGraphQL keeps these to itself; `getMetadataStorage` is its only way in. */
interface SchemaMarks {
  queries: Handler[];
  mutations: Handler[];
  subscriptions: Handler[];
  inputTypes: { name: string; target: Class }[];
  params: { kind: string; target: object; methodName: string; getType?: () => unknown }[];
}

/** What the checks of an input class ask of one property. */
export interface Constraints {
  keywords: JsonSchema;
  /** Whether null passes the checks; whether the schema lets it through is another matter. */
  takesNull: boolean;
}

const NO_CONSTRAINTS: Constraints = { keywords: {}, takesNull: true };

/** The rules that hold for the arguments of a root field, read off the class that receives them. */
export function constraintsOfField(root: Root, field: string): (property: string) => Constraints {
  const marks = getSchemaMarks() as unknown as SchemaMarks;
  const handlers = { Query: marks.queries, Mutation: marks.mutations, Subscription: marks.subscriptions }[root];
  const handler = handlers.find(({ schemaName }) => schemaName === field);
  const param = marks.params.find(
    ({ kind, target, methodName }) =>
      kind === 'args' && target === handler?.target && methodName === handler.methodName,
  );
  return constraintsOf(param?.getType?.() as Class | undefined);
}

/** The same for an input type. */
export function constraintsOfInput(name: string): (property: string) => Constraints {
  const marks = getSchemaMarks() as unknown as SchemaMarks;
  return constraintsOf(marks.inputTypes.find(input => input.name === name)?.target);
}

interface Check {
  type: string;
  name?: string;
  propertyName: string;
  constraints?: unknown[];
  each: boolean;
}

function constraintsOf(type: Class | undefined): (property: string) => Constraints {
  if (type === undefined) return () => NO_CONSTRAINTS;
  const checks: Check[] = getValidations().getTargetValidationMetadatas(type, '', false, false);
  return property => summarize(checks.filter(({ propertyName }) => propertyName === property));
}

function summarize(checks: Check[]): Constraints {
  const keywords: JsonSchema = {};
  for (const { name, constraints, each } of checks) {
    const found = keywordsOf(name ?? '', constraints ?? []);
    if (each) keywords.items = { ...keywords.items, ...found };
    else Object.assign(keywords, found);
  }
  const isChecked = checks.some(({ type }) => type === 'customValidation');
  return { keywords, takesNull: !isChecked || checks.some(spareNull) };
}

/** Whether null is spared the checks: `Clearable` and `IsOptional` spare it, `Omittable` does not. */
function spareNull({ type, propertyName, constraints = [] }: Check): boolean {
  const [condition] = constraints;
  return (
    type === 'conditionalValidation' && typeof condition === 'function' && !condition({ [propertyName]: null }, null)
  );
}

const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

const KEYWORDS: Readonly<Record<string, (constraints: unknown[]) => JsonSchema>> = {
  isLength: ([min, max]) => ({ minLength: number(min), maxLength: number(max) }),
  minLength: ([min]) => ({ minLength: number(min) }),
  maxLength: ([max]) => ({ maxLength: number(max) }),
  isNotEmpty: () => ({ minLength: 1 }),
  min: ([min]) => ({ minimum: number(min) }),
  max: ([max]) => ({ maximum: number(max) }),
  isPositive: () => ({ exclusiveMinimum: 0 }),
  isEmail: () => ({ format: 'email' }),
  isUuid: () => ({ format: 'uuid' }),
  isFqdn: () => ({ format: 'hostname' }),
  isUrl: () => ({ format: 'uri' }),
  isIso8601: () => ({ format: 'date-time' }),
  isIn: ([values]) => ({ enum: values as unknown[] }),
  arrayMinSize: ([min]) => ({ minItems: number(min) }),
  arrayMaxSize: ([max]) => ({ maxItems: number(max) }),
  arrayUnique: () => ({ uniqueItems: true }),
  // JSON Schema has no flags; a pattern that needs them cannot be told.
  matches: ([pattern]) =>
    types.isRegExp(pattern) && pattern.flags.replace('u', '') === '' ? { pattern: pattern.source } : {},
};

function keywordsOf(name: string, constraints: unknown[]): JsonSchema {
  const entries = Object.entries(KEYWORDS[name]?.(constraints) ?? {});
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}
