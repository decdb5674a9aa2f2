import fc from 'fast-check';
import { interpolate } from '../../../src/engine/compose/interpolate.ts';

const variables = { A: 'a', EMPTY: '', PRICE: `$5 \${A}` };

function fill(text: string): { filled: string; unset: string[] } {
  const unset: string[] = [];
  const fail = (why: string): never => {
    throw new Error(why);
  };
  const filled = interpolate(text, { variables, onUnset: name => unset.push(name), onFilled: () => undefined, fail });
  return { filled, unset };
}

test.each([
  [`$A \${A}`, 'a a'],
  [`$$A $\${A} $$$A`, `$A \${A} $a`],
  [`\${NO:-x} \${EMPTY:-x} \${A:-x}`, 'x x a'],
  [`\${NO-x} \${EMPTY-x} \${A-x}`, 'x  a'],
  [`\${NO:+x} \${EMPTY:+x} \${A:+x}`, '  x'],
  [`\${NO+x} \${EMPTY+x} \${A+x}`, ' x x'],
  [`\${A:?no} \${EMPTY?no}`, 'a '],
  [`\${NO:-\${NEITHER:-$A}}`, 'a'],
  [`\${NO:-{"x":1}}`, '{"x":1}'],
  ['$PRICE', `$5 \${A}`],
  [`\${NO:-http://$A:80/?x=1}`, 'http://a:80/?x=1'],
  ['$Ab$A-b', 'a-b'],
])('%s', (text, filled) => {
  expect(fill(text).filled).toBe(filled);
});

test('what is not set is told', () => {
  expect(fill(`$ONE \${TWO} \${THREE-} $__proto__ $constructor`).unset).toEqual([
    'ONE',
    'TWO',
    '__proto__',
    'constructor',
  ]);
});

test.each(['$', '$1', '$(id)', `\${`, `\${}`, `\${A`, `\${A!x}`, `\${1}`, `\${NO:?}`, `\${NO?}`, `\${EMPTY:?}`])(
  'not %s',
  text => {
    expect(() => fill(text)).toThrow();
  },
);

test('no nesting goes on for ever', () => {
  expect(() => fill(`\${NO:-`.repeat(500) + '}'.repeat(500))).toThrow('too deep');
});

test('any text comes through when its dollars are doubled', () => {
  fc.assert(fc.property(fc.string(), text => expect(fill(text.replaceAll('$', '$$$$')).filled).toBe(text)));
});
