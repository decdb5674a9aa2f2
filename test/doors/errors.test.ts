import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CapturedLog } from '../support/captured-log.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { formFaults, INSIDES } from '../support/error-form.ts';
import { neededArgs } from '../support/sample-args.ts';
import { rootFields } from '../support/schema.ts';
import { DOORS, type Door, type Outcome, ThreeDoors } from '../support/three-doors.ts';

const MARKER = 'Xq7marker';

const captured = new CapturedLog();
let app: TestApp;
let doors: ThreeDoors;
let ann: Person;
beforeAll(async () => {
  app = await TestApp.start({}, captured.log);
  doors = await ThreeDoors.of(app);
  ann = await app.register();
});
afterAll(() => app.stop());

const bodyOf = ({ text }: Outcome) => text.slice(text.indexOf('\n') + 1);
const typeOf = ({ headers }: Outcome) => headers.get('content-type') ?? '';

/** Faults of an answer that failed; a stream's answer is an event, whose errors are looked at all the same. */
function faultsOf(door: Door, outcome: Outcome): string[] {
  if (outcome.code === undefined && outcome.http < 400) return [];
  if (typeOf(outcome).startsWith('text/event-stream')) {
    const errors = /^data: (.*)$/m.exec(bodyOf(outcome))?.[1] ?? '';
    return formFaults(200, 'application/json', errors, true);
  }
  return formFaults(outcome.http, typeOf(outcome), bodyOf(outcome), door !== 'rest');
}

/** The path is the caller's own, and RFC 9457 has it back under `instance`. */
const withoutInstance = (text: string) => text.replace(/"instance":"[^"]*"/, '');

/** Values of the wrong kind for anything, with a mark in them. */
const POISON: unknown[] = [
  MARKER,
  `${MARKER}"'\\\n<script>`,
  [MARKER],
  { [`key${MARKER}`]: 1, id: MARKER },
  `${MARKER}@example.org${MARKER}`,
];

test('no submitted value comes back in a refusal, whichever field it was sent in, at any door', async () => {
  const leaks: string[] = [];
  const unformed: string[] = [];
  let refusals = 0;
  for (const { name, field } of rootFields(doors.schema)) {
    for (const arg of field.args) {
      for (const poison of POISON) {
        const args = { ...neededArgs(field), [arg.name]: poison };
        for (const door of DOORS) {
          if (name.startsWith('Subscription.') && door === 'graphql') continue;
          const outcome = await doors.call(door, name, args, { token: ann.token });
          if (outcome.code === undefined) continue;
          refusals += 1;
          const told = withoutInstance(bodyOf(outcome)).replaceAll(`key${MARKER}`, '');
          if (told.includes(MARKER)) leaks.push(`${door} ${name} ${arg.name}: ${told.slice(0, 200)}`);
          if (INSIDES.test(told)) leaks.push(`${door} ${name} ${arg.name} shows our inside: ${told.slice(0, 200)}`);
          unformed.push(
            ...faultsOf(door, outcome).map(fault => `${door} ${name} ${arg.name} ${JSON.stringify(poison)}: ${fault}`),
          );
        }
      }
    }
  }
  expect(leaks).toEqual([]);
  expect(unformed).toEqual([]);
  expect(refusals).toBeGreaterThan(300);
}, 120_000);

describe.each(['graphql', 'stream'] as const)('at the door %s', door => {
  const LONG = `${MARKER}${'n'.repeat(200)}`;

  test.each([
    ['a value of a wrong type in the query', `{ runs(limit: "${MARKER}") { id } }`],
    ['a choice that is none', `{ runs(status: ${MARKER}) { id } }`],
    [
      'a text where an object belongs',
      `mutation { login(email: "x@example.org", password: ["${MARKER}"]) { tokenType } }`,
    ],
    ['a broken query', `{ runs(limit: "${MARKER}) }`],
    ['a query that is a word', MARKER],
    ['a query that is a text', `"${MARKER}"`],
    ['a block of text', `"""${MARKER} " quoted " ${MARKER}""" {`],
    ['a number that is none', `{ runs(limit: 1${MARKER}) { id } }`],
    ['a name of another world', `{ runs { id } } \u0000${MARKER}`],
  ])('%s is not repeated', async (_, query) => {
    const outcome = await doors.send(door, { query }, { token: ann.token });
    expect(outcome).toMatchObject({ http: 400, status: 400 });
    expect(bodyOf(outcome)).not.toContain(MARKER);
    expect(faultsOf(door, outcome)).toEqual([]);
  });

  test.each([
    ['field', `{ me { ${LONG} } }`],
    ['argument', `{ runs(${LONG}: 1) { id } }`],
    ['directive', `{ me @${LONG} { id } }`],
    ['fragment', `{ me { ...${LONG} } }`],
    ['type', `{ me { ... on ${LONG} { id } } }`],
    ['variable', `query($${LONG}: Int!) { me { id } }`],
  ])('an unknown name of a %s is repeated as far as 64 characters', async (_, query) => {
    const outcome = await doors.send(door, { query }, { token: ann.token });
    expect(outcome.http).toBe(400);
    expect(bodyOf(outcome)).not.toContain(LONG);
    expect(bodyOf(outcome)).not.toContain('n'.repeat(70));
  });

  test('the name of an operation that is not there is not repeated', async () => {
    const outcome = await doors.send(door, { query: '{ me { id } }', operationName: MARKER }, { token: ann.token });
    expect(outcome).toMatchObject({ http: 400, code: 'QUERY_INVALID' });
    expect(bodyOf(outcome)).not.toContain(MARKER);
  });
});

describe('the request id', () => {
  test.each(DOORS)('is taken over if it is sane, at the door %s', async door => {
    const headers = { 'x-request-id': 'trace-42.a:b_c' };
    const outcome = await doors.call(door, 'Query.run', { id: 'x' }, { token: ann.token, headers });
    expect(outcome.headers.get('x-request-id')).toBe('trace-42.a:b_c');
    expect(bodyOf(outcome)).toContain('"requestId":"trace-42.a:b_c"');
    expect(await captured.line(/"requestId":"trace-42\.a:b_c".*"msg":"request"/)).toContain('"status":');
  });

  test.each(['', ' ', 'a b', 'x'.repeat(129), 'ü', '<script>', '{"a":1}', 'a,b', 'a;b', "'--"])(
    'is made if it is not: %j',
    async id => {
      const outcome = await doors.call('rest', 'Query.me', {}, { token: ann.token, headers: { 'x-request-id': id } });
      expect(outcome.headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/);
    },
  );
});

describe('what goes wrong on our side', () => {
  test.each(DOORS)('is told in general terms, and in the log under the request id, at the door %s', async door => {
    await app.sql('alter table run rename to run_away');
    try {
      const outcome = await doors.call(door, 'Query.runs', {}, { token: ann.token });
      expect(outcome).toMatchObject({ status: 500, code: 'INTERNAL' });
      expect(bodyOf(outcome)).not.toMatch(INSIDES);
      const id = outcome.headers.get('x-request-id') as string;
      const line = await captured.line(new RegExp(`"requestId":"${id}".*Unexpected error`));
      expect(line).toMatch(/relation .*run.* does not exist/);
    } finally {
      await app.sql('alter table run_away rename to run');
    }
  });
});
