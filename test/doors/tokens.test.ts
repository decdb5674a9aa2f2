import { createHmac, createSign, generateKeyPairSync, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Person, TestApp } from '../support/create-app.ts';
import { DOORS, type Outcome, ThreeDoors } from '../support/three-doors.ts';

/** As in test/support/settings.ts: whoever had it could sign. */
const SECRET = 'a test key that is long enough to be one';

let app: TestApp;
let doors: ThreeDoors;
let ann: Person;
let bob: Person;
let claims: Record<string, unknown>;
let apiToken: string;
let ticket: string;
beforeAll(async () => {
  app = await TestApp.start();
  doors = await ThreeDoors.of(app);
  [ann, bob] = [await app.register(), await app.register()];
  claims = JSON.parse(Buffer.from(ann.token.split('.')[1] as string, 'base64url').toString());
  const made = { token: ann.token, body: { name: 'x', scope: 'write' } };
  apiToken = (await app.rest<{ token: string }>('POST', '/auth/tokens', made)).body.token;
  const asked = { token: ann.token, body: { path: '/api/v1/events' } };
  ticket = (await app.rest<{ ticket: string }>('POST', '/auth/stream-ticket', asked)).body.ticket;
});
afterAll(() => app.stop());

const encode = (part: unknown) =>
  Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const publicPem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
const now = () => Math.floor(Date.now() / 1000);

const hmac = (hash: string, body: string, key: string) => createHmac(hash, key).update(body).digest('base64url');

/** Signed as we sign, but for what is changed. */
function forged(change: { header?: object; payload?: object; key?: string; hash?: string } = {}): string {
  const { header, payload, key = SECRET, hash = 'sha256' } = change;
  const body = `${encode({ alg: 'HS256', typ: 'JWT', ...header })}.${encode({ ...claims, ...payload })}`;
  return `${body}.${hmac(hash, body, key)}`;
}

function byRsa(alg: string): string {
  const body = `${encode({ alg, typ: 'JWT' })}.${encode(claims)}`;
  return `${body}.${createSign('RSA-SHA256').update(body).sign(privateKey, 'base64url')}`;
}

const parts = () => ann.token.split('.') as [string, string, string];
const flip = (text: string, at: number) => text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);

/** Forty ways to change a good token into a bad one. */
const TAMPERED: [string, () => string][] = [
  ['alg none, no signature', () => `${encode({ alg: 'none', typ: 'JWT' })}.${parts()[1]}.`],
  ['alg None', () => `${encode({ alg: 'None', typ: 'JWT' })}.${parts()[1]}.`],
  ['alg NONE with the old signature', () => `${encode({ alg: 'NONE', typ: 'JWT' })}.${parts()[1]}.${parts()[2]}`],
  ['alg none, signed all the same', () => forged({ header: { alg: 'none' } })],
  ['no alg', () => forged({ header: { alg: undefined } })],
  ['an empty alg', () => forged({ header: { alg: '' } })],
  ['alg as a list', () => forged({ header: { alg: ['HS256'] } })],
  ['alg in small letters', () => forged({ header: { alg: 'hs256' } })],
  ['HS384 with our key', () => forged({ header: { alg: 'HS384' }, hash: 'sha384' })],
  ['HS512 with our key', () => forged({ header: { alg: 'HS512' }, hash: 'sha512' })],
  ['HS512 named, HS256 signed', () => forged({ header: { alg: 'HS512' } })],
  ['RS256 by a key of their own', () => byRsa('RS256')],
  ['RS256 named, HS256 signed', () => forged({ header: { alg: 'RS256' } })],
  ['HS256 with a public key as the secret', () => forged({ key: publicPem })],
  ['HS256 named, RSA signed', () => byRsa('HS256')],
  ['an empty key', () => forged({ key: '' })],
  ['another key', () => forged({ key: `${SECRET}r` })],
  ['a key in the header', () => forged({ key: 'mine', header: { jwk: { kty: 'oct', k: encode('mine') } } })],
  ['a key id that is a path', () => forged({ key: '', header: { kid: '/dev/null' } })],
  ['a key id that is SQL', () => forged({ key: 'mine', header: { kid: "' union select 'mine" } })],
  ['a key address', () => forged({ key: 'mine', header: { jku: 'https://evil.example/keys' } })],
  ['a critical extension we do not know', () => forged({ key: 'mine', header: { crit: ['b64'], b64: false } })],
  ['another issuer', () => forged({ payload: { iss: 'evil' } })],
  ['no issuer', () => forged({ payload: { iss: undefined } })],
  ['another audience', () => forged({ payload: { aud: 'other' } })],
  ['no audience', () => forged({ payload: { aud: undefined } })],
  ['a refresh token’s type', () => forged({ payload: { typ: 'refresh' } })],
  ['a ticket’s type', () => forged({ payload: { typ: 'ticket' } })],
  ['no type', () => forged({ payload: { typ: undefined } })],
  ['expired', () => forged({ payload: { exp: now() - 1 } })],
  ['never expiring', () => forged({ payload: { exp: undefined } })],
  ['an expiry that is a text', () => forged({ payload: { exp: '9999999999' } })],
  ['not valid yet', () => forged({ payload: { nbf: now() + 3600 } })],
  ['a session that never was', () => forged({ payload: { sid: randomUUID() } })],
  ['a session of somebody else', () => forged({ payload: { sub: bob.id } })],
  ['no session', () => forged({ payload: { sid: undefined } })],
  ['no subject', () => forged({ payload: { sub: undefined } })],
  ['a payload changed after signing', () => `${parts()[0]}.${encode({ ...claims, sub: bob.id })}.${parts()[2]}`],
  ['a header changed after signing', () => `${encode({ alg: 'HS256', typ: 'JWT', x: 1 })}.${parts()[1]}.${parts()[2]}`],
  ['one character of the signature changed', () => `${parts()[0]}.${parts()[1]}.${flip(parts()[2], 5)}`],
  ['the signature cut', () => ann.token.slice(0, -2)],
  ['no signature', () => `${parts()[0]}.${parts()[1]}`],
  ['an empty signature', () => `${parts()[0]}.${parts()[1]}.`],
  ['a fourth part', () => `${ann.token}.${parts()[2]}`],
  ['a ticket as a bearer', () => ticket],
  ['a refresh token as a bearer', () => ann.refreshToken],
  ['an API token with one character changed', () => flip(apiToken, 20)],
  ['an API token cut', () => apiToken.slice(0, -1)],
  ['an API token in capitals', () => apiToken.toUpperCase()],
  ['the hash of an API token', () => `slp_${createHmac('sha256', '').update(apiToken).digest('base64url')}`],
  ['nothing but dots', () => '..'],
  ['a text', () => 'hello'],
];

