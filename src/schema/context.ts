import type { AccountService } from '../services/account.service.ts';
import type { AnalysisService } from '../services/analysis.service.ts';
import type { ApiTokenService } from '../services/api-token.service.ts';
import type { AuditService } from '../services/audit.service.ts';
import type { AutoDeployService } from '../services/auto-deploy.service.ts';
import type { DeploymentService } from '../services/deployment.service.ts';
import type { DeploymentLogService } from '../services/deployment-log.service.ts';
import type { DockerInstallService } from '../services/docker-install.service.ts';
import type { EnvironmentService } from '../services/environment.service.ts';
import type { EnvironmentDeletionService } from '../services/environment-deletion.service.ts';
import type { EnvironmentDomainService } from '../services/environment-domain.service.ts';
import type { EnvironmentMoveService } from '../services/environment-move.service.ts';
import type { EnvironmentPowerService } from '../services/environment-power.service.ts';
import type { EnvironmentServicesService } from '../services/environment-services.service.ts';
import type { EventService } from '../services/event.service.ts';
import type { FinalizeService } from '../services/finalize.service.ts';
import type { GitProviderService } from '../services/git-provider.service.ts';
import type { HookService } from '../services/hook.service.ts';
import type { MemberService } from '../services/member.service.ts';
import type { PasswordService } from '../services/password.service.ts';
import type { ProfileService } from '../services/profile.service.ts';
import type { ProjectService } from '../services/project.service.ts';
import type { RepositorySearchService } from '../services/repository-search.service.ts';
import type { RunService } from '../services/run.service.ts';
import type { RuntimeLogService } from '../services/runtime-log.service.ts';
import type { Scope } from '../services/scope.ts';
import type { ServerService } from '../services/server.service.ts';
import type { ServerSecurityService } from '../services/server-security.service.ts';
import type { ServerTestService } from '../services/server-test.service.ts';
import type { SessionService } from '../services/session.service.ts';
import type { VariableService } from '../services/variable.service.ts';
import type { Loaders } from './loaders.ts';

export interface Services {
  accounts: AccountService;
  analyses: AnalysisService;
  apiTokens: ApiTokenService;
  audit: AuditService;
  autoDeploy: AutoDeployService;
  deploymentLogs: DeploymentLogService;
  deployments: DeploymentService;
  dockerInstall: DockerInstallService;
  environments: EnvironmentService;
  environmentDeletion: EnvironmentDeletionService;
  environmentDomains: EnvironmentDomainService;
  environmentMoves: EnvironmentMoveService;
  environmentPower: EnvironmentPowerService;
  environmentServices: EnvironmentServicesService;
  events: EventService;
  finalize: FinalizeService;
  gitProviders: GitProviderService;
  hooks: HookService;
  members: MemberService;
  passwords: PasswordService;
  profile: ProfileService;
  projects: ProjectService;
  repositorySearch: RepositorySearchService;
  runs: RunService;
  runtimeLogs: RuntimeLogService;
  servers: ServerService;
  serverSecurity: ServerSecurityService;
  serverTests: ServerTestService;
  sessions: SessionService;
  variables: VariableService;
}

/** What resolvers are given, by whichever door the request came. */
export interface Context {
  scope: Scope;
  services: Services;
  loaders: Loaders;
}

export type ContextFactory = (scope: Scope) => Context;
