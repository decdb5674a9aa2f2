import { LockMode } from '@mikro-orm/core';
import { clock } from '../clock.ts';
import { Instance } from '../entities/instance.ts';
import { Invitation } from '../entities/invitation.ts';
import { CodePurpose } from '../entities/one-time-code.ts';
import { Role, User } from '../entities/user.ts';
import { Workspace } from '../entities/workspace.ts';
import { DomainError, Invalid } from '../errors.ts';
import type { UnitOfWork } from '../events/unit-of-work.ts';
import type { Keyring } from '../security/keyring.ts';
import type { SignInLimits } from '../security/limits.ts';
import { maskEmail } from '../security/one-time-code.ts';
import { hashPassword, passwordFault, passwordMatches } from '../security/password.ts';
import { hashToken } from '../security/token.ts';
import { type CodeService, type Issued, otpInvalid } from './code.service.ts';
import type { Scope } from './scope.ts';
import type { SessionService, SignedIn } from './session.service.ts';

export interface Registration {
  email: string;
  password: string;
  name?: string | null;
  invitation?: string | null;
  setupCode?: string | null;
}

export interface Registered {
  user: User;
  challenge: string;
  otp: { sentTo: string; expiresAt: Date };
}

export interface OtpProof {
  email: string;
  code: string;
  challenge?: string | null;
}

/** Joining and signing in. */
export class AccountService {
  constructor(
    private readonly codes: CodeService,
    private readonly sessions: SessionService,
    private readonly limits: SignInLimits,
    private readonly keyring: Keyring,
    private readonly registration: 'open' | 'invite',
  ) {}

  async register(scope: Scope, { password, ...wish }: Registration): Promise<Registered> {
    const email = normalizeEmail(wish.email);
    await this.limits.spend(scope.request.addressKey, email);
    const fault = await passwordFault(password);
    if (fault !== undefined) throw new Invalid({ field: 'password', message: fault });
    const passwordHash = await hashPassword(password);
    return scope.transact(async unit => {
      await lockEmail(unit, email);
      const invitation = await this.#admit(unit, email, wish);
      await makeRoom(unit, email);
      const user = createUser(unit, { email, passwordHash, name: wish.name ?? null }, invitation);
      unit.note(user, user.id);
      await unit.em.flush();
      const issued = await this.codes.issue(unit, user, CodePurpose.VERIFY_EMAIL);
      return { user, challenge: issued.challenge, otp: { sentTo: maskEmail(email), expiresAt: issued.expiresAt } };
    });
  }

  /** Unknown address and wrong password are one answer that takes one time. */
  async login(scope: Scope, rawEmail: string, password: string): Promise<SignedIn> {
    const email = normalizeEmail(rawEmail);
    await this.limits.spend(scope.request.addressKey, email);
    const user = await scope.fork().findOne(User, { email });
    const isRight = await passwordMatches(password, user?.passwordHash);
    if (user === null || !isRight) throw invalidCredentials();
    if (!user.emailVerified) throw await this.#askForCode(scope, user, CodePurpose.VERIFY_EMAIL);
    if (user.twoFactorEnabled) throw await this.#askForCode(scope, user, CodePurpose.SIGN_IN);
    return scope.transact(async unit => {
      const current = await hold(unit, user);
      if (current === null) throw invalidCredentials();
      return this.sessions.open(scope, unit, current);
    });
  }

  async verifyOtp(scope: Scope, { email: rawEmail, code, challenge }: OtpProof): Promise<SignedIn> {
    const email = normalizeEmail(rawEmail);
    await this.limits.spend(scope.request.addressKey, email);
    const [checked, purpose] = await this.codes.redeem(scope, email, code, challenge ?? null);
    return scope.transact(async unit => {
      const user = await hold(unit, checked);
      if (user === null) throw otpInvalid();
      if (purpose === CodePurpose.VERIFY_EMAIL) await verifyEmail(unit, user);
      return this.sessions.open(scope, unit, user);
    });
  }

