import type { Spot } from './spot.ts';

const MS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const BYTES: Readonly<Record<string, number>> = { b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** Such as 90s, 1m30s or 500ms. */
export function readDuration(spot: Spot, mostMs: number): number {
  const text = spot.textLike(/^(?:\d{1,9}(?:\.\d{1,9})?(?:us|ms|s|m|h)){1,5}$/, 'a duration such as 30s or 1m30s');
  let milliseconds = 0;
  for (const [, number, unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(us|ms|s|m|h)/g))
    milliseconds += Number(number) * (MS[unit] ?? 0);
  if (milliseconds > mostMs) return spot.refuse(`must not be longer than ${mostMs / 1000} seconds`);
  return milliseconds;
}

/** Such as 64m, 1gb or 1048576. */
export function readBytes(spot: Spot, most: number): number {
  const text = spot.textLike(/^\d{1,12}(?:[bkmg]|[kmg]b)?$/i, 'a size such as 64m');
  const [, number, unit = 'b'] = /^(\d+)([bkmg])?/i.exec(text) ?? [];
  const bytes = Number(number) * (BYTES[unit.toLowerCase()] ?? 1);
  return bytes <= most ? bytes : spot.refuse(`must not be larger than ${most / 1024 ** 2}m`);
}
