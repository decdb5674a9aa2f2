import { randomInt, randomUUIDv7 } from 'node:crypto';

const LARGEST_STEP = 2 ** 32;

let last = '';

/** A new id, greater than every one made here before: rows of one millisecond keep the order in which they were made. */
export function newId(): string {
  const drawn = randomUUIDv7();
  last = drawn > last ? drawn : after(last);
  return last;
}

function after(id: string): string {
  const next = BigInt(`0x${id.replaceAll('-', '')}`) + BigInt(randomInt(1, LARGEST_STEP));
  return next
    .toString(16)
    .padStart(32, '0')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
