import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import { Forbidden } from '../errors.ts';
import { authorize, isPermission, type Permission } from './authorize.ts';
import { refuseBrokenText } from './broken-text.ts';
import type { Context } from './context.ts';
import type { Idempotency } from './idempotency.ts';

type Field = GraphQLField<unknown, Context>;
type Resolve = GraphQLFieldResolver<unknown, Context>;

/**
 * Puts the permission check around every root field, of queries, mutations and subscriptions alike,
 * so that no door and no resolver can leave it out. A field that declares none fails the build.
 */
export function guard(schema: GraphQLSchema, idempotency: Idempotency): GraphQLSchema {
  const missing: string[] = [];
  for (const type of [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]) {
    for (const field of fieldsOf(type)) {
      const { permission } = field.extensions;
      if (isPermission(permission)) guardField(field, permission, type === schema.getMutationType(), idempotency);
      else missing.push(`${type?.name}.${field.name}`);
    }
  }
  if (missing.length > 0) throw new Error(`Without a permission (see schema/authorize.ts): ${missing.join(', ')}`);
  return schema;
}

const fieldsOf = (type: GraphQLObjectType | null | undefined): Field[] =>
  Object.values(type?.getFields() ?? {}) as Field[];

function guardField(field: Field, permission: Permission, isMutation: boolean, idempotency: Idempotency): void {
  if (field.subscribe) {
    field.subscribe = allowed(field.name, permission, field.subscribe);
    return;
  }
  const resolve = field.resolve ?? defaultFieldResolver;
  const once: Resolve = isMutation ? idempotency.once(field, resolve) : resolve;
  field.resolve = allowed(field.name, permission, once);
}

/** The resolver runs in a scope that knows the name of what is being done: it ends in the audit trail. */
function allowed(name: string, permission: Permission, resolve: Resolve): Resolve {
  const checked: Resolve = (root, args, context, info) => {
    refuseBrokenText(args);
    return resolve(root, args, context, info);
  };
  if (permission === 'open') return (root, args, context, info) => checked(root, args, during(context, name), info);
  return (root, args, context, info) => {
    const inner = during(context, name);
    try {
      authorize(permission, inner.scope.viewer);
    } catch (error) {
      if (error instanceof Forbidden) return deny(inner, error);
      throw error;
    }
    return checked(root, args, inner, info);
  };
}

const during = (context: Context, action: string): Context => ({ ...context, scope: context.scope.during(action) });

async function deny({ scope }: Context, error: Forbidden): Promise<never> {
  await scope.noteDenial();
  throw error;
}
