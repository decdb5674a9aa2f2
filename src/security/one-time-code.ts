import { randomInt } from 'node:crypto';
import { MINUTE } from '../clock.ts';

/** The rules of the six-digit code: how long it lives, how often it may be guessed, how many may be asked for. */
export const OTP = {
  digits: 6,
  lifetimeMs: 10 * MINUTE,
  guesses: 5,
  codes: { max: 3, windowMs: 15 * MINUTE },
} as const;

export const makeOneTimeCode = (): string => String(randomInt(10 ** OTP.digits)).padStart(OTP.digits, '0');

/** Enough of an address to recognise one's own. */
export function maskEmail(email: string): string {
  const [local = '', domain = ''] = email.split('@');
  return `${local.slice(0, 1)}***@${domain}`;
}
