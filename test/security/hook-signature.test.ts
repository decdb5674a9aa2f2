import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { proofOf } from '../../src/security/hook-signature.ts';

const SECRET = "It's a Secret to Everybody";
const BODY = Buffer.from('Hello, World!');
/** From GitHub's documentation of its signatures. */
const KNOWN = '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';

const proof = (headers: Record<string, string>, body: Buffer = BODY, secret = SECRET) =>
  proofOf(name => headers[name], body, secret);

test('whoever knows the secret is believed, in the form of each provider', () => {
  expect(proof({ 'x-hub-signature-256': `sha256=${KNOWN}` })).toBe('SIGNED');
  expect(proof({ 'x-hub-signature': `sha256=${KNOWN}` })).toBe('SIGNED');
  expect(proof({ 'x-slipway-signature': `sha256=${KNOWN}` })).toBe('SIGNED');
  for (const name of ['gitea', 'forgejo', 'gogs']) expect(proof({ [`x-${name}-signature`]: KNOWN })).toBe('SIGNED');
  expect(proof({ 'x-gitlab-token': SECRET })).toBe('SHOWN');
  // Gitea sends all of them, also the one by SHA-1.
  expect(proof({ 'x-gitea-signature': KNOWN, 'x-hub-signature': 'sha1=abc' })).toBe('SIGNED');
});

test('nobody else is', () => {
  const sha1 = createHmac('sha1', SECRET).update(BODY).digest('hex');
  const wrong: Record<string, string>[] = [
    {},
    { 'x-hub-signature-256': '' },
    { 'x-hub-signature-256': KNOWN },
    { 'x-hub-signature-256': `sha1=${KNOWN}` },
    { 'x-hub-signature-256': `sha256=${KNOWN.toUpperCase()}` },
    { 'x-hub-signature-256': `sha256=${KNOWN} ` },
    { 'x-hub-signature-256': `sha256=${KNOWN.slice(0, -1)}` },
    { 'x-hub-signature': `sha1=${sha1}` },
    { 'x-gitlab-token': '' },
    { 'x-gitlab-token': `${SECRET} ` },
    { 'x-gitlab-token': KNOWN },
    { authorization: `Bearer ${SECRET}` },
  ];
  for (const headers of wrong) expect(proof(headers)).toBeUndefined();
  expect(proof({ 'x-hub-signature-256': `sha256=${KNOWN}` }, Buffer.from('Hello, World'))).toBeUndefined();
  expect(proof({ 'x-hub-signature-256': `sha256=${KNOWN}` }, BODY, 'another secret')).toBeUndefined();
});

test('bytes are signed, not what they mean', () => {
  const body = Buffer.from([0xff, 0x00, 0x7b, 0x0d, 0x0a]);
  const signature = createHmac('sha256', SECRET).update(body).digest('hex');
  expect(proof({ 'x-hub-signature-256': `sha256=${signature}` }, body)).toBe('SIGNED');
});

test('they are compared in constant time, and in no other way', () => {
  const source = readFileSync('src/security/hook-signature.ts', 'utf8');
  expect(source).toContain('timingSafeEqual(digest(');
  expect(source.match(/===/g)).toBeNull();
});
