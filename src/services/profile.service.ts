import type { Row } from '../database/rows.ts';
import { User } from '../entities/user.ts';
import { Invalid } from '../errors.ts';
import { hashPassword, passwordFault, passwordMatches } from '../security/password.ts';
import type { Scope } from './scope.ts';
import type { SessionService } from './session.service.ts';

export interface ProfileChange {
  name?: string | null;
  password?: string;
  twoFactorEnabled?: boolean;
  currentPassword?: string;
  ifVersion?: number | null;
}

/** One's own account. */
export class ProfileService {
  constructor(private readonly sessions: SessionService) {}

  me(scope: Scope): Promise<Row<User>> {
    return scope.row(User, scope.viewer.userId);
  }

  /** What could lock somebody out needs the current password, whoever holds the session. */
  async update(scope: Scope, change: ProfileChange): Promise<User> {
    const passwordHash = await this.#newPasswordHash(scope, change);
    return scope.transact(async unit => {
      const user = await scope.load(unit, User, scope.viewer.userId, change.ifVersion);
      if (change.name !== undefined) user.name = change.name;
      if (change.twoFactorEnabled !== undefined) user.twoFactorEnabled = change.twoFactorEnabled;
      if (passwordHash !== undefined) {
        user.passwordHash = passwordHash;
        await this.sessions.endAll(unit, user.id, scope.viewer.sessionId);
      }
      user.version += 1;
      unit.note(user);
      return user;
    });
  }

  async #newPasswordHash(scope: Scope, change: ProfileChange): Promise<string | undefined> {
    const { password, twoFactorEnabled, currentPassword } = change;
    if (password === undefined && twoFactorEnabled === undefined) return undefined;
    const fault = password === undefined ? undefined : await passwordFault(password);
    if (fault !== undefined) throw new Invalid({ field: 'password', message: fault });
    const { passwordHash } = await scope.fork().findOneOrFail(User, scope.viewer.userId);
    if (!(await passwordMatches(currentPassword ?? '', passwordHash))) {
      throw new Invalid({ field: 'currentPassword', message: 'must be your current password for this change' });
    }
    return password === undefined ? undefined : hashPassword(password);
  }
}
