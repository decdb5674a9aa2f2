import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Keyring } from '../../src/security/keyring.ts';
import { VariableStore } from '../../src/services/variable-store.ts';
import { EnvironmentBench } from '../support/environments.ts';
import { KEY } from '../support/settings.ts';

interface Shown {
  id: string;
  key: string;
  value: string | null;
  secret: boolean;
  scope: string;
  version: number;
  updatedBy: string;
}

let bench: EnvironmentBench;
let projectId: string;

beforeAll(async () => {
  bench = await EnvironmentBench.start();
  projectId = await bench.project();
}, 60_000);
afterAll(() => bench.stop());

/** What an application would be given. */
const given = async (id: string): Promise<Record<string, string>> => {
  const store = new VariableStore(bench.app.app.database.orm.em, new Keyring(KEY));
  return Object.fromEntries((await store.read(id)).map(({ key, value }) => [key, value]));
};

describe.each(['rest', 'graphql'] as const)('variables at the door of %s', door => {
  const set = (id: string, wish: object) => bench.call(door, 'Mutation.setVariables', { id, ...wish });
  const list = (id: string, page: object = {}) => bench.call(door, 'Query.variables', { id, ...page });

  test('are added and overwritten by key, and secret ones do not come back', async () => {
    const environment = await bench.environment({ projectId });
    await bench.makeLive(environment, { serverId: await bench.server() });
    const { id } = environment;
    const first = await set(id, {
      variables: [
        { key: 'TOKEN', value: 'sesame, open' },
        { key: 'COLOUR', value: 'blue', secret: false, scope: 'BOTH' },
      ],
    });
    expect(first.status).toBe(200);
    expect(first.text).not.toContain('sesame');
    const by = { updatedBy: bench.ann.id, version: 1 };
    expect(first.value).toMatchObject([
      { key: 'COLOUR', value: 'blue', secret: false, scope: 'BOTH', ...by },
      { key: 'TOKEN', value: null, secret: true, scope: 'RUNTIME', ...by },
    ]);
    expect(await bench.get(id)).toMatchObject({ needsDeploy: true, version: 2 });
    const second = await set(id, { variables: [{ key: 'COLOUR', value: 'red' }] });
    // What it does not say stays: it is no secret, and for both.
    expect(second.value).toMatchObject([{ key: 'COLOUR', value: 'red', secret: false, scope: 'BOTH', version: 2 }, {}]);
    const hidden = await set(id, { variables: [{ key: 'COLOUR', value: 'green', secret: true }] });
    expect(hidden.value).toMatchObject([{ key: 'COLOUR', value: null, version: 3 }, { key: 'TOKEN' }]);
    expect(hidden.text).not.toContain('green');
    expect(await given(id)).toEqual({ COLOUR: 'green', TOKEN: 'sesame, open' });
  });

  test('that change nothing need no deployment', async () => {
    const environment = await bench.environment({ projectId });
    const { id } = environment;
    await set(id, { dotenv: 'A=1\nB=2' });
    await bench.makeLive(environment, { serverId: await bench.server() });
    const before = await bench.get(id);
    expect(await set(id, { variables: [{ key: 'B', value: '2' }] })).toMatchObject({ status: 200 });
    expect(await bench.get(id)).toEqual(before);
  });

  test('come from the text of a .env file', async () => {
    const { id } = await bench.environment({ projectId });
    const dotenv = '# Shop\nexport A="one\\ntwo"\nB=\'{"x": "$HOME #1"}\'\n';
    expect(await set(id, { dotenv })).toMatchObject({ status: 200 });
    expect(await given(id)).toEqual({ A: 'one\ntwo', B: '{"x": "$HOME #1"}' });
    const refused = await set(id, { dotenv: 'C=3\nrubbish' });
    expect(refused).toMatchObject({ status: 400, code: 'BAD_INPUT', fields: [{ field: 'dotenv' }] });
    expect(refused.fields?.[0]?.message).toMatch(/^line 2 /);
    expect(Object.keys(await given(id))).toEqual(['A', 'B']);
  });

  test('are listed page by page, the newest first, and removed one by one', async () => {
    const { id } = await bench.environment({ projectId });
    await set(id, { dotenv: 'A=1\nB=2\nC=3' });
    const [newest, middle] = (await list(id, { limit: 2 })).value as Shown[];
    expect([newest?.key, middle?.key]).toEqual(['C', 'B']);
    expect((await list(id, { limit: 2, after: middle?.id })).value).toMatchObject([{ key: 'A' }]);
    const remove = (key: string) => bench.call(door, 'Mutation.deleteVariable', { id, key });
    expect((await remove('B')).value).toEqual({ id: middle?.id });
    expect(await remove('B')).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    expect(Object.keys(await given(id))).toEqual(['A', 'C']);
  });

  test.each([
    ['neither', {}, 'variables'],
    ['both', { variables: [], dotenv: '' }, 'variables'],
    ['a key that is none', { variables: [{ key: 'A B', value: '' }] }, 'variables.0.key'],
    ['a key twice', { variables: ['1', '2'].map(value => ({ key: 'A', value })) }, 'variables'],
    ['a value with a NUL', { variables: [{ key: 'A', value: 'a\0' }] }, 'variables.0.value'],
    ['half a character', { variables: [{ key: 'A', value: '\ud800' }] }, 'variables.0.value'],
    ['a value too large', { variables: [{ key: 'A', value: 'é'.repeat(65_500) }] }, 'variables.0.value'],
    ['a line too large', { dotenv: `A=${'x'.repeat(131_000)}` }, 'dotenv'],
  ])('refuses %s', async (_, wish, field) => {
    const { id } = await bench.environment({ projectId });
    const refused = await set(id, wish);
    expect(refused).toMatchObject({ status: 400, code: 'BAD_INPUT' });
    expect(refused.fields?.map(fault => fault.field)).toContain(field);
  });

  test('fill as much as a program can be started with, and no more', async () => {
    const { id } = await bench.environment({ projectId });
    const value = 'x'.repeat(130_998);
    for (const key of 'ABCDEFG') expect(await set(id, { variables: [{ key, value }] })).toMatchObject({ status: 200 });
    const over = await set(id, { variables: [{ key: 'H', value }] });
    expect(over).toMatchObject({ status: 400, fields: [{ field: 'variables' }] });
    expect(over.detail).toMatch(/1000000 bytes/);
    expect(
      await set(id, {
        variables: [
          { key: 'A', value: '' },
          { key: 'H', value },
        ],
      }),
    ).toMatchObject({ status: 200 });
  });
});

