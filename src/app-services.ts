import { join } from 'node:path';
import type { Config } from './config.ts';
import type { Database } from './database/database.ts';
import { AnalysisEngine } from './engine/analysis.engine.ts';
import { DeployEngine } from './engine/deploy.engine.ts';
import { GitCheckouts } from './engine/git-checkouts.ts';
import { RunEngine } from './engine/run.engine.ts';
import { PushReader } from './engine/source/push-reader.ts';
import { SourceCheckouts } from './engine/source/source-checkouts.ts';
import { WorkFolders } from './engine/work-folders.ts';
import { type Run, RunKind } from './entities/run.ts';
import type { EventFeed } from './events/event-feed.ts';
import type { RowBell } from './events/row-bell.ts';
import type { Log } from './http/log.ts';
import { createVendors, type Vendors } from './integrations/git/vendors.ts';
import { ConsoleMailer } from './integrations/mail/console-mailer.ts';
import type { Mailer } from './integrations/mail/mailer.ts';
import { SmtpMailer } from './integrations/mail/smtp-mailer.ts';
import type { Handlers } from './jobs/jobs.ts';
import type { Queue } from './jobs/queue.ts';
import { hostAddresses } from './remote/host-addresses.ts';
import { LocalHost } from './remote/local-host.ts';
import { SshPool } from './remote/ssh-pool.ts';
import type { Services } from './schema/context.ts';
import type { Keyring } from './security/keyring.ts';
import { type Counters, SignInLimits } from './security/limits.ts';
import type { Outbound } from './security/outbound.ts';
import type { Tokens } from './security/token.ts';
import { AccountService } from './services/account.service.ts';
import { AnalysisService } from './services/analysis.service.ts';
import { ApiTokenService } from './services/api-token.service.ts';
import { AuditService } from './services/audit.service.ts';
import { AutoDeployService } from './services/auto-deploy.service.ts';
import { AutoDeployPlanner } from './services/auto-deploy-planner.ts';
import { CodeService } from './services/code.service.ts';
import { deployMeans } from './services/deploy-access.ts';
import { DeploymentService } from './services/deployment.service.ts';
import { DeploymentLogService } from './services/deployment-log.service.ts';
import { DeploymentQueue } from './services/deployment-queue.ts';
import { DeploymentSweepService } from './services/deployment-sweep.service.ts';
import { DeploymentWaits } from './services/deployment-waits.ts';
import { DockerInstallService } from './services/docker-install.service.ts';
import { EnvironmentService } from './services/environment.service.ts';
import { EnvironmentDeletionService } from './services/environment-deletion.service.ts';
import { EnvironmentDomainService } from './services/environment-domain.service.ts';
import { EnvironmentMoveService } from './services/environment-move.service.ts';
import { EnvironmentPowerService } from './services/environment-power.service.ts';
import { EnvironmentServicesService } from './services/environment-services.service.ts';
import { EnvironmentWatchService } from './services/environment-watch.service.ts';
import { EventService } from './services/event.service.ts';
import { FinalizeService } from './services/finalize.service.ts';
import { accountLogin, GitAccessService } from './services/git-access.service.ts';
import { GitProviderService } from './services/git-provider.service.ts';
import { GitWatchService } from './services/git-watch.service.ts';
import { HookService } from './services/hook.service.ts';
import { HousekeepingService } from './services/housekeeping.service.ts';
import { machines } from './services/machines.ts';
import { MailService } from './services/mail.service.ts';
import { MemberService } from './services/member.service.ts';
import { PasswordService } from './services/password.service.ts';
import { ProfileService } from './services/profile.service.ts';
import { ProjectService } from './services/project.service.ts';
import { ProjectDeletionService } from './services/project-deletion.service.ts';
import { PushLedger } from './services/push-ledger.ts';
import { PushPollService } from './services/push-poll.service.ts';
import { RepositorySearchService } from './services/repository-search.service.ts';
import { ResealService } from './services/reseal.service.ts';
import { RunService } from './services/run.service.ts';
import { RuntimeLogService } from './services/runtime-log.service.ts';
import { ServerService } from './services/server.service.ts';
import { type Resolve, SERVERS_STOPPED, ServerAccessService } from './services/server-access.service.ts';
import { ServerSecurityService } from './services/server-security.service.ts';
import { ServerTestService } from './services/server-test.service.ts';
import { ServerWatchService } from './services/server-watch.service.ts';
import { SessionService } from './services/session.service.ts';
import { VariableService } from './services/variable.service.ts';
import { VariableStore } from './services/variable-store.ts';
import { WebhookRegistry } from './services/webhook-registry.ts';

