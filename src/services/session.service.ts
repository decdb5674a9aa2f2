import { LockMode } from '@mikro-orm/core';
import { clock, fromNow, SECOND } from '../clock.ts';
import type { Page, Row } from '../database/rows.ts';
import { Session } from '../entities/session.ts';
import { User } from '../entities/user.ts';
import { NotFound, Unauthenticated } from '../errors.ts';
import type { UnitOfWork } from '../events/unit-of-work.ts';
import type { Tokens } from '../security/token.ts';
import type { Scope } from './scope.ts';

export interface SignedIn {
  accessToken: string;
  tokenType: string;
  expiresIn: number;
  refreshToken: string;
  user: User;
}

interface Lifetimes {
  accessTokenTtlMs: number;
  refreshTokenTtlMs: number;
}

/** Two tabs may refresh at once: for so long the token just replaced still gets the same successor. */
const GRACE_MS = 30 * SECOND;

/** Where one is signed in. */
export class SessionService {
  constructor(
    private readonly tokens: Tokens,
    private readonly lifetimes: Lifetimes,
  ) {}

  open(scope: Scope, unit: UnitOfWork, user: User): SignedIn {
    const session = unit.em.create(Session, {
      workspaceId: user.workspaceId,
      userId: user.id,
      userAgent: scope.request.userAgent?.slice(0, 255) ?? null,
      ip: scope.request.ip,
      expiresAt: fromNow(this.lifetimes.refreshTokenTtlMs),
    });
    user.lastLoginAt = clock.now();
    unit.note(session, user.id);
    return this.#signedIn(session, user);
  }

  /** A refresh token older than the last two was stolen or copied: the whole session ends. */
  async refresh(scope: Scope, refreshToken: string): Promise<SignedIn> {
    const presented = this.tokens.readRefresh(refreshToken);
    if (presented === undefined) throw new Unauthenticated();
    const answer = await scope.transact(async unit => {
      const session = await this.#alive(unit, presented.sessionId);
      if (session === undefined) return undefined;
      const user = await unit.em.findOneOrFail(User, session.userId);
      const age = session.generation - presented.generation;
      const isTwin = age === 1 && clock.now().getTime() - session.rotatedAt.getTime() < GRACE_MS;
      if (age === 0) this.#rotate(session);
      else if (!isTwin) return end(unit, session);
      return this.#signedIn(session, user);
    });
    if (answer === undefined) throw new Unauthenticated();
    return answer;
  }

  list(scope: Scope, page: Page): Promise<Row<Session>[]> {
    const alive = { endedAt: null, expiresAt: { above: clock.now() } };
    return scope.list(Session, { userId: scope.viewer.userId, ...alive }, page);
  }

  /** `id` absent: the session one asks with. */
  async end(scope: Scope, id: string | null, ifVersion?: number | null): Promise<{ id: string }> {
    return scope.transact(async unit => {
      const session = await scope.load(unit, Session, id ?? scope.viewer.sessionId ?? '', ifVersion);
      if (session.userId !== scope.viewer.userId || session.endedAt !== null) throw new NotFound('Session');
      end(unit, session);
      return { id: session.id };
    });
  }

  async endAll(unit: UnitOfWork, userId: string, exceptId: string | null = null): Promise<void> {
    const sessions = await unit.em.find(Session, { userId, endedAt: null });
    for (const session of sessions) if (session.id !== exceptId) session.endedAt = clock.now();
    unit.revoke();
  }

  /** For what outlives a session: held until it is written, and refused if the session ended on the way here. */
  async confirm(scope: Scope, unit: UnitOfWork): Promise<void> {
    const { userId, sessionId } = scope.viewer;
    await unit.em.findOne(User, userId, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if ((await unit.em.count(Session, { id: sessionId ?? '', endedAt: null })) === 0) throw new Unauthenticated();
  }

  ticket(scope: Scope, path: string): { ticket: string; path: string } {
    const { userId, sessionId } = scope.viewer;
    if (sessionId === null) throw new Unauthenticated();
    return { ticket: this.tokens.ticket(userId, sessionId, path), path };
  }

  async #alive(unit: UnitOfWork, id: string): Promise<Session | undefined> {
    const session = await unit.em.findOne(Session, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
    return session && session.endedAt === null && session.expiresAt > clock.now() ? session : undefined;
  }

  #rotate(session: Session): void {
    session.generation += 1;
    session.rotatedAt = clock.now();
    session.lastUsedAt = clock.now();
    session.expiresAt = fromNow(this.lifetimes.refreshTokenTtlMs);
  }

  #signedIn(session: Session, user: User): SignedIn {
    return {
      accessToken: this.tokens.access(user.id, session.id, this.lifetimes.accessTokenTtlMs),
      tokenType: 'Bearer',
      expiresIn: Math.floor(this.lifetimes.accessTokenTtlMs / SECOND),
      refreshToken: this.tokens.refresh({ sessionId: session.id, generation: session.generation }),
      user,
    };
  }
}

function end(unit: UnitOfWork, session: Session): undefined {
  session.endedAt = clock.now();
  unit.revoke();
  unit.note(session, session.userId);
}