test('any value arrives byte for byte', async () => {
  const { id } = await bench.environment({ projectId });
  const value = fc
    .string({ unit: 'binary', maxLength: 100 })
    .filter(text => !text.includes('\0') && text.isWellFormed());
  await fc.assert(
    fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 10 }), async values => {
      const variables = values.map((each, index) => ({ key: `V${index}`, value: each }));
      const { token } = bench.ann;
      expect(
        (await bench.app.rest('POST', `/environments/${id}/variables`, { token, body: { variables } })).status,
      ).toBe(200);
      const found = await given(id);
      expect(values.map((_, index) => found[`V${index}`])).toEqual(values);
    }),
    { numRuns: 40 },
  );
});

test('in GraphQL they hang on their environments, with one question for all of them', async () => {
  const own = await bench.project();
  const ids = [await bench.environment({ projectId: own }), await bench.environment({ projectId: own })];
  const { token } = bench.ann;
  for (const { id } of ids)
    await bench.app.rest('POST', `/environments/${id}/variables`, { token, body: { dotenv: 'A=1' } });
  const body = { variables: [{ key: 'B', value: 'shown', secret: false }] };
  await bench.app.rest('POST', `/environments/${ids[0]?.id}/variables`, { token, body });
  const query = `{ environments(projectId: "${own}") { variables { key value secret environment { id } project { id } } } }`;
  expect(await bench.app.graphql(query, {}, token)).toMatchObject({
    data: {
      environments: [
        { variables: [{ key: 'A', value: null, secret: true }] },
        {
          variables: [
            { key: 'B', value: 'shown', environment: { id: ids[0]?.id }, project: { id: own } },
            { key: 'A' },
          ],
        },
      ],
    },
  });
});

test('under a key it is done once, and the first answer is given again', async () => {
  const { id } = await bench.environment({ projectId });
  const { token } = bench.ann;
  const ask = (value: string) => {
    const body = { variables: [{ key: 'A', value, secret: false }] };
    return bench.app.rest('POST', `/environments/${id}/variables`, {
      token,
      body,
      headers: { 'idempotency-key': 'once' },
    });
  };
  const first = await ask('1');
  await bench.app.rest('POST', `/environments/${id}/variables`, { token, body: { dotenv: 'A=2' } });
  const again = await ask('1');
  expect(again.body).toEqual(first.body);
  expect(await ask('3')).toMatchObject({ status: 422 });
});

test('no value is in the audit trail, the events or the database', async () => {
  const { id } = await bench.environment({ projectId });
  const { token } = bench.ann;
  const secret = 'a secret that was planted here';
  await bench.app.rest('POST', `/environments/${id}/variables`, { token, body: { dotenv: `A='${secret}'` } });
  const audit = await bench.app.rest<object[]>('GET', `/audit?resource=Environment:${id}`, { token });
  expect(audit.body).toMatchObject([{ action: 'setVariables', outcome: 'DONE' }, {}]);
  const rows = await bench.app.sql('select data::text from event union all select value from variable', []);
  expect(JSON.stringify([audit.body, rows])).not.toContain('planted');
});
