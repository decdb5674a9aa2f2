import { GraphQLError, GraphQLScalarType } from 'graphql';

/** Shown only: what an event says about its resource differs from kind to kind. */
export const JsonObject = new GraphQLScalarType({
  name: 'JSONObject',
  description: 'A JSON object.',
  serialize: value => value,
  parseValue: () => {
    throw new GraphQLError('is not accepted as input');
  },
});

/** Text, a number or a boolean, where it depends on what was found. */
export const JsonValue = new GraphQLScalarType({
  name: 'JSONValue',
  description: 'Text, a number or a boolean.',
  serialize: value => value,
  parseValue: () => {
    throw new GraphQLError('is not accepted as input');
  },
});
