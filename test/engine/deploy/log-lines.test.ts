import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LineAssembler } from '../../../src/engine/deploy/log-lines.ts';
import { plainText, splitText } from '../../../src/engine/deploy/plain-text.ts';

function linesOf(...chunks: Buffer[]): string[] {
  const assembler = new LineAssembler();
  return [...chunks.flatMap(chunk => [...assembler.push(chunk)]), ...assembler.end()];
}

const linesIn = (text: string): string[] => linesOf(Buffer.from(text));

test.each([
  ['lines', 'one\ntwo\n\nthree', ['one', 'two', '', 'three']],
  ['ends of Windows', 'one\r\ntwo\r\r\n', ['one', 'two']],
  ['progress', ' 1 %\r 50 %\r100 %\ndone\n', ['100 %', 'done']],
  ['progress without an end', ' 1 %\r 50 %\r', [' 50 %']],
  ['colours', '\u001b[1;32mgreen\u001b[0m \u001b]0;title\u0007x\u001b(B\n', ['green x']],
  ['an escape that is cut off', 'a\u001b[3\nb\u001b', ['a3', 'b']],
  ['NUL and control characters', 'a\0b\u0007c\td\u0008\n', ['a\u{fffd}bc\td']],
  ['nothing', '', []],
])('%s', (_, text, lines) => {
  expect(linesIn(text)).toEqual(lines);
});

test('broken UTF-8 is made storable', () => {
  expect(linesOf(Buffer.from([0x61, 0xff, 0xc3, 0x0a, 0xa9]))).toEqual(['a\u{fffd}\u{fffd}', '\u{fffd}']);
});

test('a line without an end is kept in part, and says so', () => {
  const [line, next] = linesOf(...Array.from({ length: 40 }, () => Buffer.alloc(10_000, 'x')), Buffer.from('\nnext\n'));
  expect(line).toMatch(/^x{200000,} … \d+ bytes of this line are left out$/);
  expect(next).toBe('next');
});

test('however the bytes are cut, the lines are the same', () => {
  const bytes = fc.array(fc.constantFrom(0x0a, 0x0d, 0x1b, 0x5b, 0x6d, 0x61, 0xc3, 0xa9, 0xf0, 0x9f, 0x98, 0x80, 0), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(bytes, fc.array(fc.nat(60), { maxLength: 10 }), (all, cuts) => {
      const whole = Buffer.from(all);
      const borders = [0, ...cuts.filter(cut => cut < all.length).sort((a, b) => a - b), all.length];
      const chunks = borders.slice(1).map((border, index) => whole.subarray(borders[index], border));
      expect(linesOf(...chunks)).toEqual(linesOf(whole));
    }),
    { numRuns: 2000 },
  );
});

test('text is plain after one pass, and cut at whole characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.integer({ min: 4, max: 50 }), (text, most) => {
      const plain = plainText(text);
      expect(plain).not.toMatch(/[^\P{Cc}\t]/u);
      const parts = splitText(plain, most);
      expect(parts.join('')).toBe(plain);
      for (const part of parts) expect(Buffer.byteLength(part)).toBeLessThanOrEqual(most);
    }),
  );
});
