import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Command, quote } from '../../src/commands/command.ts';

/** Whatever a person or an attacker can type, but the one byte no word can hold. */
const nasty = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: fc.constantFrom(...`'"\`$\\;|&<>(){}[]*?~#!=%^-\n\r\t /.:@,`), maxLength: 20 }),
  fc.constantFrom('', '$(id)', '`id`', "'", "'\\''", '--', '-x', '\n', '$IFS', '~', '*', '!!', 'a b', '\\'),
);
const word = nasty.map(text => text.replaceAll('\0', '')).filter(text => text.isWellFormed());

/** What a real shell makes of a line: each word as it arrived, parted by NUL. */
function wordsSeenBy(shell: string, line: string): string[] {
  const output = execFileSync(shell, { input: `printf '%s\\0' ${line}\n`, maxBuffer: 64 * 1024 * 1024 });
  return output.toString().split('\0').slice(0, -1);
}

describe('quote', () => {
  test('brings 10,000 random words through a real shell byte for byte', () => {
    const words = fc.sample(word, { numRuns: 10_000, seed: 20_261_115 });
    // One shell for every hundred: ten thousand processes would only test the machine.
    for (let at = 0; at < words.length; at += 100) {
      const some = words.slice(at, at + 100);
      expect(wordsSeenBy('sh', some.map(quote).join(' '))).toEqual(some);
    }
  });

  test('leaves plain words as they are, so that a command can be read', () => {
    expect(quote('https://example.org:8443/a_b-c.git')).toBe('https://example.org:8443/a_b-c.git');
    expect(quote('')).toBe("''");
    expect(quote("it's")).toBe("'it'\\''s'");
  });
});

describe('a command', () => {
  test('has as many words as it was given, whatever is in them', () => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), words => {
        expect(Command.of(...words).words).toEqual(words);
      }),
    );
  });

  test('joins by operators, which no word can become', () => {
    const command = Command.of('echo', 'a && b').and(Command.of('cat', '|', undefined, ['x', false]));
    expect(String(command)).toBe("echo 'a && b' && cat '|' x");
    expect(() => command.words).toThrow('needs a shell');
  });

  test('refuses a NUL byte, which would end the word early', () => {
    expect(() => Command.of('echo', 'a\0b')).toThrow(TypeError);
  });
});
