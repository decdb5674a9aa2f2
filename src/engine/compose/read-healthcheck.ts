import { readDuration } from './amounts.ts';
import { HEALTHCHECK_KEYS, heldAgainst } from './compose-keys.ts';
import type { ComposeHealthcheck } from './compose-project.ts';
import type { Spot } from './spot.ts';

const LONGEST_MS = 3_600_000;

export function readHealthcheck(spot: Spot): ComposeHealthcheck | null {
  if (spot.isEmpty) return null;
  const fields = heldAgainst(spot, HEALTHCHECK_KEYS);
  const duration = (key: string) => {
    const field = fields.get(key);
    return field === undefined ? null : Math.max(1, Math.round(readDuration(field, LONGEST_MS)));
  };
  const isDisabled = fields.get('disable')?.flag() ?? false;
  const test = fields.get('test');
  return {
    // Without a test of its own the image's is asked, in another rhythm.
    test: isDisabled ? ['NONE'] : test === undefined ? [] : readTest(test),
    intervalMs: duration('interval'),
    timeoutMs: duration('timeout'),
    startMs: duration('start_period'),
    retries: fields.get('retries')?.whole(0, 1000) ?? null,
  };
}

function readTest(spot: Spot): string[] {
  if (!spot.isList) return ['CMD-SHELL', spot.text()];
  const words = spot.texts();
  return ['NONE', 'CMD', 'CMD-SHELL'].includes(words[0] ?? '')
    ? words
    : spot.refuse('must begin with CMD or CMD-SHELL');
}
