import { Extensions } from 'type-graphql';
import { TokenScope } from '../entities/api-token.ts';
import { Role } from '../entities/user.ts';
import { Forbidden } from '../errors.ts';
import type { Viewer } from '../services/scope.ts';

/** What a root field asks of its caller. `open` fields ask nothing. */
export type Permission = 'open' | Demand;

interface Demand {
  role: Role;
  scope: TokenScope;
  /** Only a signed-in person, never a token of a script: what lies under `/auth`. */
  sessionOnly: boolean;
  /** Looks at nothing outside one project, so a token bound to a project may do it too. */
  inProject: boolean;
}

/** May be called without a token. */
export const Open = () => Extensions({ permission: 'open' satisfies Permission });

/** Needs at least this role, and, where a token is used, at least this scope. */
export const Allow = (role: Role, scope: TokenScope, { sessionOnly = false, inProject = false } = {}) =>
  Extensions({ permission: { role, scope, sessionOnly, inProject } satisfies Permission });

export const AllowRead = (options: { inProject?: boolean } = {}) => Allow(Role.VIEWER, TokenScope.read, options);
export const AllowPerson = () => Allow(Role.VIEWER, TokenScope.write, { sessionOnly: true });
export const AllowOwner = () => Allow(Role.OWNER, TokenScope.write);

const ROLE_RANK = { VIEWER: 0, MEMBER: 1, OWNER: 2 } as const;
const SCOPE_RANK = { read: 0, deploy: 1, write: 2 } as const;

/** Throws what is missing. The one place where it is decided who may do what. */
export function authorize({ role, scope, sessionOnly, inProject }: Demand, viewer: Viewer): void {
  if (sessionOnly && viewer.sessionId === null) {
    throw new Forbidden('An API token cannot do this; sign in for it');
  }
  if (viewer.projectId !== null && !inProject)
    throw new Forbidden('This token is bound to a project, and this is not part of it');
  if (ROLE_RANK[viewer.role] < ROLE_RANK[role]) throw new Forbidden(`This needs the role ${role}`);
  if (viewer.tokenScope !== null && SCOPE_RANK[viewer.tokenScope] < SCOPE_RANK[scope]) {
    throw new Forbidden(`This needs a token with the scope "${scope}"`);
  }
}

export const isPermission = (value: unknown): value is Permission =>
  value === 'open' || (typeof value === 'object' && value !== null && 'role' in value && 'scope' in value);
