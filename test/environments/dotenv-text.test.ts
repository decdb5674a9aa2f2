import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Invalid } from '../../src/errors.ts';
import { readDotenv } from '../../src/services/dotenv-text.ts';

const read = (text: string): Record<string, string> =>
  Object.fromEntries(readDotenv(text).map(({ key, value }) => [key, value]));

describe('what people write', () => {
  test.each([
    ['plain', 'A=1', '1'],
    ['nothing', 'A=', ''],
    ['blanks around', '  A  =   one two  ', 'one two'],
    ['export', 'export A=1', '1'],
    ['a comment behind', 'A=1 # the first', '1'],
    ['a comment instead', 'A= # none', ''],
    ['a hash that is no comment', 'A=pass#word', 'pass#word'],
    ['a hash in front', 'A=#fff', '#fff'],
    ['an equals sign', 'A=b=c==', 'b=c=='],
    ['quotes inside', `A=it's "so"`, `it's "so"`],
    ['single quotes', `A='$HOME \\n "x" # y' # z`, '$HOME \\n "x" # y'],
    ['double quotes', 'A="a\\nb\\t\\"c\\" \\\\ \\$d \\e"', 'a\nb\t"c" \\ $d \\e'],
    ['back quotes', 'A=`it\'s "so"`', `it's "so"`],
    [
      'several lines',
      'A="-----BEGIN KEY-----\nabc\n-----END KEY-----\n"',
      '-----BEGIN KEY-----\nabc\n-----END KEY-----\n',
    ],
    ['line ends of Windows', 'A=1\r\n', '1'],
    ['line ends of Windows in quotes, kept', "A='1\r\n2'\r\n", '1\r\n2'],
    ['JSON', `A={"a": [1, "x # y"]}`, '{"a": [1, "x'],
    ['JSON in quotes', `A='{"a": [1, "x # y"]}'`, '{"a": [1, "x # y"]}'],
    ['a dollar', 'A=$B$(C)', '$B$(C)'],
    ['another script', 'A=Grüße 👋', 'Grüße 👋'],
    ['a byte order mark', '\ufeffA=1', '1'],
    ['white space that is no blank', 'A=\u00a0x\u00a0', '\u00a0x\u00a0'],
  ])('%s', (_, text, value) => expect(read(text)).toEqual({ A: value }));

  test('many lines, comments and empty ones', () => {
    const text = '# Settings\n\nA=1\n   \n\t# more\nexport B="2\n3"\nC=4';
    expect(readDotenv(text)).toEqual([
      { key: 'A', value: '1', line: 3 },
      { key: 'B', value: '2\n3', line: 6 },
      { key: 'C', value: '4', line: 8 },
    ]);
    expect(readDotenv('')).toEqual([]);
  });
});

describe('what cannot be meant is refused by its line', () => {
  test.each([
    ['no equals sign', 'A=1\nB\n', 2],
    ['a name that is none', 'A=1\n\n2B=1', 3],
    ['a name with a dash', 'A-B=1', 1],
    ['a colon instead', 'A: 1', 1],
    ['a quote that stays open', `A=1\nB="2\nC=3`, 2],
    ['something behind a quote', `A="1" 2`, 1],
    ['something behind a quote of three lines', `X=1\nA='1\n2\n3' 4`, 4],
    ['an escaped quote in single ones', `A='it\\'s'`, 1],
    ['a name twice', 'A=1\nB=2\nA=3', 3],
    ['a lone carriage return', 'A=1\rB=2', 1],
    ['a line of a shell', 'A=1\nif true; then', 2],
  ])('%s', (_, text, line) => {
    const refused = () => readDotenv(text);
    expect(refused).toThrow(Invalid);
    expect(refused).toThrow(new RegExp(`^dotenv: line ${line} `));
  });

  test('and what stands there is not repeated', () => {
    const refused = () => readDotenv('A=1\ntop-secret-word');
    expect(refused).not.toThrow(/top-secret/);
  });
});

const anything = fc.string({ unit: 'binary', maxLength: 200 }).filter(text => !text.includes('\0'));
const key = fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,10}$/);
const inDoubleQuotes = (value: string): string => `"${value.replace(/[\\"$`]/g, '\\$&')}"`;

test('any value in double quotes comes back byte for byte, whatever stands around it', () => {
  const values = fc.uniqueArray(fc.tuple(key, anything), { selector: ([name]) => name, maxLength: 8 });
  fc.assert(
    fc.property(values, entries => {
      const lines = entries.map(
        ([name, value], index) => `${index % 2 ? 'export ' : ''}${name}=${inDoubleQuotes(value)}`,
      );
      expect(Object.entries(read(`# all\n${lines.join('\n\n')}\n`))).toEqual(entries);
    }),
    { numRuns: 1000 },
  );
});

test('any value without single quotes comes back in single quotes', () => {
  fc.assert(
    fc.property(anything, value => {
      const plain = value.replaceAll("'", '');
      expect(read(`A='${plain}'`)).toEqual({ A: plain });
    }),
  );
});

test('any text is read or refused by a line it has, quickly', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'AB=\'"`#\\ \t\r\n$é'), maxLength: 60 }), text => {
      try {
        for (const { line } of readDotenv(text)) expect(line).toBeLessThanOrEqual(text.split('\n').length);
      } catch (error) {
        expect(error).toBeInstanceOf(Invalid);
        const [, line] = /line (\d+) /.exec((error as Error).message) ?? [];
        expect(Number(line)).toBeLessThanOrEqual(text.split('\n').length);
      }
    }),
    { numRuns: 2000 },
  );
  const started = performance.now();
  expect(() => readDotenv(`A="${'\\'.repeat(500_000)}`)).toThrow(Invalid);
  expect(read(`A=${' \t'.repeat(250_000)}x${' #'.repeat(100_000)}`)).toEqual({ A: 'x' });
  expect(performance.now() - started).toBeLessThan(2000);
});
