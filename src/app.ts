import type { Server } from 'node:http';
import type { Response } from 'express';
import { ormConfig } from '../mikro-orm.config.ts';
import type { Config } from './config.ts';
import { Database } from './database/database.ts';
import { RunEngine } from './engine/run.engine.ts';
import { EventFeed } from './events/event-feed.ts';
import { callerOf } from './http/caller.ts';
import { graphqlDoor } from './http/graphql.ts';
import type { Log } from './http/log.ts';
import { Metrics } from './http/metrics.ts';
import { createHttpServer } from './http/server.ts';
import { SseConnections } from './http/sse.ts';
import { streamDoor as graphqlStreamDoor } from './http/stream.ts';
import { ConsoleMailer } from './integrations/mail/console-mailer.ts';
import type { Mailer } from './integrations/mail/mailer.ts';
import { SmtpMailer } from './integrations/mail/smtp-mailer.ts';
import type { Handlers } from './jobs/jobs.ts';
import { Queue } from './jobs/queue.ts';
import { Worker } from './jobs/worker.ts';
import { resolvers } from './resolvers/index.ts';
import { restDoor } from './rest/door.ts';
import { restView } from './rest/rest-view.ts';
import { streamDoor as restStreamDoor } from './rest/streams.ts';
import { Broadcaster } from './schema/broadcast.ts';
import { createSchema } from './schema/build-schema.ts';
import { CompiledOperations } from './schema/compiled.ts';
import type { Context, Services } from './schema/context.ts';
import { Idempotency } from './schema/idempotency.ts';
import { Loaders } from './schema/loaders.ts';
import { Operations } from './schema/operations.ts';
import { readPersistedOperations } from './schema/persisted-operations.ts';
import { ErrorPresenter } from './schema/present-errors.ts';
import { Streaming } from './schema/streaming.ts';
import { keepSecrets } from './security/kept-secrets.ts';
import { Keyring } from './security/keyring.ts';
import { Counters, SignInLimits } from './security/limits.ts';
import { Tokens } from './security/token.ts';
import { AccountService } from './services/account.service.ts';
import { ApiTokenService } from './services/api-token.service.ts';
import { AuditService } from './services/audit.service.ts';
import { CodeService } from './services/code.service.ts';
import { CredentialService } from './services/credential.service.ts';
import { EventService } from './services/event.service.ts';
import { HousekeepingService } from './services/housekeeping.service.ts';
import { InstanceService } from './services/instance.service.ts';
import { MailService } from './services/mail.service.ts';
import { MemberService } from './services/member.service.ts';
import { PasswordService } from './services/password.service.ts';
import { ProfileService } from './services/profile.service.ts';
import { ResealService } from './services/reseal.service.ts';
import { RunService } from './services/run.service.ts';
import { Scope } from './services/scope.ts';
import { SessionService } from './services/session.service.ts';

const JOBS_STOP_MS = 20_000;

/** What the rest of the world holds of a running service. */
export interface App {
  server: Server;
  database: Database;
  queue: Queue;
  services: Services;
  openStreams(): number;
  /** Stops accepting, ends streams, hands jobs over, closes the database. */
  stop(): Promise<void>;
}

type Warn = (message: string, error: unknown) => void;

/** Makes each object once; the only place that knows every room. */
export async function createApp(config: Config, log: Log, print: (text: string) => void): Promise<App> {
  const warn: Warn = (message, err) => log.warn({ err }, message);
  const secrets = keepSecrets(config, message => log.warn(message));
  const keyring = new Keyring(secrets.masterKey, config.previousMasterKeys);
  const tokens = new Tokens(secrets.jwtSecret);
  const database = await Database.open(config, ormConfig, log);
  try {
    return await assemble({ config, log, print, warn, keyring, tokens, database });
  } catch (error) {
    await database.close();
    throw error;
  }
}

interface Ground {
  config: Config;
  log: Log;
  print: (text: string) => void;
  warn: Warn;
  keyring: Keyring;
  tokens: Tokens;
  database: Database;
}

