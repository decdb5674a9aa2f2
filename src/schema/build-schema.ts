import 'reflect-metadata';
import { GraphQLEnumType, GraphQLSchema } from 'graphql';
import { buildSchema, type NonEmptyArray, type PubSub } from 'type-graphql';
import { type ErrorCode, errorStatus } from '../errors.ts';
import { meaningOf } from './error-meanings.ts';
import { guard } from './guard.ts';
import type { Idempotency } from './idempotency.ts';
import { validateArguments } from './validate-arguments.ts';

type ResolverClass = new () => object;

/** The schema all three doors open on. */
export async function createSchema(
  resolvers: readonly ResolverClass[],
  idempotency: Idempotency,
): Promise<GraphQLSchema> {
  const schema = await buildSchema({
    resolvers: [...resolvers] as unknown as NonEmptyArray<() => void>,
    validateFn: validateArguments,
    pubSub: noPubSub,
    // Its own check asks the schema everything about itself at each start; a test does that once.
    skipCheck: true,
  });
  return guard(withErrorCodes(schema), idempotency);
}

/** TypeGraphQL wants one, but our subscriptions bring their own source: rows read by cursor. Nothing is ever published here. */
const noPubSub: PubSub = {
  publish: () => {
    throw new TypeError('events are rows: use UnitOfWork.tell');
  },
  subscribe: () => {
    throw new TypeError('give the subscription a `subscribe` that opens a stream');
  },
};

/** No field returns it, since codes travel in `extensions`; it is published all the same. */
function withErrorCodes(schema: GraphQLSchema): GraphQLSchema {
  const values = Object.entries(errorStatus).map(([code, status]) => [
    code,
    { description: `Status ${status}. ${meaningOf(code as ErrorCode)}` },
  ]);
  const errorCode = new GraphQLEnumType({
    name: 'ErrorCode',
    description: 'What `extensions.code` of an error, or `code` of a problem document, can be.',
    values: Object.fromEntries(values),
  });
  const config = schema.toConfig();
  return new GraphQLSchema({ ...config, types: [...config.types, errorCode] });
}
