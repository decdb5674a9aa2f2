import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  type InlineFragmentNode,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql';
import { DomainError } from '../../errors.ts';

/** What one request may ask for, at every GraphQL door. */
export const QUERY_LIMITS = { tokens: 2000, depth: 10, rootFields: 10, aliases: 15, cost: 5000 } as const;

/** Fragments that spread fragments grow without end in few words; nobody counts further than this. */
const MOST_SELECTIONS = 10_000;

/** More than this is refused as bad input, which says more than the cost would. */
const LONGEST_LIST = 100;
const ROOT_LIST = 50;
const NESTED_LIST = 10;

/** Fields that may stand alone only: a thousand aliased sign-ins in one request are a thousand guesses. */
const ALONE = new Set(['register', 'login', 'verifyOtp', 'forgotPassword', 'resetPassword', 'refresh']);

export type Variables = Readonly<Record<string, unknown>> | null | undefined;

/** Checks a validated operation: depth, root fields, aliases, cost. A list costs its `limit` times what is under it. */
export function checkQueryLimits(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
): void {
  const walk = new Walk(schema, document, { ...defaultsOf(operation), ...variables });
  const rootFields = walk.roots(operation.selectionSet).filter(name => !name.startsWith('__'));
  refuseOver('root fields', rootFields.length, QUERY_LIMITS.rootFields);
  if (rootFields.some(name => ALONE.has(name))) refuseOver('fields beside a sign-in', rootFields.length, 1);
  const cost = walk.cost(operation.selectionSet, rootType(schema, operation), 1);
  refuseOver('aliases', walk.aliases, QUERY_LIMITS.aliases);
  refuseOver('levels of depth', walk.deepest, QUERY_LIMITS.depth);
  refuseOver('points of cost', cost, QUERY_LIMITS.cost);
}

export function countRootFields(document: DocumentNode, operation: OperationDefinitionNode): number {
  return new Walk(undefined, document, {}).roots(operation.selectionSet).length;
}

/** What a variable stands for where the request leaves it out. */
const defaultsOf = ({ variableDefinitions = [] }: OperationDefinitionNode): Record<string, unknown> =>
  Object.fromEntries(
    variableDefinitions.map(({ variable, defaultValue }) => [
      variable.name.value,
      defaultValue && valueFromASTUntyped(defaultValue),
    ]),
  );

function refuseOver(what: string, amount: number, limit: number): void {
  if (amount <= limit) return;
  throw new DomainError('QUERY_TOO_COMPLEX', `The query asks for more than ${limit} ${what}; ask in several requests`);
}

const rootType = (schema: GraphQLSchema, { operation }: OperationDefinitionNode): GraphQLNamedType | undefined =>
  schema.getRootType(operation) ?? undefined;

type Spread = FragmentSpreadNode | InlineFragmentNode;

class Walk {
  aliases = 0;
  deepest = 0;
  #selections = 0;
  readonly #fragments: Map<string, FragmentDefinitionNode>;

  constructor(
    private readonly schema: GraphQLSchema | undefined,
    document: DocumentNode,
    private readonly variables: Readonly<Record<string, unknown>>,
  ) {
    const fragments = document.definitions.filter(definition => definition.kind === Kind.FRAGMENT_DEFINITION);
    this.#fragments = new Map(fragments.map(fragment => [fragment.name.value, fragment]));
  }

  roots({ selections }: SelectionSetNode): string[] {
    return selections.flatMap(selection => {
      this.#step();
      if (selection.kind === Kind.FIELD) return [selection.name.value];
      const inner = this.#spread(selection);
      return inner ? this.roots(inner.selectionSet) : [];
    });
  }

  cost(set: SelectionSetNode, type: GraphQLNamedType | undefined, depth: number): number {
    let sum = 0;
    for (const selection of set.selections) {
      this.#step();
      if (selection.kind === Kind.FIELD) sum += this.#fieldCost(selection, type, depth);
      else sum += this.#spreadCost(selection, type, depth);
    }
    return sum;
  }

  #step(): void {
    this.#selections += 1;
    refuseOver('selections, fragments counted each time', this.#selections, MOST_SELECTIONS);
  }

  #spreadCost(selection: Spread, type: GraphQLNamedType | undefined, depth: number): number {
    const inner = this.#spread(selection);
    if (inner === undefined) return 0;
    const condition = inner.typeCondition?.name.value;
    return this.cost(inner.selectionSet, condition ? this.schema?.getType(condition) : type, depth);
  }

  #spread(selection: Spread): FragmentDefinitionNode | InlineFragmentNode | undefined {
    return selection.kind === Kind.INLINE_FRAGMENT ? selection : this.#fragments.get(selection.name.value);
  }

  /** Introspection is exempt: where it is allowed, tools ask for all of it at once. */
  #fieldCost(field: FieldNode, parent: GraphQLNamedType | undefined, depth: number): number {
    if (field.name.value.startsWith('__')) return 0;
    if (field.alias) this.aliases += 1;
    this.deepest = Math.max(this.deepest, depth);
    const hasFields = isObjectType(parent) || isInterfaceType(parent);
    const definition = hasFields ? parent.getFields()[field.name.value] : undefined;
    if (definition === undefined || field.selectionSet === undefined) return 0;
    const type = getNamedType(definition.type);
    const below = isCompositeType(type) ? 1 + this.cost(field.selectionSet, type, depth + 1) : 0;
    return isListType(getNullableType(definition.type)) ? below * this.#limitOf(field, depth) : below;
  }

  #limitOf(field: FieldNode, depth: number): number {
    const value = field.arguments?.find(({ name }) => name.value === 'limit')?.value;
    const given =
      value?.kind === Kind.VARIABLE
        ? this.variables[value.name.value]
        : value?.kind === Kind.INT && Number(value.value);
    const usual = depth === 1 ? ROOT_LIST : NESTED_LIST;
    return typeof given === 'number' && given >= 0 ? Math.min(given, LONGEST_LIST) : usual;
  }
}
