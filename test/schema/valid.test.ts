import { expect, test } from '@jest/globals';
import { getIntrospectionQuery, graphql, validateSchema } from 'graphql';
import { testSchema } from '../support/schema.ts';

test('the schema is valid and can be asked everything about itself', async () => {
  const schema = await testSchema();
  expect(validateSchema(schema)).toEqual([]);
  expect((await graphql({ schema, source: getIntrospectionQuery() })).errors).toBeUndefined();
});
