import fc from 'fast-check';
import {
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { type RootField, rootFields } from './schema.ts';
import { operationFor } from './three-doors.ts';

export interface HostileRequest {
  door: 'rest' | 'graphql' | 'stream';
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** Texts that have broken something somewhere. */
const NASTY = [
  ...['', ' ', '\u0000', '\n', '"', "'", '\\', '`', ';', '--', '-rf', '../../../etc/passwd', '%00', '%zz', '%2e%2e%2f'],
  ...[
    'null',
    'undefined',
    'NaN',
    'Infinity',
    '-0',
    '1e999',
    '0x10',
    '9007199254740993',
    '-2147483649',
    'true',
    'false',
  ],
  ...[
    "' or 1=1 --",
    '$(id)',
    '; id',
    '| id',
    '{{7*7}}',
    '<script>alert(1)</script>',
    '\u0024{jndi:ldap://x}',
    '\u202e',
    '\ud800',
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'length',
    'ﷺ',
    '👩‍👩‍👧‍👦',
    'İ',
    'ß',
    'a'.repeat(300),
    'x'.repeat(20_000),
  ],
  ...[
    '01890000-0000-7000-8000-000000000000',
    '00000000-0000-0000-0000-000000000000',
    'someone@example.org',
    'correct horse battery',
  ],
  ...[
    '2026-02-30T00:00:00Z',
    '+275760-09-13T00:00:00.000Z',
    '000000',
    'OWNER',
    'read',
    '/api/v1/events',
    'https://git.invalid/x/y.git',
  ],
];

const text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...NASTY) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
);
const junk = fc.oneof(text, fc.jsonValue({ maxDepth: 2 }), fc.integer(), fc.double(), fc.constant(null), fc.boolean());

const HEADERS = [
  'content-type',
  'idempotency-key',
  'if-match',
  'last-event-id',
  'x-request-id',
  'accept',
  'origin',
  'user-agent',
];
const MORE_HEADERS = [
  'x-forwarded-for',
  'apollo-require-preflight',
  'x-http-method-override',
  'content-encoding',
  'range',
  'expect-ct',
];

/** What Node's client would refuse to send cannot be sent by anybody through it. */
const headerText = text.map(value =>
  [...value]
    .filter(each => /[\x20-\x7e\x80-\xff]/.test(each))
    .join('')
    .slice(0, 500),
);
const headers = fc.dictionary(fc.constantFrom(...HEADERS, ...MORE_HEADERS), headerText, { maxKeys: 2 });

export function hostileRequests(schema: GraphQLSchema): fc.Arbitrary<HostileRequest> {
  // Who signs out is asked for nothing more.
  const fields = fc.constantFrom(...rootFields(schema).filter(({ name }) => name !== 'Mutation.logout'));
  const calls = fields.chain(root => argsOf(root).map(args => ({ root, args })));
  const rest = fc
    .record({ call: calls, method: methods, headers, raw: fc.option(rawBody, { freq: 8, nil: undefined }) })
    .map(restRequest);
  const operation = fc.record({
    call: calls,
    headers,
    cut: fc.option(fc.tuple(fc.nat(), fc.nat(), text), { freq: 3, nil: undefined }),
  });
  const graphql = fc
    .tuple(fc.constantFrom('graphql', 'stream'), operation)
    .map(([door, wish]) => graphqlRequest(schema, door, wish));
  const shapeless = fc
    .record({
      path: fc.oneof(fc.constantFrom('/graphql', '/graphql/stream'), pathText),
      method: methods,
      headers,
      body: rawBody,
    })
    .map(
      ({ path, ...wish }): HostileRequest => ({
        door: path.startsWith('/graphql') ? (path === '/graphql' ? 'graphql' : 'stream') : 'rest',
        path,
        ...wish,
      }),
    );
  return fc.oneof(
    { weight: 4, arbitrary: rest },
    { weight: 4, arbitrary: graphql },
    { weight: 1, arbitrary: shapeless },
  );
}

const methods = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'PROPFIND');
const pathText = fc.array(text, { maxLength: 3 }).map(parts => `/api/v1/${parts.map(escaped).join('/')}`);
const rawBody = fc.oneof(
  text,
  fc.json({ maxDepth: 3 }),
  junk.map(value => JSON.stringify({ query: value, variables: value, operationName: value }) ?? ''),
  fc.tuple(junk, junk).map(([query, extensions]) => JSON.stringify({ query, extensions })),
);

