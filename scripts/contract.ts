import { type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { resolvers } from '../src/resolvers/index.ts';
import { describeRest } from '../src/rest/openapi.ts';
import { createSchema } from '../src/schema/build-schema.ts';
import { Idempotency } from '../src/schema/idempotency.ts';
import { Keyring } from '../src/security/keyring.ts';

export type ContractFile = 'schema.graphql' | 'openapi.json';

/** What the code promises to its callers, in both words. Needs no database: nothing is resolved. */
export async function emitContract(): Promise<Record<ContractFile, string>> {
  const schema = await publishedSchema();
  return {
    'schema.graphql': `${printSchema(lexicographicSortSchema(schema))}\n`,
    'openapi.json': `${JSON.stringify(describeRest(schema), null, 2)}\n`,
  };
}

export function publishedSchema(): Promise<GraphQLSchema> {
  const keyring = new Keyring('a key that seals nothing, since nothing is resolved', []);
  return createSchema(resolvers, new Idempotency(keyring));
}
