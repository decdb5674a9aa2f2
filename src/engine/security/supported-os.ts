import { DomainError } from '../../errors.ts';
import type { SecurityFacts } from './security-facts.ts';

const SUPPORTED: Readonly<Record<string, readonly string[]>> = { debian: ['12', '13'], ubuntu: ['22.04', '24.04'] };

/** Hardening says exact commands, so it knows exactly where it may say them. */
export function refuseUnsupportedOs(facts: SecurityFacts): void {
  const lines = facts.lines('os') ?? [];
  const [id, version] = [fieldOf(lines, 'ID'), fieldOf(lines, 'VERSION_ID')];
  if (SUPPORTED[id]?.includes(version)) return;
  const name =
    fieldOf(lines, 'PRETTY_NAME')
      .replace(/[^\x20-\x7e]/g, '?')
      .slice(0, 100) || 'an unknown system';
  throw new DomainError(
    'UNSUPPORTED_OS',
    `The server runs ${name}; hardening knows Debian 12 and 13 and Ubuntu 22.04 and 24.04. Nothing was changed`,
  );
}

function fieldOf(lines: readonly string[], key: string): string {
  const line = lines.find(each => each.startsWith(`${key}=`));
  return line?.slice(key.length + 1).replace(/^(["'])(.*)\1$/, '$2') ?? '';
}
