import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Masker } from '../../../src/engine/deploy/masker.ts';

const SECRET = 'p4ss/w0rd+?é&="q\'';
const KEY = Array.from({ length: 20 }, (_, line) => `line ${line} ${'abcdefghij'.repeat(5)}${line}`).join('\n');
const masker = new Masker([SECRET, KEY, 'short', 'sixsix', '€€', '']);
const base64 = (text: string): string => Buffer.from(text).toString('base64');

test.each([
  ['raw', SECRET],
  ['inside a word', `a${SECRET}b`],
  ['in JSON', JSON.stringify({ password: SECRET })],
  ['in the JSON of PHP', JSON.stringify({ password: SECRET }).replaceAll('/', '\\/')],
  ['in the JSON of Python', JSON.stringify(SECRET).replace('é', '\\u00e9')],
  ['in an address', `https://user:${encodeURIComponent(SECRET)}@example.org`],
  ['in an address, lower case', encodeURIComponent(SECRET).replace(/%../g, byte => byte.toLowerCase())],
  ['in a form', new URLSearchParams({ secret: SECRET }).toString()],
  ['as a path', encodeURIComponent(SECRET).replaceAll('%2F', '/')],
  ['quoted for a shell', `'${SECRET.replaceAll("'", String.raw`'\''`)}'`],
  ['base64', base64(SECRET)],
  ['base64url', Buffer.from(SECRET).toString('base64url')],
  ['base64 behind one byte', base64(`:${SECRET}`)],
  ['base64 behind two bytes', base64(`::${SECRET}`)],
  ['base64 in the middle', base64(`{"user":"ann","password":${SECRET}, "and": "more"}`)],
])('a secret is hidden: %s', (_, text) => {
  const masked = masker.mask(`before ${text} after`);
  expect(masked).toContain('[secret]');
  for (const form of [SECRET, 'p4ss', 'w0rd', base64('p4ss/w'), base64(`:${SECRET}`).slice(2, 10)])
    expect(masked).not.toContain(form);
  expect(masked).toMatch(/^before .* after$/);
});

test('base64 is hidden with its padding, so that not even its last letters are told', () => {
  for (const length of [6, 7, 8])
    expect(new Masker(['s'.repeat(length)]).mask(base64('s'.repeat(length)))).toBe('[secret]');
});

test('each line of a value of many is hidden, and its base64 wherever it is wrapped', () => {
  for (const line of KEY.split('\n')) expect(masker.mask(`> ${line}`)).toBe('> [secret]');
  for (const width of [64, 76])
    for (const before of ['', 'x', 'xy', 'some text before'])
      for (const row of base64(before + KEY).match(new RegExp(`.{${width}}`, 'g')) ?? [])
        expect(masker.mask(row).replaceAll('[secret]', '').length).toBeLessThan(before.length * 2 + 4);
});

test('what is shorter than six bytes stays; characters of many bytes count as many', () => {
  expect(masker.mask('short sixsix €€')).toBe('short [secret] [secret]');
});

test('one that is part of another, and two that touch', () => {
  const both = new Masker(['secret-1', 'secret-12345', 'another']);
  expect(both.mask('secret-12345 secret-1 secret-1another')).toBe('[secret] [secret] [secret]');
});

test('whatever surrounds it, a secret is not read, and lines without one stay as they are', () => {
  const secrets = fc.array(fc.string({ unit: 'grapheme', minLength: 6, maxLength: 200 }), { maxLength: 8 });
  const around = fc.string({ unit: fc.constantFrom('a', ' ', '"', '%', 'é', '😀'), maxLength: 20 });
  fc.assert(
    fc.property(secrets, around, around, fc.nat(), (values, before, after, which) => {
      const some = new Masker(values);
      const value = values[which % Math.max(1, values.length)];
      if (value === undefined || /[\r\n]/.test(value)) return;
      const masked = some.mask(before + value + after);
      expect(masked.includes(value) && !value.includes('[secret]')).toBe(false);
      expect(masked.isWellFormed()).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test('500 secrets cost little: a hundred thousand lines in a moment', () => {
  const many = new Masker(
    Array.from({ length: 500 }, (_, index) => `https://user:${index}${'x'.repeat(index % 60)}@example.org`),
  );
  const line = 'npm info run https://registry.npmjs.org webpack src/components/app.tsx in 1234 ms (2 warnings)'.padEnd(
    100,
    '.',
  );
  const startedAt = performance.now();
  for (let count = 0; count < 100_000; count += 1) many.mask(line);
  // 10 MB: about a tenth of a second where nothing else runs.
  expect(performance.now() - startedAt).toBeLessThan(5000);
});
