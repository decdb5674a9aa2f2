import 'reflect-metadata';
import type { GraphQLField, GraphQLSchema } from 'graphql';
import { resolvers } from '../../src/resolvers/index.ts';
import { type Method, type RouteName, routes } from '../../src/rest/routes.ts';
import { createSchema } from '../../src/schema/build-schema.ts';
import { Idempotency } from '../../src/schema/idempotency.ts';
import { Keyring } from '../../src/security/keyring.ts';

export const idempotency = new Idempotency(new Keyring('a test key that is long enough to be one'));

/** The schema as the service has it, to generate cases from. */
export const testSchema = (): Promise<GraphQLSchema> => createSchema(resolvers, idempotency);

export interface RootField {
  name: RouteName;
  method: Method;
  path: string;
  field: GraphQLField<unknown, unknown>;
}

export const rootFields = (schema: GraphQLSchema): RootField[] =>
  (Object.keys(routes) as RouteName[]).map(name => {
    const [type = '', field = ''] = name.split('.');
    const root = schema.getType(type) as unknown as { getFields(): Record<string, GraphQLField<unknown, unknown>> };
    return { name, ...routes[name], field: root.getFields()[field] as GraphQLField<unknown, unknown> };
  });
