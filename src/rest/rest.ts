import {
  type DocumentNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  type GraphQLType,
  getNamedType,
  isObjectType,
  Kind,
} from 'graphql';
import { useSofa } from 'sofa-api';
import { deprecationOfCalls } from '../schema/deprecation.ts';
import type { Deprecation } from '../services/scope.ts';
import { ArgumentReader } from './arguments.ts';
import { type Route, type RouteName, routeEntries, routes } from './routes.ts';

export const BASE_PATH = '/api/v1';

/** A route as SOFA made it from a root field: the operation it stands for and how its arguments are read. */
export interface Operation {
  name: RouteName;
  field: string;
  route: Route;
  reader: ArgumentReader;
  /** What a call with these arguments uses that is deprecated. */
  deprecation(variables: Record<string, unknown>): Deprecation | undefined;
  /** The operation SOFA made for the route. */
  document(): Promise<DocumentNode>;
}

type SofaHandler = (request: object, context: object) => Promise<unknown>;

/** Passes through SOFA's handler and comes back with the operation. */
interface Question {
  document?: DocumentNode;
}

const DONE = new Response();

/**
 * SOFA makes the routes and their operations from the REST view of the schema. Its handler is asked once for the operation
 * it would run; we read the arguments, run it and write the answer ourselves: it drops nulls, ignores unknown fields, turns
 * bad booleans into false and answers 500 to bad input.
 */
export function createOperations(schema: GraphQLSchema): { operations: Operation[]; openApi: unknown } {
  describeRoots(schema);
  const sofa = useSofa({
    basePath: BASE_PATH,
    schema,
    routes: sofaRoutes(),
    ignore: embeddedFields(schema),
    context: context => context,
    execute: args => {
      (args.contextValue as Question).document = args.document;
      // An empty list of errors makes SOFA ask its error handler for the answer: ours is written elsewhere.
      return Promise.resolve({ errors: [] });
    },
    errorHandler: errors => {
      if (errors.length > 0) throw errors[0];
      return DONE as never;
    },
    openAPI: { endpoint: false as never },
  });
  const handlers = new Map(
    sofa.__routes.map(({ method, path, handler }) => [`${method} ${path}`, handler as SofaHandler]),
  );
  const operations = routeEntries.flatMap(([name, route]) => {
    const handler = handlers.get(`${route.method} ${route.path}`);
    return handler && !name.startsWith('Subscription.') ? [toOperation(schema, name, route, handler)] : [];
  });
  return { operations, openApi: sofa.openAPIDocument };
}

/** SOFA looks up descriptions in the syntax of the roots; where they have none it would print and parse them for each argument of each route. */
function describeRoots(schema: GraphQLSchema): void {
  for (const root of [schema.getQueryType(), schema.getMutationType()]) {
    if (root) root.astNode = { kind: Kind.OBJECT_TYPE_DEFINITION, ...described(root), fields: fieldNodes(root) };
  }
}

const fieldNodes = (root: GraphQLObjectType) =>
  Object.values(root.getFields()).map(field => ({
    kind: Kind.FIELD_DEFINITION as const,
    ...described(field),
    type: typeNode(field),
    arguments: field.args.map(arg => ({
      kind: Kind.INPUT_VALUE_DEFINITION as const,
      ...described(arg),
      type: typeNode(arg),
    })),
  }));

const nameNode = (value: string) => ({ kind: Kind.NAME as const, value });
const typeNode = ({ type }: { type: GraphQLType }) => ({
  kind: Kind.NAMED_TYPE as const,
  name: nameNode(getNamedType(type).name),
});
const described = ({ name, description }: { name: string; description?: string | null | undefined }) => ({
  name: nameNode(name),
  ...(description ? { description: { kind: Kind.STRING as const, value: description } } : {}),
});

/** SOFA would show nothing but the id of what has a route of its own; these are part of the answer all the same. */
function embeddedFields(schema: GraphQLSchema): string[] {
  return Object.values(schema.getTypeMap()).flatMap(type =>
    isObjectType(type)
      ? Object.values(type.getFields()).flatMap(({ name, extensions }) =>
          extensions.embedded === true ? [`${type.name}.${name}`] : [],
        )
      : [],
  );
}

function sofaRoutes(): Parameters<typeof useSofa>[0]['routes'] {
  const rows = routeEntries.filter(([name]) => !name.startsWith('Subscription.'));
  return Object.fromEntries(
    rows.map(([name, { method, path, status, tag }]) => [
      name,
      { method, path, responseStatus: status ?? 200, tags: [tag] },
    ]),
  );
}

function toOperation(schema: GraphQLSchema, name: RouteName, route: Route, handler: SofaHandler): Operation {
  const field = fieldOf(schema, name);
  let asked: Promise<DocumentNode> | undefined;
  const document = () => (asked ??= askFor(name, route, handler));
  const deprecation = deprecationOfCalls(field);
  return { name, field: field.name, route, reader: readerFor(field, route), deprecation, document };
}

async function askFor(name: RouteName, { path }: Route, handler: SofaHandler): Promise<DocumentNode> {
  const question: Question = {};
  await handler({ url: path, body: null, params: {} }, question);
  if (question.document === undefined) throw new TypeError(`SOFA did not run ${name}`);
  return question.document;
}

export function fieldOf(schema: GraphQLSchema, name: string): GraphQLField<unknown, unknown> {
  const [typeName = '', fieldName = ''] = name.split('.');
  const types = {
    Query: schema.getQueryType(),
    Mutation: schema.getMutationType(),
    Subscription: schema.getSubscriptionType(),
  };
  const field = types[typeName as keyof typeof types]?.getFields()[fieldName];
  if (field === undefined) throw new Error(`rest/routes.ts names ${name}, which the schema does not have`);
  return field;
}

export function readerFor(field: GraphQLField<unknown, unknown>, { method, path, query }: Route): ArgumentReader {
  const pathNames = new Set([...path.matchAll(/:(\w+)/g)].map(([, name]) => name as string));
  const hasBody = method !== 'GET' && method !== 'DELETE';
  return new ArgumentReader(field.args, pathNames, hasBody, new Set(query));
}

/** Root fields that have no route, and routes that have no root field. */
export function strayRoutes(schema: GraphQLSchema): string[] {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const fields = roots.flatMap(root => Object.keys(root?.getFields() ?? {}).map(field => `${root?.name}.${field}`));
  const rows: string[] = Object.keys(routes);
  return [...fields.filter(name => !rows.includes(name)), ...rows.filter(name => !fields.includes(name))];
}
