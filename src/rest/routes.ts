import type { Tag } from './tags.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Route {
  method: Method;
  path: string;
  tag: Tag;
  /** 200 unless told otherwise. */
  status?: 201 | 202;
  /** Answered now and then, by `notes.status`: a thing that was there already and was changed. */
  otherStatus?: 200;
  /** What that other status says, unless it is the usual thing. */
  otherMeaning?: string;
  /** The field of the answer that is the whole answer under the usual status; under the other one it is null. */
  made?: string;
  /** What to watch or read next, with names of the answer's fields in it. */
  location?: string;
  /** Arguments of a request with a body that come in the query string all the same. */
  query?: readonly string[];
  /** A list in the order things happened; others are newest first. */
  inOrder?: true;
  /** A stream at the path of a query of the same name: this, given as true in the query string, asks for the stream. */
  switchedBy?: string;
  /** Parts may fail while the rest succeeds: `X-Warnings` tells. */
  warns?: true;
}

/** The REST face of the schema, in one table: root field → method, path, status. A root field that is not here has no route, and a test says so. */
export const routes = {
  'Mutation.register': { method: 'POST', path: '/auth/register', status: 201, tag: 'Auth' },
  'Mutation.login': { method: 'POST', path: '/auth/login', tag: 'Auth' },
  'Mutation.verifyOtp': { method: 'POST', path: '/auth/verify-otp', tag: 'Auth' },
  'Mutation.forgotPassword': { method: 'POST', path: '/auth/forgot-password', status: 202, tag: 'Auth' },
  'Mutation.resetPassword': { method: 'POST', path: '/auth/reset-password', tag: 'Auth' },
  'Mutation.refresh': { method: 'POST', path: '/auth/refresh', tag: 'Auth' },
  'Mutation.logout': { method: 'POST', path: '/auth/logout', tag: 'Auth' },
  'Query.sessions': { method: 'GET', path: '/auth/sessions', tag: 'Account' },
  'Mutation.deleteSession': { method: 'DELETE', path: '/auth/sessions/:id', tag: 'Account' },
  'Query.me': { method: 'GET', path: '/auth/me', tag: 'Account' },
  'Mutation.updateMe': { method: 'PATCH', path: '/auth/me', tag: 'Account' },
  'Query.apiTokens': { method: 'GET', path: '/auth/tokens', tag: 'Account' },
  'Mutation.createApiToken': { method: 'POST', path: '/auth/tokens', status: 201, tag: 'Account' },
  'Mutation.deleteApiToken': { method: 'DELETE', path: '/auth/tokens/:id', tag: 'Account' },
  'Mutation.createStreamTicket': { method: 'POST', path: '/auth/stream-ticket', status: 201, tag: 'Account' },

  'Query.members': { method: 'GET', path: '/members', tag: 'Members' },
  'Query.invitations': { method: 'GET', path: '/members/invitations', tag: 'Members' },
  'Mutation.createInvitation': { method: 'POST', path: '/members/invitations', status: 201, tag: 'Members' },
  'Mutation.deleteInvitation': { method: 'DELETE', path: '/members/invitations/:id', tag: 'Members' },
  'Query.member': { method: 'GET', path: '/members/:id', tag: 'Members' },
  'Mutation.updateMember': { method: 'PATCH', path: '/members/:id', tag: 'Members' },
  'Mutation.deleteMember': { method: 'DELETE', path: '/members/:id', tag: 'Members' },

  'Mutation.saveGitToken': {
    method: 'POST',
    path: '/git-provider/save-token',
    status: 201,
    otherStatus: 200,
    tag: 'Git providers',
  },
  'Query.gitProviders': { method: 'GET', path: '/git-providers', tag: 'Git providers' },
  'Query.repositories': { method: 'GET', path: '/git-providers/repositories', warns: true, tag: 'Git providers' },
  'Query.branches': { method: 'GET', path: '/git-providers/:providerId/repos/:repo/branches', tag: 'Git providers' },
  'Mutation.deleteGitProvider': { method: 'DELETE', path: '/git-providers/:id', tag: 'Git providers' },

  'Mutation.createProject': {
    method: 'POST',
    path: '/projects',
    status: 201,
    location: '/projects/:id',
    tag: 'Projects',
  },
  'Query.projects': { method: 'GET', path: '/projects', tag: 'Projects' },
  'Query.analyzeRepo': { method: 'GET', path: '/projects/analyze-repo', tag: 'Projects' },
  'Query.project': { method: 'GET', path: '/projects/:id', tag: 'Projects' },
  'Mutation.updateProject': { method: 'PUT', path: '/projects/:id', tag: 'Projects' },
  'Mutation.deleteProject': {
    method: 'DELETE',
    path: '/projects/:id',
    status: 202,
    location: '/runs/:id',
    tag: 'Projects',
  },
  'Mutation.finalizeProject': { method: 'POST', path: '/projects/:id/finalize', tag: 'Projects' },
  'Mutation.retryAnalysis': {
    method: 'POST',
    path: '/projects/:id/retry-analysis',
    status: 202,
    location: '/projects/:projectId/analysis-status',
    tag: 'Projects',
  },

  'Mutation.createEnvironment': {
    method: 'POST',
    path: '/environments',
    status: 201,
    location: '/environments/:id',
    tag: 'Environments',
  },
  'Query.environments': { method: 'GET', path: '/environments', tag: 'Environments' },
  'Query.environment': { method: 'GET', path: '/environments/:id', tag: 'Environments' },
  'Mutation.updateEnvironment': { method: 'PATCH', path: '/environments/:id', tag: 'Environments' },
  'Mutation.deleteEnvironment': {
    method: 'DELETE',
    path: '/environments/:id',
    status: 202,
    location: '/runs/:id',
    tag: 'Environments',
  },
  'Mutation.setEnvironmentBranch': { method: 'PATCH', path: '/environments/:id/branch', tag: 'Environments' },
  'Mutation.moveEnvironment': {
    method: 'PATCH',
    path: '/environments/:id/server',
    status: 202,
    otherStatus: 200,
    otherMeaning: 'Nothing had to be deployed for it.',
    location: '/environments/:id/deployments/:latestDeploymentId',
    warns: true,
    tag: 'Environments',
  },
  'Mutation.setEnvironmentServices': { method: 'POST', path: '/environments/:id/services', tag: 'Environments' },
  'Mutation.setEnvironmentDomain': { method: 'POST', path: '/environments/:id/domain', tag: 'Environments' },
  'Mutation.deleteEnvironmentDomain': { method: 'DELETE', path: '/environments/:id/domain', tag: 'Environments' },
  'Mutation.restartEnvironment': {
    method: 'POST',
    path: '/environments/:id/restart',
    status: 202,
    location: '/runs/:id',
    tag: 'Environments',
  },
  'Mutation.stopEnvironment': {
    method: 'POST',
    path: '/environments/:id/stop',
    status: 202,
    location: '/runs/:id',
    tag: 'Environments',
  },
  'Mutation.startEnvironment': {
    method: 'POST',
    path: '/environments/:id/start',
    status: 202,
    location: '/runs/:id',
    tag: 'Environments',
  },
  'Mutation.setAutoDeploy': { method: 'PATCH', path: '/environments/:id/auto-deploy', tag: 'Environments' },
  'Query.hookDeliveries': { method: 'GET', path: '/environments/:id/hook-deliveries', tag: 'Environments' },
  'Mutation.redeliverHook': {
    method: 'POST',
    path: '/environments/:id/hook-deliveries/:deliveryId/redeliver',
    status: 201,
    tag: 'Environments',
  },
  'Query.variables': { method: 'GET', path: '/environments/:id/variables', tag: 'Environments' },
  'Mutation.setVariables': { method: 'POST', path: '/environments/:id/variables', tag: 'Environments' },
  'Mutation.deleteVariable': { method: 'DELETE', path: '/environments/:id/variables/:key', tag: 'Environments' },
  'Query.runtimeLogs': { method: 'GET', path: '/environments/:id/logs', inOrder: true, tag: 'Environments' },
  'Subscription.runtimeLogs': {
    method: 'GET',
    path: '/environments/:id/logs',
    switchedBy: 'follow',
    tag: 'Environments',
  },

  'Query.deployments': { method: 'GET', path: '/deployments', tag: 'Deployments' },
  'Query.environmentDeployments': {
    method: 'GET',
    path: '/environments/:environmentId/deployments',
    tag: 'Deployments',
  },
  'Mutation.createDeployment': {
    method: 'POST',
    path: '/environments/:environmentId/deployments',
    status: 202,
    location: '/environments/:environmentId/deployments/:id',
    tag: 'Deployments',
  },
  'Query.deployment': { method: 'GET', path: '/environments/:environmentId/deployments/:id', tag: 'Deployments' },
  'Query.deploymentLogs': {
    method: 'GET',
    inOrder: true,
    path: '/environments/:environmentId/deployments/:id/logs',
    tag: 'Deployments',
  },
  'Mutation.cancelDeployment': {
    method: 'POST',
    path: '/environments/:environmentId/deployments/:id/cancel',
    status: 202,
    location: '/environments/:environmentId/deployments/:id',
    tag: 'Deployments',
  },
  'Mutation.rollbackDeployment': {
    method: 'POST',
    path: '/environments/:environmentId/deployments/:id/rollback',
    status: 202,
    location: '/environments/:environmentId/deployments/:id',
    tag: 'Deployments',
  },

  'Mutation.createServer': {
    method: 'POST',
    path: '/servers',
    status: 201,
    location: '/servers/:id',
    tag: 'Servers',
  },
  'Query.servers': { method: 'GET', path: '/servers', tag: 'Servers' },
  'Subscription.testConnection': { method: 'POST', path: '/servers/test-connection', tag: 'Servers' },
  'Query.server': { method: 'GET', path: '/servers/:id', tag: 'Servers' },
  'Mutation.updateServer': { method: 'PATCH', path: '/servers/:id', tag: 'Servers' },
  'Mutation.trustServer': { method: 'POST', path: '/servers/:id/trust', tag: 'Servers' },
  'Mutation.installDocker': {
    method: 'POST',
    path: '/servers/:id/docker',
    status: 202,
    location: '/runs/:id',
    tag: 'Servers',
  },
  'Query.securityLook': { method: 'GET', path: '/servers/:id/security', tag: 'Servers' },
  'Mutation.checkServerSecurity': {
    method: 'POST',
    path: '/servers/:id/security/check',
    status: 202,
    location: '/runs/:id',
    tag: 'Servers',
  },
  'Mutation.hardenServer': {
    method: 'POST',
    path: '/servers/:id/security/harden',
    status: 202,
    otherStatus: 200,
    otherMeaning: 'A dry run: what would be done.',
    made: 'run',
    location: '/runs/:id',
    tag: 'Servers',
  },
  'Mutation.deleteServer': { method: 'DELETE', path: '/servers/:id', tag: 'Servers' },

  'Query.audit': { method: 'GET', path: '/audit', tag: 'Audit' },
  'Query.auditEntry': { method: 'GET', path: '/audit/:id', tag: 'Audit' },
  'Query.runs': { method: 'GET', path: '/runs', tag: 'Runs' },
  'Query.run': { method: 'GET', path: '/runs/:id', tag: 'Runs' },
  'Mutation.cancelRun': { method: 'POST', path: '/runs/:id/cancel', tag: 'Runs' },

  'Subscription.deploymentStatus': {
    method: 'GET',
    path: '/environments/:environmentId/deployments/:id/status',
    tag: 'Streams',
  },
  'Subscription.analysisStatus': { method: 'GET', path: '/projects/:id/analysis-status', tag: 'Streams' },
  'Subscription.events': { method: 'GET', path: '/events', tag: 'Streams' },
} as const satisfies Record<`${'Query' | 'Mutation' | 'Subscription'}.${string}`, Route>;

export type RouteName = keyof typeof routes;

export const routeEntries = Object.entries(routes) as [RouteName, Route][];