/** How long a deployment waits that has no place yet, or whose server is away. */
const LATER_SECONDS = 2;

export type Warn = (message: string, error: unknown) => void;

/** What everything stands on. */
export interface Ground {
  config: Config;
  log: Log;
  print: (text: string) => void;
  warn: Warn;
  keyring: Keyring;
  tokens: Tokens;
  database: Database;
}

interface Means {
  queue: Queue;
  feed: EventFeed;
  bell: RowBell;
  counters: Counters;
  outbound: Outbound;
}

/** The use cases and the jobs, each made once; a part of the composition root. */
export function makeServices(ground: Ground, { queue, feed, bell, counters, outbound }: Means) {
  const { config, log, print, keyring, tokens, database } = ground;
  const { em } = database.orm;
  const mailer: Mailer = config.smtpUrl ? new SmtpMailer(config.smtpUrl, config.mailFrom) : new ConsoleMailer(print);
  const limits = new SignInLimits(counters, config.rateLimitAuth, config.rateLimitEmail);
  const mails = new MailService(queue, mailer, keyring);
  const codes = new CodeService(keyring, mails, limits);
  const sessions = new SessionService(tokens, config);
  const passwords = new PasswordService(em, queue, mails, sessions, limits, config.publicUrl);
  const runs = new RunService();
  const variables = new VariableStore(em, keyring);
  const reseal = new ResealService(em, keyring, runs, queue);
  const housekeeping = new HousekeepingService(em, config);
  const git = makeGitAccess(ground, outbound);
  const pool = new SshPool();
  const resolve = hostAddresses();
  const serverAccess = makeServerAccess(ground, pool, bell, resolve);
  const watch = new ServerWatchService(em, serverAccess, queue, ground.warn);
  const dockerInstall = new DockerInstallService(serverAccess, runs, queue);
  const security = new ServerSecurityService(em, serverAccess, runs, queue, ground.warn);
  const runEngine = new RunEngine(em, log, bell);
  const analysisEngine = new AnalysisEngine(em, (project, signal) => git.clone(project, signal));
  const use = machines(serverAccess);
  const deploymentQueue = new DeploymentQueue(queue);
  const pushes = makePushes(ground, outbound, git, queue, deploymentQueue);
  const deletion = new ProjectDeletionService(em, use, pushes.autoDeploy);
  const environmentDeletion = new EnvironmentDeletionService(em, use, runs, queue, pushes.autoDeploy);
  const power = new EnvironmentPowerService(em, use, runs, queue);
  const appWatch = new EnvironmentWatchService(em, serverAccess, ground.warn);
  const deployEngine = new DeployEngine(em, deployMeans(serverAccess, git, variables), bell, log);
  const sweep = new DeploymentSweepService(em, queue, serverAccess, ground.warn);
  const domains = new EnvironmentDomainService(keyring);
  const moves = new EnvironmentMoveService(deploymentQueue, serverAccess);
  const waits = new DeploymentWaits(database.rows, bell, ground.warn);
  const services: Services = {
    accounts: new AccountService(codes, sessions, limits, keyring, config.registration),
    analyses: new AnalysisService(git, database.rows, bell),
    apiTokens: new ApiTokenService(sessions),
    audit: new AuditService(),
    autoDeploy: pushes.autoDeploy,
    deploymentLogs: new DeploymentLogService(database.rows, bell),
    deployments: new DeploymentService(deploymentQueue, waits),
    dockerInstall,
    environments: new EnvironmentService(git, moves, pushes.autoDeploy),
    environmentDeletion,
    environmentDomains: domains,
    environmentMoves: moves,
    environmentPower: power,
    environmentServices: new EnvironmentServicesService(),
    events: new EventService(feed, database.rows),
    finalize: new FinalizeService(variables, domains, deploymentQueue, pushes.autoDeploy),
    gitProviders: new GitProviderService(git, keyring),
    hooks: pushes.hooks,
    members: new MemberService(mails, config.publicUrl),
    passwords,
    profile: new ProfileService(sessions),
    projects: new ProjectService(queue, runs),
    repositorySearch: new RepositorySearchService(git),
    runs,
    runtimeLogs: new RuntimeLogService(em, serverAccess, variables, bell),
    servers: new ServerService(serverAccess, queue),
    serverSecurity: security,
    serverTests: new ServerTestService(serverAccess, queue, resolve, log),
    sessions,
    variables: new VariableService(variables),
  };
  const handlers: Handlers = {
    'mail.send': payload => mails.deliver(payload),
    'password.forgot': ({ email }) => passwords.sendLink(email),
    'rows.prune': (_, { signal }) => housekeeping.prune(signal),
    'secrets.reseal': ({ runId }, context) => runEngine.perform(runId, context, run => reseal.steps(run)),
    'analysis.run': ({ analysisId }, context) => analysisEngine.perform(analysisId, context),
    'project.delete': async ({ runId, projectId, deleteData = false, force = false }, context) => {
      await runEngine.perform(runId, context, run => deletion.steps(run, projectId, { deleteData, force }));
      await deletion.settle(runId, projectId);
    },
    'git.check': (_, { signal }) => new GitWatchService(em, git).checkAll(signal),
    'server.look': ({ serverId }) => watch.look(serverId),
    'server.install-docker': ({ runId, serverId }, context) =>
      runEngine.perform(runId, context, (_, progress) => dockerInstall.steps(runId, serverId, progress)),
    'servers.watch': (_, { signal }) => watch.lookAtAll(signal),
    'server.look-security': ({ serverId }) => security.look(serverId),
    'server.check-security': ({ runId, serverId }, context) =>
      runEngine.perform(runId, context, () => security.checkSteps(serverId)),
    'server.harden': (order, context) =>
      security.hardening(order, steps => runEngine.perform(order.runId, context, () => steps)),
    'servers.look-security': (_, { signal }) => security.lookAtAll(signal),
    'environment.deploy': async ({ environmentId }, context) => {
      const turn = await deployEngine.perform(environmentId, context);
      if (turn === 'LATER') await sweep.deployAgain(environmentId, LATER_SECONDS);
    },
    'environment.work': async ({ runId, environmentId: id, deleteData = false, force = false }, context) => {
      const wish = { deleteData, force };
      const isDeletion = ({ kind }: Run) => kind === RunKind.DELETE_ENVIRONMENT;
      const stepsOf = (run: Run) => (isDeletion(run) ? environmentDeletion.steps(run, id, wish) : power.steps(run, id));
      await runEngine.perform(runId, context, stepsOf);
      await environmentDeletion.settle(runId, id);
    },
    'apps.watch': (_, { signal }) => appWatch.lookAtAll(signal),
    'deployments.sweep': (_, { signal }) => sweep.sweep(signal),
    'git.poll': (_, { signal }) => pushes.poll.pollAll(signal),
    'auto-deploy.settle': ({ environmentId }) => pushes.autoDeploy.arrange(environmentId),
    'git.unhook': payload => pushes.registry.remove(payload),
  };
  const wake = async () => {
    await new WorkFolders(join(config.dataDir, 'git', 'work')).clearLeft();
    await sweep.wakeForgotten();
  };
  return { services, handlers, reseal, wake, pool, waits };
}