  async #askForCode(scope: Scope, user: User, purpose: CodePurpose): Promise<DomainError> {
    const { challenge }: Issued = await scope.transact(async unit => {
      const current = await hold(unit, user);
      if (current === null) throw invalidCredentials();
      return this.codes.issue(unit, current, purpose);
    });
    return purpose === CodePurpose.SIGN_IN
      ? new DomainError('OTP_REQUIRED', 'A code was sent to your mailbox; give it to verify-otp', { challenge })
      : new DomainError('EMAIL_NOT_VERIFIED', 'Confirm your address first: a new code was sent to it', { challenge });
  }

  /** By invitation, by the setup code of a fresh installation, or because registration is open. */
  async #admit(unit: UnitOfWork, email: string, wish: Omit<Registration, 'password'>): Promise<Invitation | null> {
    if (wish.invitation != null) return findInvitation(unit, email, wish.invitation);
    if (this.registration === 'open' || (await this.#isSetup(unit, wish.setupCode))) return null;
    throw new DomainError(
      'REGISTRATION_CLOSED',
      'Registration is by invitation; ask an owner of the workspace for one',
    );
  }

  async #isSetup(unit: UnitOfWork, setupCode: string | null | undefined): Promise<boolean> {
    if (setupCode == null || (await unit.em.count(User, { emailVerified: true })) > 0) return false;
    const { setupCodeHash } = await unit.em.findOneOrFail(Instance, 1);
    return setupCodeHash === this.keyring.digest('setup code', setupCode);
  }
}

/** One spelling per mailbox, so that case is no second account. */
export const normalizeEmail = (email: string): string => email.trim().toLowerCase();

async function findInvitation(unit: UnitOfWork, email: string, token: string): Promise<Invitation> {
  const invitation = await unit.em.findOne(Invitation, { tokenHash: hashToken(token), email, usedAt: null });
  if (invitation !== null && invitation.expiresAt > clock.now()) return invitation;
  throw new DomainError('INVITATION_INVALID', 'The invitation is unknown, used, too old or for another address');
}

const invalidCredentials = () => new DomainError('INVALID_CREDENTIALS', 'E-mail address or password is wrong');

/**
 * The account whose password or code was just checked, held while its session is written. Null if its password has changed or
 * it is gone since: a reset ends all sessions, so none may slip in behind it.
 */
async function hold(unit: UnitOfWork, checked: User): Promise<User | null> {
  const user = await unit.em.findOne(User, checked.id, { lockMode: LockMode.PESSIMISTIC_WRITE });
  return user?.passwordHash === checked.passwordHash ? user : null;
}

/** Two registrations of one address at the same moment come one after the other. */
const lockEmail = (unit: UnitOfWork, email: string) =>
  unit.em.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`register ${email}`]);

/**
 * An account nobody proved to own gives way to the next who claims the address. Its workspace, with the
 * audit trail of the attempt, is left to housekeeping.
 */
async function makeRoom(unit: UnitOfWork, email: string): Promise<void> {
  const holder = await unit.em.findOne(User, { email }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (holder === null) return;
  if (holder.emailVerified)
    throw new DomainError('EMAIL_TAKEN', 'There is an account for this address: sign in instead');
  await unit.em.remove(holder).flush();
}

function createUser(
  unit: UnitOfWork,
  account: { email: string; passwordHash: string; name: string | null },
  invitation: Invitation | null,
): User {
  const owner = account.name ?? account.email.split('@')[0];
  const workspaceId = invitation?.workspaceId ?? unit.em.create(Workspace, { name: `${owner}'s workspace` }).id;
  const role = invitation?.role ?? Role.OWNER;
  return unit.em.create(User, { ...account, workspaceId, role, invitationId: invitation?.id ?? null });
}

export const lockFirstAccount = (unit: UnitOfWork) =>
  unit.em.execute(`select pg_advisory_xact_lock(hashtextextended('first account', 0))`);

/** The first verified account of an installation looks after it. */
export async function verifyEmail(unit: UnitOfWork, user: User): Promise<void> {
  await lockFirstAccount(unit);
  user.instanceAdmin = (await unit.em.count(User, { emailVerified: true })) === 0;
  user.emailVerified = true;
  if (user.invitationId === null) return;
  const invitation = await unit.em.findOne(Invitation, { id: user.invitationId, usedAt: null });
  if (invitation === null) throw new DomainError('INVITATION_INVALID', 'The invitation was withdrawn');
  invitation.usedAt = clock.now();
}
