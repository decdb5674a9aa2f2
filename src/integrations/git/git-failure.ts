export type GitFailureKind = 'TOKEN_REJECTED' | 'FORBIDDEN' | 'NOT_FOUND' | 'RATE_LIMITED' | 'UNREACHABLE' | 'REFUSED';

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
  if (resetAt !== null)
    return new GitFailure('RATE_LIMITED', `${vendor} asks us to wait until ${resetAt.toISOString()}`, resetAt);
  if (status === 401) return new GitFailure('TOKEN_REJECTED', `${vendor} does not accept the token`);
  if (status === 403) return new GitFailure('FORBIDDEN', `The token may not do this at ${vendor}`);
  if (status === 404 || status === 410)
    return new GitFailure('NOT_FOUND', `${vendor} has no such repository, or the token may not see it`);
  return new GitFailure('UNREACHABLE', `${vendor} answered with status ${status}`);
}

/** 429, or GitHub's 403 with nothing left. Told in seconds from now, or as a moment in seconds since 1970. */
function limitReset(status: number, headers: HeaderSource, now: Date): Date | null {
  const isSpent = headers.get('x-ratelimit-remaining') === '0' || headers.get('ratelimit-remaining') === '0';
  const retryAfter = Number(headers.get('retry-after'));
  if (status !== 429 && !(status === 403 && (isSpent || retryAfter > 0))) return null;
  if (retryAfter > 0) return new Date(now.getTime() + retryAfter * 1000);
  const reset = Number(headers.get('x-ratelimit-reset') ?? headers.get('ratelimit-reset'));
  return reset > 0 ? new Date(reset * 1000) : new Date(now.getTime() + 60_000);
}
