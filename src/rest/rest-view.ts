import { MapperKind, mapSchema } from '@graphql-tools/utils';
import { type GraphQLFieldConfig, type GraphQLSchema, getNamedType, isAbstractType, isObjectType } from 'graphql';

type FieldConfig = GraphQLFieldConfig<unknown, unknown>;

/**
 * The schema as REST shows it. One rule: a field that leads to another resource is gone, for REST follows ids.
 * A resource is a type with an id; what carries the mark `embedded` stays. Subscriptions are streams and go another way.
 */
export const restView = (schema: GraphQLSchema): GraphQLSchema =>
  mapSchema(schema, {
    [MapperKind.SUBSCRIPTION]: () => null,
    [MapperKind.OBJECT_FIELD]: (field, _name, typeName) =>
      isShown(schema, field as FieldConfig, typeName) ? undefined : null,
  });

/** The same rule for what streams send: their root fields stay. */
export const streamView = (schema: GraphQLSchema): GraphQLSchema =>
  mapSchema(schema, {
    [MapperKind.OBJECT_FIELD]: (field, _name, typeName) =>
      isShown(schema, field as FieldConfig, typeName) ? undefined : null,
  });

function isShown(schema: GraphQLSchema, field: FieldConfig, typeName: string): boolean {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  return roots.some(root => root?.name === typeName) || field.extensions?.embedded === true || !isResource(field);
}

function isResource({ type }: FieldConfig): boolean {
  const named = getNamedType(type);
  return isAbstractType(named) || (isObjectType(named) && 'id' in named.getFields());
}
