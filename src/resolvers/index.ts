import { ApiTokenResolver } from './api-token.resolver.ts';
import { AuditResolver } from './audit.resolver.ts';
import { AuthResolver } from './auth.resolver.ts';
import { EventResolver } from './event.resolver.ts';
import { MemberResolver } from './member.resolver.ts';
import { RunResolver } from './run.resolver.ts';
import { SessionResolver } from './session.resolver.ts';

export const resolvers = [
  ApiTokenResolver,
  AuditResolver,
  AuthResolver,
  EventResolver,
  MemberResolver,
  RunResolver,
  SessionResolver,
] as const;
