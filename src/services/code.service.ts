import { fromNow } from '../clock.ts';
import { CodePurpose, OneTimeCode } from '../entities/one-time-code.ts';
import { User } from '../entities/user.ts';
import { DomainError } from '../errors.ts';
import type { UnitOfWork } from '../events/unit-of-work.ts';
import type { Keyring } from '../security/keyring.ts';
import type { SignInLimits } from '../security/limits.ts';
import { makeOneTimeCode, OTP } from '../security/one-time-code.ts';
import { hashToken, makeRandomToken } from '../security/token.ts';
import type { MailService } from './mail.service.ts';
import { signInMail, verificationMail } from './mail-texts.ts';
import type { Scope } from './scope.ts';

export interface Issued {
  challenge: string;
  expiresAt: Date;
}

interface Candidate {
  id: string;
  user_id: string;
  purpose: CodePurpose;
  code_hash: string;
}

/** Six-digit codes: who gets one, and how often one may be guessed. */
export class CodeService {
  constructor(
    private readonly keyring: Keyring,
    private readonly mails: MailService,
    private readonly limits: SignInLimits,
  ) {}

  async issue(unit: UnitOfWork, user: User, purpose: CodePurpose): Promise<Issued> {
    await this.limits.spendCode(user.email, OTP.codes, (text, values) => unit.query(text, values));
    const code = makeOneTimeCode();
    const challenge = makeRandomToken();
    const expiresAt = fromNow(OTP.lifetimeMs);
    await unit.em.nativeUpdate(OneTimeCode, { userId: user.id, usedAt: null }, { usedAt: new Date() });
    const row = unit.em.create(OneTimeCode, {
      workspaceId: user.workspaceId,
      userId: user.id,
      purpose,
      challengeHash: hashToken(challenge),
      codeHash: '',
      expiresAt,
    });
    row.codeHash = this.#digest(row.id, code);
    const compose = purpose === CodePurpose.SIGN_IN ? signInMail : verificationMail;
    await this.mails.post(unit, compose(user.email, code));
    return { challenge, expiresAt };
  }

  /**
   * Counts the guess before it looks at it, in one statement: a hundred guesses at the same moment are
   * still five. Those who show the challenge have a budget of their own, which strangers cannot use up.
   */
  async redeem(scope: Scope, email: string, code: string, challenge: string | null): Promise<[User, CodePurpose]> {
    const em = scope.fork();
    const candidate = await this.#countGuess(scope, email, challenge);
    if (candidate === undefined || candidate.code_hash !== this.#digest(candidate.id, code)) throw otpInvalid();
    const used = await em.execute(
      'update one_time_code set used_at = now() where id = ? and used_at is null returning id',
      [candidate.id],
    );
    if (used.length === 0) throw otpInvalid();
    const user = await em.findOne(User, candidate.user_id);
    if (user === null) throw otpInvalid();
    return [user, candidate.purpose];
  }

  async #countGuess(scope: Scope, email: string, challenge: string | null): Promise<Candidate | undefined> {
    const budget = challenge === null ? 'stranger_guesses' : 'guesses';
    const proof = challenge === null ? '' : 'and code.challenge_hash = ?';
    const [candidate] = await scope.fork().execute<Candidate[]>(
      `update one_time_code set ${budget} = ${budget} + 1
       where ${budget} < ? and id = (
         select code.id from one_time_code code join users on users.id = code.user_id
         where users.email = ? and code.used_at is null and code.expires_at > ? ${proof}
         order by code.id desc limit 1)
       returning id, user_id, purpose, code_hash`,
      [OTP.guesses, email, fromNow(0), ...(challenge === null ? [] : [hashToken(challenge)])],
    );
    return candidate;
  }

  #digest(id: string, code: string): string {
    return this.keyring.digest('one-time code', id, code);
  }
}

export const otpInvalid = () =>
  new DomainError('OTP_INVALID', 'The code is wrong, used or too old; sign in again to get a new one');
