import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { LRUCache } from 'lru-cache';
import { clock, SECOND } from '../clock.ts';

const ISSUER = 'slipway';
const API_TOKEN_PREFIX = 'slp_';
const REFRESH_PREFIX = 'slr_';

export interface Claims {
  typ: 'access' | 'ticket';
  sub: string;
  sid: string;
  jti: string;
  path?: string;
  exp?: number;
}

export interface RefreshToken {
  sessionId: string;
  generation: number;
}

/** Makes and reads what callers carry. What is verified once is remembered until it expires; the session is asked each time. */
export class Tokens {
  readonly #verified = new LRUCache<string, Claims>({ max: 10_000 });

  constructor(private readonly secret: string) {}

  access(userId: string, sessionId: string, ttlMs: number): string {
    return this.#sign({ typ: 'access', sub: userId, sid: sessionId }, ttlMs);
  }

  /** A ticket lives as long as its session: the session check ends it, not a date. */
  ticket(userId: string, sessionId: string, path: string): string {
    return this.#sign({ typ: 'ticket', sub: userId, sid: sessionId, path });
  }

  verify(token: string, typ: Claims['typ']): Claims | undefined {
    const claims = this.#verified.get(token) ?? this.#verifyAnew(token);
    if (claims === undefined || claims.typ !== typ) return undefined;
    if (claims.exp !== undefined && claims.exp * SECOND <= clock.now().getTime()) return undefined;
    return claims;
  }

  /**
   * Refresh tokens are derived, not stored: the n-th of a session is a MAC over both. The session row
   * knows which generation is current, so a used one is recognised, and its successor can be told again.
   */
  refresh({ sessionId, generation }: RefreshToken): string {
    return `${REFRESH_PREFIX}${sessionId}.${generation}.${this.#refreshMac(sessionId, generation)}`;
  }

  readRefresh(token: string): RefreshToken | undefined {
    const match = /^slr_([0-9a-f-]{36})\.(\d{1,9})\.([\w-]{43})$/.exec(token);
    if (match === null) return undefined;
    const [, sessionId = '', generation = '', mac = ''] = match;
    const wanted = this.#refreshMac(sessionId, Number(generation));
    if (!timingSafeEqual(Buffer.from(mac), Buffer.from(wanted))) return undefined;
    return { sessionId, generation: Number(generation) };
  }

  #refreshMac(sessionId: string, generation: number): string {
    return createHmac('sha256', this.secret).update(`refresh/${sessionId}/${generation}`).digest('base64url');
  }

  #sign(claims: Omit<Claims, 'jti' | 'exp'>, ttlMs?: number): string {
    const now = Math.floor(clock.now().getTime() / SECOND);
    const exp = ttlMs === undefined ? {} : { exp: now + Math.ceil(ttlMs / SECOND) };
    const jti = randomBytes(12).toString('base64url');
    return jwt.sign({ ...claims, jti, iat: now, ...exp }, this.secret, {
      algorithm: 'HS256',
      issuer: ISSUER,
      audience: ISSUER,
    });
  }

  #verifyAnew(token: string): Claims | undefined {
    try {
      const claims = jwt.verify(token, this.secret, {
        algorithms: ['HS256'],
        issuer: ISSUER,
        audience: ISSUER,
        clockTimestamp: Math.floor(clock.now().getTime() / SECOND),
      });
      if (!isClaims(claims)) return undefined;
      this.#verified.set(token, claims);
      return claims;
    } catch {
      // Whatever is wrong with it, the caller learns one thing only: it is not valid.
      return undefined;
    }
  }
}

function isClaims(claims: unknown): claims is Claims {
  const { typ, sub, sid, jti, exp } = claims as Partial<Record<keyof Claims, unknown>>;
  const isDated = typ === 'ticket' || (typ === 'access' && typeof exp === 'number');
  return isDated && [sub, sid, jti].every(part => typeof part === 'string');
}

export const isApiToken = (token: string): boolean => token.startsWith(API_TOKEN_PREFIX);
export const makeApiToken = (): string => `${API_TOKEN_PREFIX}${randomBytes(32).toString('base64url')}`;

/** Random tokens of 256 bits need no slow hash: there is nothing to guess. */
export const makeRandomToken = (): string => randomBytes(32).toString('base64url');
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('base64url');
export const hashText = (text: string): string => createHash('sha256').update(text).digest('hex');
