import { inspect } from 'node:util';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Keyring, type Place, SealBroken } from '../../src/security/keyring.ts';
import { Secret } from '../../src/security/secret.ts';

const text = fc.string({ unit: 'binary', maxLength: 300 });
const masterKey = fc.string({ unit: 'binary', minLength: 32, maxLength: 80 });
const name = fc.stringMatching(/^[a-z_]{1,20}$/);
const place: fc.Arbitrary<Place> = fc.record({ table: name, row: fc.uuid(), column: name });

test('any text comes back as it was', () => {
  fc.assert(
    fc.property(masterKey, text, place, (key, plain, where) => {
      const keyring = new Keyring(key);
      expect(keyring.open(keyring.seal(plain, where), where)).toBe(plain);
    }),
  );
});

test('the same text sealed twice looks different, and what is sealed shows nothing of it', () => {
  fc.assert(
    fc.property(masterKey, fc.string({ minLength: 8 }), place, (key, plain, where) => {
      const keyring = new Keyring(key);
      const [one, two] = [keyring.seal(plain, where), keyring.seal(plain, where)];
      expect(one.sealed).not.toBe(two.sealed);
      expect(one.sealed).not.toContain(plain);
      expect(one.sealed).not.toContain(Buffer.from(plain).toString('base64url'));
    }),
  );
});

test('what was moved to another row, column or table does not open', () => {
  fc.assert(
    fc.property(text, place, place, (plain, here, there) => {
      fc.pre(JSON.stringify(here) !== JSON.stringify(there));
      const keyring = new Keyring('k'.repeat(32));
      const secret = keyring.seal(plain, here);
      expect(() => keyring.open(secret, there)).toThrow(SealBroken);
      for (const part of ['table', 'row', 'column'] as const) {
        if (here[part] === there[part]) continue;
        expect(() => keyring.open(secret, { ...here, [part]: there[part] })).toThrow(SealBroken);
      }
    }),
  );
});

test('another key does not open it, unless it is among the previous ones', () => {
  fc.assert(
    fc.property(masterKey, masterKey, text, place, (old, fresh, plain, where) => {
      fc.pre(old !== fresh);
      const secret = new Keyring(old).seal(plain, where);
      expect(() => new Keyring(fresh).open(secret, where)).toThrow(SealBroken);
      const rotating = new Keyring(fresh, [old]);
      expect(rotating.open(secret, where)).toBe(plain);
      expect(rotating.isCurrent(secret)).toBe(false);
      const resealed = rotating.reseal(secret, where);
      expect(rotating.isCurrent(resealed)).toBe(true);
      expect(new Keyring(fresh).open(resealed, where)).toBe(plain);
      expect(() => new Keyring(old).open(resealed, where)).toThrow(SealBroken);
    }),
  );
});

test('whatever was changed, cut or made up is broken, and nothing but that is said', () => {
  const keyring = new Keyring('k'.repeat(32));
  const where = { table: 'variable', row: 'r', column: 'value' };
  const { sealed } = keyring.seal('secret text', where);
  const changed = fc
    .record({ at: fc.nat(sealed.length - 1), with: fc.constantFrom(...'abAB01-_.') })
    .map(change => sealed.slice(0, change.at) + change.with + sealed.slice(change.at + 1));
  const cut = fc.nat(sealed.length - 1).map(length => sealed.slice(0, length));
  const madeUp = fc.string({ unit: 'binary' });
  const bodies = fc.base64String().map(body => `v1.${keyring.keyId}.${body}`);
  fc.assert(
    fc.property(fc.oneof(changed, cut, madeUp, bodies), broken => {
      // The last character of base64 holds bits that mean nothing.
      fc.pre(!isSame(broken, sealed));
      expect(() => keyring.open(new Secret(broken), where)).toThrow(SealBroken);
    }),
    { numRuns: 1000 },
  );
});

const isSame = (one: string, other: string): boolean => {
  const [oneHead, otherHead] = [one, other].map(sealed => sealed.split('.').slice(0, 2).join('.'));
  const [oneBody, otherBody] = [one, other].map(sealed => Buffer.from(sealed.split('.')[2] ?? '', 'base64url'));
  return oneHead === otherHead && one.split('.').length >= 3 && (oneBody?.equals(otherBody ?? Buffer.of()) ?? false);
};

test('a secret prints itself as nothing, whoever prints it', () => {
  const secret = new Keyring('k'.repeat(32)).seal('text', { table: 't', row: 'r', column: 'c' });
  expect([`${secret}`, JSON.stringify({ secret }), inspect({ secret })]).toEqual([
    '[secret]',
    '{"secret":"[secret]"}',
    '{ secret: [secret] }',
  ]);
});

test('digests are equal for equal parts alone, and of one key', () => {
  fc.assert(
    fc.property(masterKey, fc.array(text), fc.array(text), (key, one, other) => {
      const keyring = new Keyring(key);
      const isEqual = JSON.stringify(one) === JSON.stringify(other);
      expect(keyring.digest('purpose', ...one) === keyring.digest('purpose', ...other)).toBe(isEqual);
      expect(keyring.digest('purpose', ...one)).not.toBe(keyring.digest('another', ...one));
      expect(keyring.digest('purpose', ...one)).not.toBe(new Keyring(`${key}x`).digest('purpose', ...one));
    }),
  );
});
