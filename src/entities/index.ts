import { Analysis } from './analysis.ts';
import { ApiToken } from './api-token.ts';
import { AuditEntry } from './audit-entry.ts';
import { CustomCertificate } from './custom-certificate.ts';
import { Deployment } from './deployment.ts';
import { DeploymentMessage } from './deployment-message.ts';
import { Environment } from './environment.ts';
import { StoredEvent } from './event.ts';
import { GitProvider } from './git-provider.ts';
import { HookDelivery } from './hook-delivery.ts';
import { IdempotentAnswer } from './idempotent-answer.ts';
import { Instance } from './instance.ts';
import { Invitation } from './invitation.ts';
import { OneTimeCode } from './one-time-code.ts';
import { PasswordReset } from './password-reset.ts';
import { Project } from './project.ts';
import { Run } from './run.ts';
import { Server } from './server.ts';
import { Session } from './session.ts';
import { User } from './user.ts';
import { Variable } from './variable.ts';
import { Workspace } from './workspace.ts';

export const entities = [
  Analysis,
  ApiToken,
  AuditEntry,
  CustomCertificate,
  Deployment,
  DeploymentMessage,
  Environment,
  GitProvider,
  HookDelivery,
  IdempotentAnswer,
  Instance,
  Invitation,
  OneTimeCode,
  PasswordReset,
  Project,
  Run,
  Server,
  Session,
  StoredEvent,
  User,
  Variable,
  Workspace,
];
