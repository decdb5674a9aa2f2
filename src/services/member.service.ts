import { DAY, fromNow } from '../clock.ts';
import type { Page, Row } from '../database/rows.ts';
import { Invitation } from '../entities/invitation.ts';
import { Role, User } from '../entities/user.ts';
import { DomainError, NotFound } from '../errors.ts';
import type { UnitOfWork } from '../events/unit-of-work.ts';
import { hashToken, makeRandomToken } from '../security/token.ts';
import { normalizeEmail } from './account.service.ts';
import type { MailService } from './mail.service.ts';
import { invitationMail } from './mail-texts.ts';
import type { Scope } from './scope.ts';

const INVITATION_LIFETIME_MS = 7 * DAY;

/** Who is in the workspace, and who is asked to join. */
export class MemberService {
  constructor(
    private readonly mails: MailService,
    private readonly publicUrl: string,
  ) {}

  list(scope: Scope, page: Page): Promise<Row<User>[]> {
    return scope.list(User, { emailVerified: true }, page);
  }

  get(scope: Scope, id: string): Promise<Row<User>> {
    return scope.row(User, id);
  }

  async update(scope: Scope, id: string, role: Role, ifVersion?: number | null): Promise<User> {
    return scope.transact(async unit => {
      await lockMembers(unit, scope);
      const member = await scope.load(unit, User, id, ifVersion);
      if (role !== Role.OWNER) await keepAnOwner(unit, member);
      member.role = role;
      unit.revoke();
      member.version += 1;
      unit.note(member);
      return member;
    });
  }

  /** An account is in one workspace only, so who leaves it loses the account, its sessions and its tokens. */
  async remove(scope: Scope, id: string, ifVersion?: number | null): Promise<{ id: string }> {
    return scope.transact(async unit => {
      await lockMembers(unit, scope);
      const member = await scope.load(unit, User, id, ifVersion);
      await keepAnOwner(unit, member);
      unit.note(member);
      unit.revoke();
      unit.em.remove(member);
      return { id };
    });
  }

  invitations(scope: Scope, page: Page): Promise<Row<Invitation>[]> {
    return scope.list(Invitation, { usedAt: null }, page);
  }

  async invite(scope: Scope, rawEmail: string, role: Role): Promise<Invitation> {
    const email = normalizeEmail(rawEmail);
    const token = makeRandomToken();
    return scope.transact(async unit => {
      const taken = await unit.em.count(User, { email, emailVerified: true });
      if (taken > 0) throw new DomainError('EMAIL_TAKEN', 'There is an account for this address already');
      const { workspaceId, userId } = scope.viewer;
      await unit.em.nativeDelete(Invitation, { workspaceId, email, usedAt: null });
      const expiresAt = fromNow(INVITATION_LIFETIME_MS);
      const secret = { tokenHash: hashToken(token) };
      const invitation = unit.em.create(Invitation, {
        workspaceId,
        email,
        role,
        invitedById: userId,
        expiresAt,
        ...secret,
      });
      const inviter = await unit.em.findOneOrFail(User, userId);
      const link = `${this.publicUrl}/register#invitation=${token}`;
      await this.mails.post(unit, invitationMail(email, inviter.name ?? inviter.email, token, link));
      unit.note(invitation);
      return invitation;
    });
  }

  /** Whoever registered with it but has not proved the address yet goes with it. */
  async withdraw(scope: Scope, id: string, ifVersion?: number | null): Promise<{ id: string }> {
    return scope.transact(async unit => {
      const { workspaceId } = scope.viewer;
      await unit.em.nativeDelete(User, { invitationId: id, workspaceId, emailVerified: false });
      const invitation = await scope.load(unit, Invitation, id, ifVersion);
      if (invitation.usedAt !== null) throw new NotFound('Invitation');
      unit.note(invitation);
      unit.em.remove(invitation);
      return { id };
    });
  }
}

/** Changes of one workspace's members come one after the other: two owners who remove each other would leave none. */
const lockMembers = (unit: UnitOfWork, { viewer }: Scope) =>
  unit.em.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`members ${viewer.workspaceId}`]);

async function keepAnOwner(unit: UnitOfWork, { workspaceId, role }: User): Promise<void> {
  if (role !== Role.OWNER) return;
  if ((await unit.em.count(User, { workspaceId, role: Role.OWNER, emailVerified: true })) > 1) return;
  throw new DomainError('LAST_OWNER', 'A workspace keeps at least one owner; make somebody else an owner first');
}