test('there are at least forty', () => expect(TAMPERED.length).toBeGreaterThanOrEqual(40));

test('what is only signed anew with the right key still holds, so that the forty fail for their own reasons', async () => {
  for (const door of DOORS)
    expect(await doors.call(door, 'Query.me', {}, { token: forged() })).toMatchObject({ status: 200 });
});

/** What differs from answer to answer. */
const body = ({ text }: Outcome) => text.slice(text.indexOf('\n') + 1).replace(/"requestId":"[^"]*"/, '');

describe.each(DOORS)('at the door %s', door => {
  test.each(TAMPERED)('%s is 401, in the same words', async (_, token) => {
    const model = await doors.call(door, 'Query.me', {}, { token: 'nonsense' });
    const outcome = await doors.call(door, 'Query.me', {}, { token: token() });
    expect(outcome).toMatchObject({ http: 401, status: 401, code: 'UNAUTHENTICATED' });
    expect(outcome.headers.get('www-authenticate')).toBe('Bearer');
    expect(body(outcome)).toBe(body(model));
  });

  test.each(['Basic YTpi', 'bearer', 'Bearer', 'Bearer  x', 'Bearer x y', 'Token x', ''])(
    'a header that is no bearer token is 401 too: %j',
    async authorization => {
      const outcome = await doors.call(door, 'Query.me', {}, { headers: { authorization } });
      expect(outcome.status).toBe(401);
    },
  );

  test('a bad token is refused even where none is needed', async () => {
    const login = { email: ann.email, password: ann.password };
    expect(await doors.call(door, 'Mutation.login', login, { token: 'bad' })).toMatchObject({ http: 401 });
  });

  test('a stream is refused before it opens', async () => {
    if (door === 'graphql') return;
    const outcome = await doors.call(door, 'Subscription.events', {}, { token: forged({ key: 'other' }) });
    expect(outcome).toMatchObject({ http: 401, code: 'UNAUTHENTICATED' });
    expect(await doors.call(door, 'Subscription.events', {})).toMatchObject({ status: 401, http: 401 });
  });
});

test('bearer may be written in any case, as RFC 9110 has it', async () => {
  const headers = { authorization: `bEaReR ${ann.token}` };
  expect(await doors.call('rest', 'Query.me', {}, { headers })).toMatchObject({ status: 200 });
});
