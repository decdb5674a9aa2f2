import { readFileSync } from 'node:fs';
import { SecurityFacts } from '../../src/engine/security/security-facts.ts';

export type SecurityRecord = 'debian-12-fresh' | 'debian-12-hardened';

/** Other answers than those that were recorded: what a command says, or only how it ends. */
export type Changes = Readonly<Record<string, string | number>>;

/** What a server of the lab once said, word for word, with some of its answers changed. */
export function recordedFacts(name: SecurityRecord, changes: Changes = {}): SecurityFacts {
  const text = readFileSync(new URL(`../fixtures/security/${name}.txt`, import.meta.url), 'utf8');
  const others = Object.entries(changes).map(([fact, answer]) =>
    typeof answer === 'number' ? `@${fact} ${answer}\n` : `@${fact} 0\n${answer.replace(/^/gm, ' ')}\n`,
  );
  // The last account of a fact counts.
  return SecurityFacts.parse(text + others.join(''));
}
