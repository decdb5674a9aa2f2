import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';

const check = (value: unknown): number => {
  const number = typeof value === 'string' ? Number(value) : value;
  if (!Number.isSafeInteger(number)) throw new GraphQLError('must be a whole number up to 2^53');
  return number as number;
};

/** Byte counts and sequences outgrow GraphQL's 32-bit Int. */
export const WholeNumber = new GraphQLScalarType<number, number>({
  name: 'WholeNumber',
  description: 'A whole number up to 2^53, for byte counts and sequences.',
  serialize: check,
  parseValue: check,
  parseLiteral: node => check(node.kind === Kind.INT ? node.value : undefined),
});