/** An instance that learns that a machine is not the right one tells the others, who may have connections to it. */
function makeServerAccess(
  { keyring, database, warn }: Ground,
  pool: SshPool,
  bell: RowBell,
  resolve: Resolve,
): ServerAccessService {
  const access = new ServerAccessService(database.orm.em, keyring, pool, resolve);
  const told = (error: unknown) => warn('Connections to untrusted servers could not be looked for', error);
  bell.watch(SERVERS_STOPPED, () => void access.dropStopped().catch(told));
  return access;
}

/** How pushes are noticed, and what comes of them. */
function makePushes(
  { config, keyring, database, warn }: Ground,
  outbound: Outbound,
  git: GitAccessService,
  queue: Queue,
  deployments: DeploymentQueue,
) {
  const { em } = database.orm;
  const registry = new WebhookRegistry(em, git);
  const planner = new AutoDeployPlanner(git, registry, config.publicUrl);
  const ledger = new PushLedger(deployments);
  const autoDeploy = new AutoDeployService(em, keyring, queue, planner, registry);
  const reader = new PushReader(new LocalHost(config.programPath), outbound, join(config.dataDir, 'git'));
  const poll = new PushPollService(em, git, reader, ledger, autoDeploy, warn);
  return { autoDeploy, registry, poll, hooks: new HookService(em, keyring, git, ledger) };
}

/** Plain Git has no API to ask: its branches are listed by git itself, with the account's own credential. */
function makeGitAccess({ config, keyring, database }: Ground, outbound: Outbound): GitAccessService {
  const ground = [new LocalHost(config.programPath), outbound, join(config.dataDir, 'git')] as const;
  const checkouts = new GitCheckouts(...ground);
  const vendors: Vendors = createVendors(outbound, (url, account) =>
    checkouts.listRefs(url, accountLogin(vendors.GIT, account)),
  );
  return new GitAccessService(database.orm.em, keyring, vendors, checkouts, new SourceCheckouts(...ground));
}
