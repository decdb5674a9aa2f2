import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLField,
  type GraphQLSchema,
  parse,
  validate,
} from 'graphql';
import { createOperations, fieldOf } from '../../src/rest/rest.ts';
import { restView } from '../../src/rest/rest-view.ts';
import { routeEntries } from '../../src/rest/routes.ts';
import { CompiledOperations } from '../../src/schema/compiled.ts';
import type { Context } from '../../src/schema/context.ts';
import { ErrorPresenter } from '../../src/schema/present-errors.ts';
import { type Asked, type Weather, withMadeUpAnswers } from '../support/made-up-answers.ts';
import { neededArgs, UNKNOWN_ID } from '../support/sample-args.ts';
import { testSchema } from '../support/schema.ts';
import { silentLog } from '../support/settings.ts';

/**
 * graphql-js forgets promises of a list in which an item fails at once, and a rejection that nobody hears ends the process: so
 * what fails at once and what fails later are not of one world.
 */
const WEATHERS: Weather[] = [
  { late: 0.5, refused: 0, missing: 0 },
  { late: 0, refused: 0.05, missing: 0.02 },
  { late: 1, refused: 0.05, missing: 0 },
];
const WORLDS = Array.from({ length: 9 }, (_, index) => index);

let schema: GraphQLSchema;
let worlds: { schema: GraphQLSchema; compiled: CompiledOperations; weather: Weather }[];
beforeAll(async () => {
  schema = await testSchema();
  worlds = WORLDS.map(index => {
    const weather = WEATHERS[index % WEATHERS.length] as Weather;
    const world = withMadeUpAnswers(schema, `world ${index}`, weather);
    return { schema: world, compiled: new CompiledOperations(world), weather };
  });
});

type Variables = Record<string, unknown>;
const errors = new ErrorPresenter(silentLog);

/** As a caller is answered; and what the resolvers were asked on the way, unless some of it went in vain. */
async function told(run: (context: Context) => Promise<ExecutionResult> | ExecutionResult) {
  const asked: Asked = { calls: [] };
  const result = await run(asked as unknown as Context);
  const faults = (result.errors ?? []).map(error => ({ ...errors.present(error, 'request'), locations: undefined }));
  const calls = faults.length > 0 ? [] : asked.calls;
  const sorted = (all: readonly unknown[]) => all.map(each => JSON.stringify(inOrder(each))).sort();
  return JSON.parse(JSON.stringify({ data: result.data, faults: sorted(faults), calls: sorted(calls) }));
}

const inOrder = (value: unknown): unknown =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : Array.isArray(value)
      ? value.map(inOrder)
      : value;

async function compare(document: DocumentNode, variables: Variables): Promise<{ refused: number; answered: number }> {
  const count = { refused: 0, answered: 0 };
  for (const { schema: world, compiled, weather } of worlds) {
    const expected = await told(contextValue =>
      execute({ schema: world, document, contextValue, variableValues: variables }),
    );
    const { faults, ...rest } = await told(context => compiled.run(document, context, variables));
    // Where a null goes up, what else failed below it may be told or not, as the specification has it.
    const isBubbling = weather.missing > 0 || weather.refused > 0;
    expect(rest).toEqual({ data: expected.data, calls: expected.calls });
    expect(isBubbling ? faults.filter((each: string) => expected.faults.includes(each)) : faults).toEqual(
      expected.faults,
    );
    count[expected.faults.length > 0 ? 'refused' : 'answered'] += 1;
  }
  return count;
}

describe('every operation of REST is run compiled as graphql-js runs it', () => {
  const rows = routeEntries.filter(([name]) => !name.startsWith('Subscription.')).map(([name]) => [name] as const);

  test.each(rows)('%s', async name => {
    const operation = createOperations(restView(schema)).operations.find(each => each.name === name);
    if (operation === undefined) throw new Error(`SOFA made no operation of ${name}`);
    const document = await operation.document();
    for (const variables of variations(fieldOf(schema, name))) await compare(document, variables);
  });
});

/** What is needed; nothing; nulls for all; and for each a value that is of no type at all. */
function variations(field: GraphQLField<unknown, unknown>): Variables[] {
  const needed = neededArgs(field);
  const nulls = Object.fromEntries(field.args.map(({ name }) => [name, null]));
  const wrong = field.args.map(({ name }) => ({ ...needed, [name]: { no: 'type' } }));
  return [needed, { ...needed, stranger: 1 }, {}, nulls, { ...nulls, ...needed }, ...wrong];
}

