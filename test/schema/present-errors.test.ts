import { expect, test } from '@jest/globals';
import { buildSchema, execute, parse } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { ErrorPresenter } from '../../src/schema/present-errors.ts';

const schema = buildSchema(
  'enum Colour { RED } type Query { boat(colour: Colour, names: [Int!]): String!, mast: Int! }',
);
const presenter = new ErrorPresenter({ error: () => undefined });

/** Both of the ways in which operations are run must come to the same. */
async function faultsOf(query: string, variables: Record<string, unknown>, rootValue: object) {
  const document = parse(query);
  const compiled = compileQuery(schema, document);
  if (!isCompiledQuery(compiled)) throw new TypeError('it does not compile');
  const results = [
    await execute({ schema, document, variableValues: variables, rootValue }),
    await compiled.query(rootValue, {}, variables),
  ];
  return results.map(({ errors }) => {
    const { code, details } = presenter.toDomainError(errors?.[0], 'id');
    return { code, fields: details.fields?.map(({ field }) => field) };
  });
}

test.each([
  ['an enum', { colour: 'BLUE' }, 'colour'],
  ['a list', { names: ['one'] }, 'names'],
])('a wrong value of %s is told by its variable', async (_, variables, field) => {
  const query = 'query($colour: Colour, $names: [Int!]) { boat(colour: $colour, names: $names) }';
  const expected = { code: 'BAD_INPUT', fields: [expect.stringContaining(field)] };
  expect(await faultsOf(query, variables, { boat: 'x' })).toEqual([expected, expected]);
});

test.each([
  ['a missing value', '{ boat }', {}],
  ['a value no scalar can show', '{ mast }', { mast: 'tall' }],
])('%s in an answer is no fault of the caller', async (_, query, root) => {
  const expected = { code: 'INTERNAL', fields: undefined };
  expect(await faultsOf(query, {}, root)).toEqual([expected, expected]);
});
