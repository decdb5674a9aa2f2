import {
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLScalarType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
} from 'graphql';
import { type Constraints, constraintsOfInput } from './openapi-constraints.ts';
import type { JsonSchema, Reference } from './openapi-types.ts';

type AnyType = GraphQLOutputType | GraphQLInputType;

export interface Slot {
  type: GraphQLInputType;
  description?: string | null | undefined;
  defaultValue?: unknown;
  deprecationReason?: string | null | undefined;
}

const SCALARS: Readonly<Record<string, JsonSchema>> = {
  String: { type: 'string' },
  Boolean: { type: 'boolean' },
  Int: { type: 'integer', format: 'int32' },
  Float: { type: 'number', format: 'double' },
  DateTime: { type: 'string', format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'] },
  WholeNumber: { type: 'integer', format: 'int64' },
  JSONObject: { type: 'object', additionalProperties: true },
  JSONValue: { description: 'Any JSON value.' },
};

/** Schemas of the types that operations mention, each written down once and referred to by name. */
export class SchemaBook {
  readonly #schemas = new Map<string, JsonSchema>();

  get schemas(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  add(name: string, schema: JsonSchema): Reference {
    this.#schemas.set(name, schema);
    return refer(name);
  }

  /** Ids of ours are UUIDs; those of other people's systems are plain strings in the schema. */
  output(type: GraphQLOutputType): JsonSchema {
    if (isNonNullType(type)) return this.#shown(type.ofType);
    return orNull(this.#shown(type));
  }

  /** The schema of an argument or input field, with what its class checks. */
  input({ type, description, defaultValue, deprecationReason }: Slot, constraints: Constraints): JsonSchema {
    const { keywords, takesNull } = constraints;
    const inner = merge(this.#taken(isNonNullType(type) ? type.ofType : type), keywords);
    const schema = !isNonNullType(type) && takesNull ? orNull(inner) : inner;
    return {
      ...schema,
      ...(description ? { description } : {}),
      ...(defaultValue === undefined ? {} : { default: defaultValue }),
      ...(deprecationReason ? { deprecated: true } : {}),
    };
  }

  #shown(type: GraphQLOutputType): JsonSchema {
    if (isListType(type)) return { type: 'array', items: this.output(type.ofType) };
    if (isObjectType(type)) return this.#once(type.name, () => this.#objectSchema(type));
    return type.toString() === 'ID' ? { type: 'string', format: 'uuid' } : this.#leaf(type);
  }

  #taken(type: GraphQLInputType): JsonSchema {
    if (isListType(type)) {
      return { type: 'array', items: this.input({ type: type.ofType }, { keywords: {}, takesNull: true }) };
    }
    if (isInputObjectType(type)) return this.#once(type.name, () => this.#inputSchema(type));
    return type.toString() === 'ID' ? { type: 'string' } : this.#leaf(type);
  }

  #leaf(type: AnyType): JsonSchema {
    if (isEnumType(type)) return this.#once(type.name, () => enumSchema(type));
    const schema = isScalarType(type) ? SCALARS[(type as GraphQLScalarType).name] : undefined;
    if (schema === undefined) throw new Error(`rest/openapi-schemas.ts does not know how ${type} looks in JSON`);
    return { ...schema };
  }

  /** Every field is there in every answer, since the operation asks for all of them. */
  #objectSchema(type: GraphQLObjectType): JsonSchema {
    const fields = Object.values(type.getFields());
    const properties = fields.map(field => {
      const note = field.description ? { description: field.description } : {};
      return [
        field.name,
        { ...this.output(field.type), ...note, ...(field.deprecationReason ? { deprecated: true } : {}) },
      ];
    });
    return describe(type, {
      type: 'object',
      properties: Object.fromEntries(properties),
      required: fields.map(({ name }) => name),
    });
  }

  #inputSchema(type: GraphQLInputObjectType): JsonSchema {
    return describe(type, this.closedObject(Object.values(type.getFields()), constraintsOfInput(type.name)));
  }

  /** An object as callers send it: what is not listed is refused. */
  closedObject(slots: readonly (Slot & { name: string })[], constraints: (name: string) => Constraints): JsonSchema {
    const properties = slots.map(slot => {
      const masked = /password$/i.test(slot.name) ? { format: 'password' } : {};
      return [slot.name, { ...this.input(slot, constraints(slot.name)), ...masked }];
    });
    const required = slots.filter(({ type, defaultValue }) => isNonNullType(type) && defaultValue === undefined);
    return {
      type: 'object',
      properties: Object.fromEntries(properties),
      ...(required.length > 0 ? { required: required.map(({ name }) => name) } : {}),
      additionalProperties: false,
    };
  }

  /** A type may mention itself: its name is taken before its fields are looked at. */
  #once(name: string, make: () => JsonSchema): JsonSchema {
    if (!this.#schemas.has(name)) {
      this.#schemas.set(name, {});
      this.#schemas.set(name, make());
    }
    return refer(name);
  }
}

export const refer = (name: string, section = 'schemas'): Reference => ({ $ref: `#/components/${section}/${name}` });

const describe = ({ description }: { description?: string | null | undefined }, schema: JsonSchema): JsonSchema =>
  description ? { description, ...schema } : schema;

function enumSchema(type: GraphQLEnumType): JsonSchema {
  const values = type.getValues();
  const lines = values
    .filter(({ description }) => description)
    .map(value => `- \`${value.name}\`: ${value.description}`);
  const description = [type.description, lines.join('\n')].filter(Boolean).join('\n\n');
  return describe({ description }, { type: 'string', enum: values.map(({ name }) => name) });
}

function merge(schema: JsonSchema, keywords: JsonSchema): JsonSchema {
  const { items, ...own } = keywords;
  return { ...schema, ...own, ...(items && schema.items ? { items: { ...schema.items, ...items } } : {}) };
}

function orNull(schema: JsonSchema): JsonSchema {
  const isAnything = schema.type === undefined && schema.$ref === undefined;
  if (isAnything) return schema;
  if (typeof schema.type !== 'string') return { anyOf: [schema, { type: 'null' }] };
  const { type, enum: values, ...rest } = schema;
  return { type: [type, 'null'], ...(values ? { enum: [...values, null] } : {}), ...rest };
}