describe('so are operations that a front end may register', () => {
  const OPERATIONS: [what: string, text: string, ...variables: Variables[]][] = [
    ['aliases', '{ a: me { x: id y: id } b: me { id } c: runs(limit: 2) { kind } d: runs(limit: 3) { status } }'],
    [
      'fragments',
      '{ me { ...F } members { ...F ... on User { role } ... { name } } } fragment F on User { id ...G } fragment G on User { email }',
    ],
    ['the same field twice', '{ me { id } me { email id } projects { id environments { id } environments { name } } }'],
    [
      'enums and moments',
      '{ runs { id kind status createdAt finishedAt steps { name status startedAt } error { code } } }',
    ],
    ['relations both ways', '{ projects { id environments { id project { id name environments { slug } } } } }'],
    [
      'lists in lists',
      '{ projects { analysis { steps { step message } result { services { kind reason } variables { key foundIn } warnings { code } } } } }',
    ],
    ['__typename', 'query T { __typename me { __typename id } projects { __typename } }'],
    [
      'variables with defaults',
      'query V($limit: Int = 3, $after: ID, $status: ProjectStatus) { projects(limit: $limit, after: $after, status: $status) { id } }',
      {},
      { limit: 7 },
      { limit: null },
      { after: UNKNOWN_ID, status: 'READY' },
      { status: null },
      { status: 'ready' },
      { limit: 1.5 },
      { limit: '3' },
      { after: 7 },
    ],
    [
      'a variable that must be given',
      'query N($id: ID!) { project(id: $id) { id } auditEntry(id: $id) { id } }',
      { id: UNKNOWN_ID },
      { id: null },
      {},
      { id: {} },
    ],
    [
      '@skip and @include',
      `query S($yes: Boolean!, $no: Boolean = false) {
        me { id @skip(if: $yes) email @include(if: $no) name @include(if: $yes) @skip(if: $no) }
        projects @include(if: $yes) { ...P @skip(if: $no) ... on Project @include(if: $no) { status } }
      } fragment P on Project { id name }`,
      { yes: true },
      { yes: false },
      { yes: true, no: true },
      { yes: false, no: true },
      { yes: 'true' },
      {},
    ],
    [
      'a mutation with nested input',
      `mutation U($id: ID!, $build: BuildInput, $name: String) { updateProject(id: $id, build: $build, name: $name) { id build { builder port } } }`,
      { id: UNKNOWN_ID },
      { id: UNKNOWN_ID, name: null, build: null },
      { id: UNKNOWN_ID, build: { port: 3000, startCommand: null } },
      { id: UNKNOWN_ID, build: { port: '3000' } },
      { id: UNKNOWN_ID, build: { colour: 'red' } },
    ],
    [
      'mutations one after the other',
      'mutation M { a: updateMe(name: "A") { id } b: updateMe(name: "B") { id } c: logout { id } }',
    ],
    ['literals', '{ audit(limit: 5, actor: null, resource: "User:x") { id outcome } runs(status: QUEUED) { id } }'],
  ];

  test.each(OPERATIONS.map(([what, text, ...variables]) => ({ what, text, variables })))(
    '$what',
    async ({ text, variables }) => {
      const document = parse(text);
      expect(validate(schema, document)).toEqual([]);
      for (const each of variables.length > 0 ? variables : [{}]) await compare(document, each);
    },
  );

  test('what is compared is not all alike: some worlds refuse, some answer', async () => {
    const { refused, answered } = await compare(
      parse('{ projects { id name environments { id status project { id } } } }'),
      {},
    );
    expect(refused).toBeGreaterThan(0);
    expect(answered).toBeGreaterThan(0);
  });

  test('a difference would be seen', async () => {
    const [world] = worlds;
    const other = worlds[1];
    if (world === undefined || other === undefined) throw new Error('there are no worlds');
    const document = parse('{ audit { id action } members { id name } }');
    const answers = [world, other].map(({ compiled }) => told(context => compiled.run(document, context, {})));
    const [one, two] = await Promise.all(answers);
    expect(one).not.toEqual(two);
  });
});
