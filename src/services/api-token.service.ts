import { clock } from '../clock.ts';
import type { Page, Row } from '../database/rows.ts';
import { ApiToken, type TokenScope } from '../entities/api-token.ts';
import { Environment } from '../entities/environment.ts';
import { Project } from '../entities/project.ts';
import { Invalid, NotFound } from '../errors.ts';
import { hashToken, makeApiToken } from '../security/token.ts';
import type { Scope } from './scope.ts';
import type { SessionService } from './session.service.ts';

export interface ApiTokenWish {
  name: string;
  scope: TokenScope;
  expiresAt?: string | null;
  projectId?: string | null;
  environmentId?: string | null;
}

/** Credentials for scripts. */
export class ApiTokenService {
  constructor(private readonly sessions: SessionService) {}

  list(scope: Scope, page: Page): Promise<Row<ApiToken>[]> {
    return scope.list(ApiToken, { userId: scope.viewer.userId }, page);
  }

  async create(scope: Scope, wish: ApiTokenWish): Promise<ApiToken & { token: string }> {
    const expiresAt = futureMoment(wish.expiresAt);
    const token = makeApiToken();
    const row = await scope.transact(async unit => {
      await this.sessions.confirm(scope, unit);
      const { workspaceId, userId } = scope.viewer;
      const { name, scope: tokenScope } = wish;
      const bounds = await boundsOf(scope, wish);
      const secret = { prefix: token.slice(0, 8), tokenHash: hashToken(token) };
      const made = unit.em.create(ApiToken, {
        workspaceId,
        userId,
        name,
        scope: tokenScope,
        expiresAt,
        ...bounds,
        ...secret,
      });
      unit.note(made);
      return made;
    });
    return Object.assign(row, { token });
  }

  async delete(scope: Scope, id: string, ifVersion?: number | null): Promise<{ id: string }> {
    return scope.transact(async unit => {
      const token = await scope.load(unit, ApiToken, id, ifVersion);
      if (token.userId !== scope.viewer.userId) throw new NotFound('ApiToken');
      unit.note(token);
      unit.revoke();
      unit.em.remove(token);
      return { id };
    });
  }
}

/** An environment says which project it belongs to; a project that is named beside it must be that one. */
async function boundsOf(scope: Scope, { projectId, environmentId }: ApiTokenWish) {
  if (environmentId == null) {
    return { projectId: projectId == null ? null : (await scope.row(Project, projectId)).id, environmentId: null };
  }
  const environment = await scope.row(Environment, environmentId);
  if (projectId != null && projectId !== environment.projectId) throw new NotFound('Environment');
  return { projectId: environment.projectId, environmentId };
}

function futureMoment(text: string | null | undefined): Date | null {
  if (text == null) return null;
  const moment = new Date(text);
  if (moment > clock.now()) return moment;
  throw new Invalid({ field: 'expiresAt', message: 'must lie in the future' });
}
