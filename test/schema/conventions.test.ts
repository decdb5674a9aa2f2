import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { testSchema } from '../support/schema.ts';

/** Section 1 of the contract as far as the schema alone can tell; what it does is tested at the doors. */
let schema: GraphQLSchema;
let fields: [place: string, field: GraphQLField<unknown, unknown>][];
let roots: Record<'queries' | 'mutations' | 'subscriptions', GraphQLField<unknown, unknown>[]>;
beforeAll(async () => {
  schema = await testSchema();
  const all = (type: GraphQLObjectType | null | undefined) => Object.values(type?.getFields() ?? {});
  roots = {
    queries: all(schema.getQueryType()),
    mutations: all(schema.getMutationType()),
    subscriptions: all(schema.getSubscriptionType()),
  };
  fields = Object.values(schema.getTypeMap())
    .filter(type => isObjectType(type))
    .filter(({ name }) => !/^(__|Query$|Mutation$|Subscription$)/.test(name))
    .flatMap(type => Object.values(type.getFields()).map(field => [`${type.name}.${field.name}`, field] as const))
    .map(([place, field]) => [place, field]);
});

const isList = ({ type }: GraphQLField<unknown, unknown>) => isListType(getNullableType(type));
const named = ({ type }: { type: GraphQLField<unknown, unknown>['type'] }) => getNamedType(type).name;

/** In auth the verb stands alone. */
const BARE_VERBS = ['register', 'login', 'verifyOtp', 'forgotPassword', 'resetPassword', 'refresh', 'logout'];

describe('names', () => {
  test('a mutation is a verb and a noun', () => {
    const odd = roots.mutations.map(({ name }) => name).filter(name => !/^[a-z]+[A-Z]/.test(name));
    expect(odd.filter(name => !BARE_VERBS.includes(name))).toEqual([]);
  });

  test('a query is a noun: one thing by its id, many by its plural', () => {
    const single = roots.queries.filter(field => !isList(field) && field.args.some(({ name }) => name === 'id'));
    const wrong = single.filter(field => field.name.toLowerCase() !== named(field).toLowerCase());
    // A member is a user of the workspace.
    expect(wrong.map(({ name }) => name)).toEqual(['member']);
    const many = roots.queries.filter(isList).map(({ name }) => name);
    expect(many.filter(name => !name.endsWith('s') && name !== 'audit')).toEqual([]);
  });

  test('arguments are flat: nothing is wrapped', () => {
    const all = Object.values(roots)
      .flat()
      .flatMap(({ args }) => args.map(({ name }) => name));
    expect(all.filter(name => /^(input|data|payload|body|params|args)$/i.test(name))).toEqual([]);
  });

  test('an input comes back under the name it was sent by', () => {
    const makers = roots.mutations.filter(({ name }) => /^(create|update|save)/.test(name));
    const lost = makers.flatMap(field => {
      const type = getNamedType(field.type);
      const shown = isObjectType(type) ? Object.keys(type.getFields()) : [];
      return field.args.filter(({ name }) => !shown.includes(name)).map(({ name }) => `${field.name}(${name})`);
    });
    expect(lost.filter(name => !NEVER_SHOWN.test(name))).toEqual([]);
  });
});

/** Credentials never come back, what is only about the request has nowhere to, and a fingerprint is one of `hostKeys`. */
const NEVER_SHOWN =
  /\((ifVersion|force|password|currentPassword|token|privateKey|passphrase|path|hostKeyFingerprint)\)$/;

describe('types', () => {
  test('single root fields are nullable, so that one failure does not blank a screen; lists are never null', () => {
    const all = [...roots.queries, ...roots.mutations];
    const wrong = all.filter(field => isNonNullType(field.type) !== isList(field));
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  test('what ends in At is a moment', () => {
    const wrong = fields.filter(([place, field]) => /At$/.test(place) && named(field) !== 'DateTime');
    expect(wrong.map(([place]) => place)).toEqual([]);
  });

  test('byte counts and sequences are whole numbers up to 2^53', () => {
    const wrong = fields.filter(([place, field]) => /(Bytes|\.seq)$/.test(place) && named(field) !== 'WholeNumber');
    expect(wrong.map(([place]) => place)).toEqual([]);
  });

  test('every id of ours is an ID', () => {
    const wrong = fields.filter(([place, field]) => /(\.id|Id)$/.test(place) && named(field) !== 'ID');
    // Git providers have ids of their own, callers give ids to their requests, checks have names, and a plan is known by its hash.
    expect(wrong.map(([place]) => place).sort()).toEqual([
      'AuditEntry.requestId',
      'Hardening.planId',
      'HookDelivery.deliveryId',
      'Repository.id',
      'SecurityCheck.id',
    ]);
  });

  test('where there is the id of a resource, GraphQL has the resource too', () => {
    const without = fields.filter(([place, field]) => {
      const relation = field.name.replace(/Id$/, '');
      const [typeName = ''] = place.split('.');
      const target = schema.getType(relation.charAt(0).toUpperCase() + relation.slice(1));
      const type = schema.getType(typeName) as GraphQLObjectType;
      return field.name.endsWith('Id') && isObjectType(target) && type.getFields()[relation] === undefined;
    });
    // What is shown once holds all the same ids as its lasting form.
    expect(without.map(([place]) => place).filter(place => !place.startsWith('CreatedApiToken.'))).toEqual([]);
  });

  test('no input object shares its name with what is answered', () => {
    const inputs = Object.values(schema.getTypeMap()).filter(type => isInputObjectType(type));
    expect(inputs.map(({ name }) => name).filter(name => !name.endsWith('Input'))).toEqual([]);
  });
});
