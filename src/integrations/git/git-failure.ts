import { HOUR, MINUTE, SECOND } from '../../clock.ts';

export type GitFailureKind =
  | ('TOKEN_REJECTED' | 'FORBIDDEN' | 'NOT_FOUND' | 'NO_BRANCH' | 'MOVED' | 'TOO_LARGE')
  | ('RATE_LIMITED' | 'UNREACHABLE' | 'UNTRUSTED' | 'REFUSED');

/** What went wrong with somebody else's Git, in our words. `resetAt` is when a limit of theirs ends. */
export class GitFailure extends Error {
  constructor(
    readonly kind: GitFailureKind,
    message: string,
    readonly resetAt: Date | null = null,
  ) {
    super(message);
  }
}

interface HeaderSource {
  get(name: string): string | null;
}

/** Every vendor's HTTP answer that is no success, judged by one rule. */
export function failureOf(vendor: string, status: number, headers: HeaderSource, now: Date): GitFailure {
  const resetAt = limitReset(status, headers, now);
  if (resetAt !== null) return limited(vendor, resetAt);
  if (status === 401) return new GitFailure('TOKEN_REJECTED', `${vendor} does not accept the token`);
  if (status === 403) return new GitFailure('FORBIDDEN', `The token may not do this at ${vendor}`);
  if (status === 404 || status === 410)
    return new GitFailure('NOT_FOUND', `${vendor} has no such repository, or the token may not see it`);
  if (status >= 300 && status < 400)
    return new GitFailure('MOVED', `${vendor} says that it is elsewhere now; use its new name or address`);
  if (status === 400 || status === 409 || status === 422)
    return new GitFailure('REFUSED', `${vendor} does not take this (status ${status})`);
  return new GitFailure('UNREACHABLE', `${vendor} answered with status ${status}`);
}

export const limited = (vendor: string, resetAt: Date): GitFailure =>
  new GitFailure('RATE_LIMITED', `${vendor} asks us to wait until ${resetAt.toISOString()}`, resetAt);

/** What a provider may ask of us at most, and what we take where it does not say. */
const LONGEST_WAIT_MS = HOUR;
export const USUAL_WAIT_MS = MINUTE;

/** 429, or GitHub's 403 with nothing left. Told in seconds from now, as a date, or as a moment in seconds since 1970. */
function limitReset(status: number, headers: HeaderSource, now: Date): Date | null {
  const isSpent = headers.get('x-ratelimit-remaining') === '0' || headers.get('ratelimit-remaining') === '0';
  const retryAfter = headers.get('retry-after');
  if (status !== 429 && !(status === 403 && (isSpent || retryAfter !== null))) return null;
  const reset = headers.get('x-ratelimit-reset') ?? headers.get('ratelimit-reset');
  const waitMs = retryAfter === null ? secondsOf(reset) * SECOND - now.getTime() : waitOf(retryAfter, now);
  const sane = waitMs > 0 ? Math.min(waitMs, LONGEST_WAIT_MS) : USUAL_WAIT_MS;
  return new Date(now.getTime() + sane);
}

const waitOf = (retryAfter: string, now: Date): number =>
  /^\d+$/.test(retryAfter) ? Number(retryAfter) * SECOND : Date.parse(retryAfter) - now.getTime();

const secondsOf = (text: string | null): number => (text !== null && /^\d+$/.test(text) ? Number(text) : 0);
