import { ApiToken } from './api-token.ts';
import { AuditEntry } from './audit-entry.ts';
import { StoredEvent } from './event.ts';
import { IdempotentAnswer } from './idempotent-answer.ts';
import { Instance } from './instance.ts';
import { Invitation } from './invitation.ts';
import { OneTimeCode } from './one-time-code.ts';
import { PasswordReset } from './password-reset.ts';
import { Run } from './run.ts';
import { Session } from './session.ts';
import { User } from './user.ts';
import { Workspace } from './workspace.ts';

export const entities = [
  ApiToken,
  AuditEntry,
  IdempotentAnswer,
  Instance,
  Invitation,
  OneTimeCode,
  PasswordReset,
  Run,
  Session,
  StoredEvent,
  User,
  Workspace,
];
