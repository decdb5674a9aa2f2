import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
} from 'graphql';
import { isPermission, type Permission } from '../schema/authorize.ts';
import { isKeyed } from '../schema/idempotency.ts';
import { fieldOf } from './rest.ts';
import type { Route } from './routes.ts';

type Root = 'Query' | 'Mutation' | 'Subscription';

/** What a route and its root field say about an operation; everything the document tells follows from these. */
export interface Facts {
  root: Root;
  field: GraphQLField<unknown, unknown>;
  route: Route;
  permission: Permission;
  /** Each argument has one place; `ifVersion` travels as If-Match and has none here. */
  args: Readonly<Record<'path' | 'query' | 'body', readonly GraphQLArgument[]>>;
  isStream: boolean;
  isList: boolean;
  /** Answers a resource that counts its changes. */
  isVersioned: boolean;
  takesIfMatch: boolean;
  takesKey: boolean;
  /** A stream of stored rows, which can be picked up where it was left. */
  resumes: boolean;
  /** The operation itself, or an argument of it. */
  hasDeprecated: boolean;
}

export function factsOf(schema: GraphQLSchema, name: string, route: Route): Facts {
  const field = fieldOf(schema, name);
  const { permission } = field.extensions;
  if (!isPermission(permission)) throw new Error(`${name} declares no permission`);
  const isStream = name.startsWith('Subscription.');
  const has = (argument: string) => field.args.some(arg => arg.name === argument);
  return {
    root: name.split('.')[0] as Root,
    field,
    route,
    permission,
    args: placesOf(field, route),
    isStream,
    isList: isListType(getNullableType(field.type)),
    isVersioned: !isStream && hasVersion(field),
    takesIfMatch: has('ifVersion'),
    takesKey: route.method === 'POST' && !isStream && isKeyed(field),
    resumes: isStream && has('after'),
    hasDeprecated: [field, ...field.args].some(({ deprecationReason }) => deprecationReason),
  };
}

function placesOf({ args }: GraphQLField<unknown, unknown>, { method, path, query = [] }: Route): Facts['args'] {
  const inPath = new Set([...path.matchAll(/:(\w+)/g)].map(([, name]) => name));
  const hasBody = method !== 'GET' && method !== 'DELETE';
  const isInQuery = (name: string) => !hasBody || query.includes(name);
  const others = args.filter(({ name }) => !inPath.has(name) && name !== 'ifVersion');
  return {
    path: args.filter(({ name }) => inPath.has(name)),
    query: others.filter(({ name }) => isInQuery(name)),
    body: others.filter(({ name }) => !isInQuery(name)),
  };
}

function hasVersion({ type }: GraphQLField<unknown, unknown>): boolean {
  const named = getNamedType(type);
  return !isListType(getNullableType(type)) && isObjectType(named) && 'version' in named.getFields();
}
