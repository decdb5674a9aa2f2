import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { clock, fromNow, HOUR } from '../clock.ts';
import { ApiToken } from '../entities/api-token.ts';
import { OneTimeCode } from '../entities/one-time-code.ts';
import { PasswordReset } from '../entities/password-reset.ts';
import { User } from '../entities/user.ts';
import { DomainError, Invalid } from '../errors.ts';
import { transact, workOrigin } from '../events/unit-of-work.ts';
import type { Queue } from '../jobs/queue.ts';
import type { SignInLimits } from '../security/limits.ts';
import { hashPassword, passwordFault } from '../security/password.ts';
import { hashToken, makeRandomToken } from '../security/token.ts';
import { normalizeEmail } from './account.service.ts';
import type { MailService } from './mail.service.ts';
import { resetMail } from './mail-texts.ts';
import type { Scope } from './scope.ts';
import type { SessionService } from './session.service.ts';

const LINK_LIFETIME_MS = HOUR;

/** Forgotten passwords. */
export class PasswordService {
  constructor(
    private readonly em: EntityManager,
    private readonly queue: Queue,
    private readonly mails: MailService,
    private readonly sessions: SessionService,
    private readonly limits: SignInLimits,
    private readonly publicUrl: string,
  ) {}

  /** Whether there is such an account is looked up later, by a job: the answer and its time cannot tell. */
  async forgot(scope: Scope, rawEmail: string): Promise<{ accepted: boolean }> {
    const email = normalizeEmail(rawEmail);
    await this.limits.spend(scope.request.addressKey, email);
    await scope.transact(unit => this.queue.enqueue(unit, 'password.forgot', { email }));
    return { accepted: true };
  }

  async sendLink(email: string): Promise<void> {
    const user = await this.em.fork().findOne(User, { email, emailVerified: true });
    if (user === null) return;
    const token = makeRandomToken();
    await transact(this.em, workOrigin('forgotPassword'), async unit => {
      const { workspaceId, id: userId } = user;
      unit.em.create(PasswordReset, {
        workspaceId,
        userId,
        tokenHash: hashToken(token),
        expiresAt: fromNow(LINK_LIFETIME_MS),
      });
      await this.mails.post(unit, resetMail(email, `${this.publicUrl}/reset-password#token=${token}`));
    });
  }

  async reset(scope: Scope, token: string, password: string): Promise<{ passwordChanged: boolean }> {
    await this.limits.spend(scope.request.addressKey, undefined);
    const fault = await passwordFault(password);
    if (fault !== undefined) throw new Invalid({ field: 'password', message: fault });
    const passwordHash = await hashPassword(password);
    return scope.transact(async unit => {
      const used = { usedAt: clock.now() };
      const open = { tokenHash: hashToken(token), usedAt: null, expiresAt: { $gt: clock.now() } };
      const reset = await unit.em.findOne(PasswordReset, open);
      const isOurs =
        reset !== null && (await unit.em.nativeUpdate(PasswordReset, { id: reset.id, usedAt: null }, used)) === 1;
      // Held first: whoever is about to open a session or make a token waits, and finds the password changed.
      const user = isOurs ? await unit.em.findOne(User, reset.userId, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
      if (user === null) throw new DomainError('RESET_TOKEN_INVALID', 'The link is used or too old; ask for a new one');
      user.passwordHash = passwordHash;
      await unit.em.nativeUpdate(PasswordReset, { userId: user.id, usedAt: null }, used);
      await unit.em.nativeUpdate(OneTimeCode, { userId: user.id, usedAt: null }, used);
      await this.sessions.endAll(unit, user.id);
      await unit.em.nativeDelete(ApiToken, { userId: user.id });
      unit.note(user, user.id);
      return { passwordChanged: true };
    });
  }
}