/** Some arguments right, some wrong, some left out, some that do not exist. */
function argsOf({ field }: RootField): fc.Arbitrary<Record<string, unknown>> {
  const known = Object.fromEntries(field.args.map(({ name, type }) => [name, valueFor(type)]));
  const wishes = fc.record(known, { requiredKeys: [] });
  const stray = fc.dictionary(text, junk, { maxKeys: 1 });
  // Nobody outside is asked: where a field speaks to others, it is told a name that never resolves.
  const safe = 'baseUrl' in known ? { baseUrl: 'https://git.invalid' } : {};
  return fc
    .tuple(wishes, fc.option(stray, { freq: 4, nil: {} }))
    .map(([args, more]) => ({ ...args, ...more, ...safe }));
}

function valueFor(type: GraphQLInputType): fc.Arbitrary<unknown> {
  if (isNonNullType(type)) return valueFor(type.ofType);
  if (isListType(type)) return fc.oneof(fc.array(valueFor(type.ofType), { maxLength: 3 }), junk);
  const named = getNamedType(type);
  const wrong = { weight: 1, arbitrary: junk };
  if (isEnumType(named))
    return fc.oneof(wrong, { weight: 2, arbitrary: fc.constantFrom(...named.getValues().map(({ name }) => name)) });
  if (isInputObjectType(named)) {
    const parts = Object.fromEntries(Object.values(named.getFields()).map(part => [part.name, valueFor(part.type)]));
    return fc.oneof(wrong, { weight: 2, arbitrary: fc.record(parts, { requiredKeys: [] }) });
  }
  if (named.name === 'Int' || named.name === 'WholeNumber')
    return fc.oneof(wrong, { weight: 2, arbitrary: fc.integer({ min: -1, max: 101 }) });
  if (named.name === 'Boolean') return fc.oneof(wrong, { weight: 2, arbitrary: fc.boolean() });
  return fc.oneof(wrong, { weight: 2, arbitrary: text });
}

const escaped = (value: unknown): string => {
  const written = String(value);
  return written.includes('%') || !written.isWellFormed()
    ? written.replace(/[^\x21-\x7e]|[?#\\]/g, '')
    : encodeURIComponent(written);
};

interface Call {
  root: RootField;
  args: Record<string, unknown>;
}

function restRequest(wish: {
  call: Call;
  method: string;
  headers: Record<string, string>;
  raw: string | undefined;
}): HostileRequest {
  const { root, args } = wish.call;
  const method = wish.raw === undefined ? root.method : wish.method;
  const path = `/api/v1${root.path.replace(/:(\w+)/g, (_, name: string) => escaped(args[name] ?? 'x'))}`;
  const isInQuery = root.method === 'GET' || root.method === 'DELETE';
  const rest = Object.entries(args).filter(([name]) => !root.path.includes(`:${name}`));
  const query = rest.map(
    ([name, value]) => `${escaped(name)}=${escaped(typeof value === 'object' ? JSON.stringify(value) : value)}`,
  );
  const body = wish.raw ?? (isInQuery ? undefined : JSON.stringify(Object.fromEntries(rest)));
  const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
  const target = isInQuery && query.length > 0 ? `${path}?${query.join('&')}` : path;
  return { door: 'rest', method, path: target.slice(0, 8000), headers: { ...type, ...wish.headers }, body };
}

function graphqlRequest(
  schema: GraphQLSchema,
  door: string,
  wish: { call: Call; headers: Record<string, string>; cut: [number, number, string] | undefined },
): HostileRequest {
  const { root, args } = wish.call;
  const whole = operationFor(schema, root.name, Object.keys(args));
  const query = wish.cut === undefined ? whole : damaged(whole, wish.cut);
  const path = door === 'graphql' ? '/graphql' : '/graphql/stream';
  const body = JSON.stringify({ query, variables: args });
  return {
    door: door as 'graphql' | 'stream',
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json', ...wish.headers },
    body,
  };
}

function damaged(query: string, [from, length, text]: [number, number, string]): string {
  const at = from % query.length;
  return query.slice(0, at) + text.slice(0, 200) + query.slice(at + (length % 12));
}
