import {
  type DocumentNode,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInputType,
  isObjectType,
  Kind,
  TypeInfo,
  typeFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Deprecation } from '../../services/scope.ts';
import { type Reason, readDeprecation, reasonsOfValue } from '../deprecation.ts';
import type { Variables } from './query-limits.ts';

/** What a document uses in any case, and what only with a variable that is given. */
interface Parts {
  always: Reason[];
  withVariable: [name: string, reason: Reason][];
}

const partsOf = new WeakMap<DocumentNode, Parts>();
const schemasWithout = new WeakMap<GraphQLSchema, boolean>();

/** What an operation of GraphQL uses that is deprecated: fields it selects, arguments and input it gives. */
export function deprecationIn(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Variables,
): Deprecation | undefined {
  if (hasNone(schema)) return undefined;
  const parts = partsOf.get(document) ?? findParts(schema, document);
  partsOf.set(document, parts);
  const given = parts.withVariable.filter(([name]) => variables?.[name] !== undefined).map(([, reason]) => reason);
  return readDeprecation([...parts.always, ...given, ...reasonsOfVariables(schema, document, variables ?? {})]);
}

function hasNone(schema: GraphQLSchema): boolean {
  const known = schemasWithout.get(schema);
  if (known !== undefined) return known;
  const isNone = Object.values(schema.getTypeMap()).every(type => {
    if (isEnumType(type)) return type.getValues().every(isCurrent);
    if (isInputObjectType(type)) return Object.values(type.getFields()).every(isCurrent);
    if (!isObjectType(type) || type.name.startsWith('__')) return true;
    return Object.values(type.getFields()).every(field => isCurrent(field) && field.args.every(isCurrent));
  });
  schemasWithout.set(schema, isNone);
  return isNone;
}

const isCurrent = ({ deprecationReason }: { deprecationReason?: Reason }): boolean => !deprecationReason;

function findParts(schema: GraphQLSchema, document: DocumentNode): Parts {
  const parts: Parts = { always: [], withVariable: [] };
  const info = new TypeInfo(schema);
  const add = (reason: Reason) => void parts.always.push(reason);
  visit(
    document,
    visitWithTypeInfo(info, {
      Field: () => add(info.getFieldDef()?.deprecationReason),
      Argument: ({ value }) => {
        const reason = info.getArgument()?.deprecationReason;
        if (value.kind === Kind.VARIABLE) parts.withVariable.push([value.name.value, reason]);
        else add(reason);
      },
      ObjectField: ({ name }) => {
        const parent = info.getParentInputType();
        if (isInputObjectType(parent)) add(parent.getFields()[name.value]?.deprecationReason);
      },
      EnumValue: () => add(info.getEnumValue()?.deprecationReason),
    }),
  );
  return parts;
}

function reasonsOfVariables(schema: GraphQLSchema, { definitions }: DocumentNode, values: Record<string, unknown>) {
  return definitions
    .flatMap(definition =>
      definition.kind === Kind.OPERATION_DEFINITION ? (definition.variableDefinitions ?? []) : [],
    )
    .flatMap(({ variable, type }) => {
      const value = values[variable.name.value];
      const known = value === undefined ? undefined : typeFromAST(schema, type as never);
      return known && isInputType(known) ? reasonsOfValue(known, value) : [];
    });
}