async function assemble(ground: Ground): Promise<App> {
  const { config, log, print, warn, keyring, tokens, database } = ground;
  const { orm, rows, listener, pool } = database;
  const instance = new InstanceService(orm.em, keyring);
  await instance.checkKey();
  const queue = new Queue(pool, listener, warn);
  const feed = new EventFeed(rows, listener, warn);
  const credentials = new CredentialService(rows, tokens, listener, warn);
  const counters = new Counters((text, values) => rows.query(text, values));
  const { services, handlers, reseal } = makeServices(ground, queue, feed, counters);
  const [schema] = await Promise.all([
    createSchema(resolvers, new Idempotency(keyring)),
    queue.start(),
    feed.start(),
    credentials.start(),
    instance.bootstrap(config),
  ]);
  if (config.registration === 'invite') announceSetupCode(await instance.makeSetupCode(), print);

  const errors = new ErrorPresenter(log);
  const makeContext = (scope: Scope): Context => ({ scope, services, loaders: new Loaders(scope) });
  const scopeOf = (response: Response) => new Scope(orm.em, rows, callerOf(response).viewer, callerOf(response).facts);
  const operations = new Operations(schema, config, makeContext, errors);
  const broadcaster = new Broadcaster((subscription, event) => operations.execute(subscription, event));
  const streaming = new Streaming(operations, broadcaster);
  const sse = new SseConnections(credentials);
  const compiled = new CompiledOperations(schema);
  const persisted = readPersistedOperations(config.persistedOperationsFile, schema);
  const graphql = await graphqlDoor({ schema, makeContext, scopeOf, errors, compiled, persisted, config });
  const openReader = sse.open.bind(sse);
  const streams = restStreamDoor({ schema, operations, streaming, scopeOf, openReader });
  const metrics = new Metrics(config, log);
  metrics.gauge('slipway_open_streams', 'Streams that are open now.', () => sse.count);
  let isStopping = false;
  const server = createHttpServer({
    config,
    errors,
    metrics,
    credentials,
    counters,
    readiness: {
      database: async () => void (await pool.query('select 1')),
      queue: async () => void (await queue.boss.getQueues()),
      isStopping: () => isStopping,
    },
    graphql: graphql.handle,
    stream: graphqlStreamDoor(operations, streaming, sse, scopeOf),
    rest: restDoor({ schema: restView(schema), makeContext, scopeOf, compiled, streams }),
    docs: undefined,
  });
  await new Worker(queue, handlers, log).start();
  if (config.previousMasterKeys.length > 0) await reseal.schedule();
  const stop = async () => {
    isStopping = true;
    const closed = new Promise(resolve => server.close(resolve));
    sse.closeAll();
    server.closeIdleConnections();
    await Promise.all([queue.stop(JOBS_STOP_MS), closed]);
    await graphql.stop();
    await database.close();
  };
  return { server, database, queue, services, openStreams: () => sse.count, stop };
}

function makeServices(
  { config, print, keyring, tokens, database }: Ground,
  queue: Queue,
  feed: EventFeed,
  counters: Counters,
) {
  const { em } = database.orm;
  const mailer: Mailer = config.smtpUrl ? new SmtpMailer(config.smtpUrl, config.mailFrom) : new ConsoleMailer(print);
  const limits = new SignInLimits(counters, config.rateLimitAuth, config.rateLimitEmail);
  const mails = new MailService(queue, mailer, keyring);
  const codes = new CodeService(keyring, mails, limits);
  const sessions = new SessionService(tokens, config);
  const passwords = new PasswordService(em, queue, mails, sessions, limits, config.publicUrl);
  const runs = new RunService();
  const reseal = new ResealService(em, keyring, runs, queue);
  const housekeeping = new HousekeepingService(em, config);
  const engine = new RunEngine(em);
  const services: Services = {
    accounts: new AccountService(codes, sessions, limits, keyring, config.registration),
    apiTokens: new ApiTokenService(),
    audit: new AuditService(),
    events: new EventService(feed, database.rows),
    members: new MemberService(mails, config.publicUrl),
    passwords,
    profile: new ProfileService(sessions),
    runs,
    sessions,
  };
  const handlers: Handlers = {
    'mail.send': payload => mails.deliver(payload),
    'password.forgot': ({ email }) => passwords.sendLink(email),
    'rows.prune': (_, { signal }) => housekeeping.prune(signal),
    'secrets.reseal': ({ runId }, { signal }) => engine.perform(runId, signal, run => reseal.steps(run)),
  };
  return { services, handlers, reseal };
}

function announceSetupCode(code: string | undefined, print: (text: string) => void): void {
  if (code !== undefined) print(`\n  Register the first account with this setup code: ${code}\n`);
}
