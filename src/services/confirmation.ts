import { DomainError } from '../errors.ts';

/** What cannot be brought back is done only for somebody who names what they are about to lose. */
export function refuseUnconfirmed(name: string, confirm: string | null | undefined, what: string): void {
  if (confirm === name) return;
  throw new DomainError('CONFIRMATION_NEEDED', `${what}. Send "confirm": "${name}" if that is what you want`);
}
