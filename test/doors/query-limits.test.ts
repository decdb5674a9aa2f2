import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { getIntrospectionQuery } from 'graphql';
import { type Person, TestApp } from '../support/create-app.ts';
import { tellRuns } from '../support/runs.ts';
import { ThreeDoors } from '../support/three-doors.ts';

let app: TestApp;
let closed: TestApp;
let doors: ThreeDoors;
let ann: Person;
beforeAll(async () => {
  app = await TestApp.start();
  closed = await app.twin({ INTROSPECTION: 'off' });
  doors = await ThreeDoors.of(app);
  ann = await app.register();
  await tellRuns(app, ann.workspaceId, 3);
});
afterAll(async () => {
  await closed.stop();
  await app.stop();
});

const times = (count: number, text: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => text(n)).join(' ');

/** A chain of relations that leads `levels` deep: an entry, who did it, … */
const FRAGMENTS = (levels: number, words: number) =>
  times(levels, n => `fragment F${n} on User { ${times(words, () => (n + 1 < levels ? `...F${n + 1}` : 'id'))} }`);

describe.each(['graphql', 'stream'] as const)('at the door %s', door => {
  const send = (query: string, variables?: object) => doors.send(door, { query, variables }, { token: ann.token });
  const tooComplex = { http: 400, status: 400, code: 'QUERY_TOO_COMPLEX' };
  const fine = { http: 200, code: undefined };

  test('2,000 tokens are taken and no more', async () => {
    // Five tokens around, three for each alias; names of types are free of the other limits.
    const aliases = (count: number) => `{ me { ${times(count, n => `a${n}: __typename`)} } }`;
    expect(await send(aliases(665))).toMatchObject(fine);
    expect(await send(aliases(666))).toMatchObject({ http: 400, code: 'QUERY_INVALID' });
  });

  test('10 root fields are taken and no more, also by way of fragments', async () => {
    const roots = (count: number) => times(count, n => `a${n}: me { id }`);
    expect(await send(`{ ${roots(10)} }`)).toMatchObject(fine);
    expect(await send(`{ ${roots(11)} }`)).toMatchObject(tooComplex);
    expect(
      await send(
        `{ ...A ...B } fragment A on Query { ${roots(6)} } fragment B on Query { ${times(6, n => `b${n}: me { id }`)} }`,
      ),
    ).toMatchObject(tooComplex);
    expect(await send(`{ ... { ${roots(6)} } ... on Query { ${times(6, n => `b${n}: me { id }`)} } }`)).toMatchObject(
      tooComplex,
    );
  });

  test('15 aliases are taken and no more', async () => {
    const aliases = (count: number) => times(count, n => `a${n}: id`);
    expect(await send(`{ me { ${aliases(15)} } }`)).toMatchObject(fine);
    expect(await send(`{ me { ${aliases(16)} } }`)).toMatchObject(tooComplex);
    expect(
      await send(
        `{ me { ...A ...B } } fragment A on User { ${aliases(8)} } fragment B on User { ${times(8, n => `b${n}: id`)} }`,
      ),
    ).toMatchObject(tooComplex);
  });

  test('a list costs its limit times what is under it: 5,000 and no more', async () => {
    const entries = (limit: string, n: number) => `a${n}: audit(limit: ${limit}) { actorUser { id } }`;
    // Each entry costs 1 and its user another: 2 × 100 × 10 = 2,000.
    expect(await send(`{ ${times(10, n => entries('100', n))} }`)).toMatchObject(fine);
    const heavy = (limit: string) => `projects(limit: ${limit}) { environments(limit: 50) { id } }`;
    expect(await send(`{ ${heavy('90')} }`)).toMatchObject(fine);
    expect(await send(`{ ${heavy('100')} }`)).toMatchObject(tooComplex);
    expect(await send(`query($n: Int) { ${heavy('$n')} }`, { n: 100 })).toMatchObject(tooComplex);
    expect(await send(`query($n: Int = 100) { ${heavy('$n')} }`)).toMatchObject(tooComplex);
    expect(await send(`{ ...A } fragment A on Query { ${heavy('100')} }`)).toMatchObject(tooComplex);
  });

  test('10 levels are taken and no more', async () => {
    const chain = (levels: number): string =>
      levels === 1 ? 'id' : `environments(limit: 1) { project { ${chain(levels - 2)} } }`;
    expect(await send(`{ projects(limit: 1) { ${chain(9)} } }`)).toMatchObject(fine);
    expect(await send(`{ projects(limit: 1) { ${chain(11)} } }`)).toMatchObject(tooComplex);
  });

  test('fragments that spread fragments do not grow over our heads', async () => {
    const from = performance.now();
    const bomb = await send(`{ me { ...F0 } } ${FRAGMENTS(60, 2)}`);
    expect(bomb).toMatchObject(tooComplex);
    const wide = await send(
      `{ ${'...R '.repeat(500)} } fragment R on Query { ${'...S '.repeat(400)} } fragment S on Query { me { id } }`,
    );
    expect(wide).toMatchObject(tooComplex);
    expect(performance.now() - from).toBeLessThan(5000);
  });

  test('a circle of fragments is refused', async () => {
    const circle = '{ me { ...A } } fragment A on User { ...B } fragment B on User { ...A }';
    expect(await send(circle)).toMatchObject({ http: 400, code: 'QUERY_INVALID' });
  });

  test('introspection passes where it is on, as graphql-js asks it, and is refused where it is off', async () => {
    const query = getIntrospectionQuery({ inputValueDeprecation: true, specifiedByUrl: true, schemaDescription: true });
    expect(await send(query)).toMatchObject({ http: 200, value: { queryType: { name: 'Query' } } });
    const refused = await doors.at(closed).send(door, { query }, { token: ann.token });
    expect(refused).toMatchObject({ http: 400, code: 'QUERY_INVALID' });
    const type = await doors
      .at(closed)
      .send(door, { query: '{ __type(name: "User") { name } }' }, { token: ann.token });
    expect(type).toMatchObject({ http: 400 });
    expect(
      await doors.at(closed).send(door, { query: '{ __typename me { __typename id } }' }, { token: ann.token }),
    ).toMatchObject(fine);
  });

  test('where introspection is off, no refusal suggests a name', async () => {
    for (const query of [
      '{ mee { id } }',
      '{ me { emai } }',
      '{ runs(limi: 1) { id } }',
      '{ me { ... on Usr { id } } }',
    ]) {
      expect((await send(query)).detail).toMatch(/Did you mean/);
      expect((await doors.at(closed).send(door, { query }, { token: ann.token })).text).not.toMatch(/Did you mean/);
    }
  });

  test.each([
    ['several operations without a name to choose by', '{ me { id } } query A { me { id } }'],
    ['two operations, one of them unnamed, and a choice that is none', 'query A { me { id } } query B { me { id } }'],
    ['no operation', 'fragment A on User { id }'],
    ['a definition of a schema', 'type A { id: ID }'],
    ['nothing', ''],
    ['a comment', '# nothing'],
  ])('%s is 400', async (_, query) => {
    expect(await send(query)).toMatchObject({ http: 400 });
  });

  test('a sign-in stands alone', async () => {
    const login = 'login(email: "x@example.org", password: "x") { tokenType }';
    expect(await send(`mutation { ${login} __typename }`)).toMatchObject({ http: 200, code: 'INVALID_CREDENTIALS' });
    expect(await send(`mutation { ${login} logout { id } }`)).toMatchObject(tooComplex);
  });
});

test('one field that fails does not blank the others', async () => {
  const { data, errors } = await app.graphql<{ me: object; run: null }>(
    '{ me { id } run(id: "01890000-0000-7000-8000-000000000000") { id } }',
    {},
    ann.token,
  );
  expect(data).toEqual({ me: { id: ann.id }, run: null });
  expect(errors).toMatchObject([{ path: ['run'], extensions: { code: 'NOT_FOUND' } }]);
});
