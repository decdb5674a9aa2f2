import { AnalysisResolver } from './analysis.resolver.ts';
import { ApiTokenResolver } from './api-token.resolver.ts';
import { AuditResolver } from './audit.resolver.ts';
import { AuthResolver } from './auth.resolver.ts';
import { AutoDeployResolver } from './auto-deploy.resolver.ts';
import { DeploymentResolver } from './deployment.resolver.ts';
import { EnvironmentResolver } from './environment.resolver.ts';
import { EnvironmentPowerResolver } from './environment-power.resolver.ts';
import { EventResolver } from './event.resolver.ts';
import { GitProviderResolver } from './git-provider.resolver.ts';
import { MemberResolver } from './member.resolver.ts';
import { ProjectResolver } from './project.resolver.ts';
import { RepositoryResolver } from './repository.resolver.ts';
import { RunResolver } from './run.resolver.ts';
import { RuntimeResolver } from './runtime.resolver.ts';
import { ServerResolver } from './server.resolver.ts';
import { ServerSecurityResolver } from './server-security.resolver.ts';
import { SessionResolver } from './session.resolver.ts';
import { VariableResolver } from './variable.resolver.ts';

export const resolvers = [
  AnalysisResolver,
  ApiTokenResolver,
  AuditResolver,
  AuthResolver,
  AutoDeployResolver,
  DeploymentResolver,
  EnvironmentResolver,
  EnvironmentPowerResolver,
  EventResolver,
  GitProviderResolver,
  MemberResolver,
  ProjectResolver,
  RepositoryResolver,
  RunResolver,
  RuntimeResolver,
  ServerResolver,
  ServerSecurityResolver,
  SessionResolver,
  VariableResolver,
] as const;
