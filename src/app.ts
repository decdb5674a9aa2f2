import type { Server } from 'node:http';
import type { Response } from 'express';
import { ormConfig } from '../mikro-orm.config.ts';
import { type Ground, makeServices, type Warn } from './app-services.ts';
import { type Config, ConfigFault } from './config.ts';
import { Database } from './database/database.ts';
import { EventFeed } from './events/event-feed.ts';
import { RowBell } from './events/row-bell.ts';
import { callerOf } from './http/caller.ts';
import { Connections } from './http/connections.ts';
import { graphqlDoor } from './http/graphql.ts';
import type { Log } from './http/log.ts';
import { Metrics } from './http/metrics.ts';
import { createHttpServer } from './http/server.ts';
import { SseConnections } from './http/sse.ts';
import { streamDoor as graphqlStreamDoor } from './http/stream.ts';
import { Queue } from './jobs/queue.ts';
import { Worker } from './jobs/worker.ts';
import { resolvers } from './resolvers/index.ts';
import { docsDoor } from './rest/docs.ts';
import { restDoor } from './rest/door.ts';
import { HOOKS_PATH, hooksDoor } from './rest/hooks.ts';
import { restView } from './rest/rest-view.ts';
import { streamDoor as restStreamDoor } from './rest/streams.ts';
import { Broadcaster } from './schema/broadcast.ts';
import { createSchema } from './schema/build-schema.ts';
import { CompiledOperations } from './schema/compiled.ts';
import type { Context, Services } from './schema/context.ts';
import { FrequentOperations } from './schema/frequent-operations.ts';
import { Idempotency } from './schema/idempotency.ts';
import { Loaders } from './schema/loaders.ts';
import { Operations } from './schema/operations.ts';
import { readPersistedOperations } from './schema/persisted-operations.ts';
import { ErrorPresenter } from './schema/present-errors.ts';
import { Streaming } from './schema/streaming.ts';
import { readAuthorities } from './security/authorities.ts';
import { keepSecrets } from './security/kept-secrets.ts';
import { Keyring } from './security/keyring.ts';
import { Counters } from './security/limits.ts';
import { Outbound } from './security/outbound.ts';
import { Tokens } from './security/token.ts';
import { CredentialService } from './services/credential.service.ts';
import { InstanceService } from './services/instance.service.ts';
import { Scope } from './services/scope.ts';
import { Settling } from './services/settling.ts';

const JOBS_STOP_MS = 20_000;

/** What the rest of the world holds of a running service. */
export interface App {
  server: Server;
  database: Database;
  queue: Queue;
  services: Services;
  openStreams(): number;
  /** Requests that wait for a deployment to end. */
  waitingRequests(): number;
  /** Stops accepting, ends streams, hands jobs over, closes the database. */
  stop(): Promise<void>;
}

/** Makes each object once; the only place that knows every room. */
export async function createApp(config: Config, log: Log, print: (text: string) => void): Promise<App> {
  const warn: Warn = (message, err) => log.warn({ err }, message);
  const secrets = keepSecrets(config, message => log.warn(message));
  const keyring = new Keyring(secrets.masterKey, config.previousMasterKeys);
  const tokens = new Tokens(secrets.jwtSecret);
  const opened = new AsyncDisposableStack();
  const database = opened.adopt(await Database.open(config, ormConfig, log), each => each.close());
  try {
    return await assemble({ config, log, print, warn, keyring, tokens, database }, opened);
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

/** What it opens it leaves in `opened`, to be closed in the opposite order: by the stop, or at once if it fails half-way. */
async function assemble(ground: Ground, opened: AsyncDisposableStack): Promise<App> {
  const { config, log, print, warn, keyring, tokens, database } = ground;
  const { orm, rows, listener, pool } = database;
  const instance = new InstanceService(orm.em, keyring);
  await instance.checkKey();
  await instance.bootstrap(config);
  const queue = opened.adopt(new Queue(pool, listener, warn), each => each.stop(JOBS_STOP_MS));
  const feed = new EventFeed(rows, listener, warn);
  const bell = new RowBell(listener);
  const outbound = opened.adopt(makeOutbound(config), each => each.close());
  const credentials = new CredentialService(rows, tokens, listener, warn);
  const settling = new Settling(rows, listener, warn);
  const counters = new Counters((text, values) => rows.query(text, values));
  const {
    services,
    handlers,
    reseal,
    wake,
    pool: hosts,
    waits,
  } = makeServices(ground, { queue, feed, bell, counters, outbound });
  opened.defer(() => hosts.closeAll());
  const [schema] = await allStarted([
    createSchema(resolvers, new Idempotency(keyring)),
    queue.start(),
    feed.start(),
    bell.start(),
    credentials.start(),
    settling.start(),
  ]);
  if (config.registration === 'invite') announceSetupCode(await instance.makeSetupCode(), print);

  const errors = new ErrorPresenter(log);
  const makeContext = (scope: Scope): Context => ({ scope, services, loaders: new Loaders(scope) });
  const scopeOf = (response: Response) => {
    const { viewer, facts } = callerOf(response);
    return new Scope(orm.em, rows, viewer, facts, () => settling.everywhere());
  };
  const operations = new Operations(schema, config, makeContext, errors);
  const broadcaster = new Broadcaster((subscription, event) => operations.execute(subscription, event));
  const streaming = new Streaming(operations, broadcaster);
  const sse = new SseConnections(credentials);
  const compiled = new CompiledOperations(schema);
  const persisted = readPersistedOperations(config.persistedOperationsFile, schema);
  const known = { persisted, frequent: new FrequentOperations() };
  const graphqlParts = { schema, makeContext, scopeOf, errors, compiled, ...known, config };
  const graphql = opened.adopt(await graphqlDoor(graphqlParts), each => each.stop());
  const openReader = sse.open.bind(sse);
  const streams = restStreamDoor({ schema, operations, streaming, scopeOf, openReader });
  const metrics = new Metrics(config, log);
  metrics.gauge('slipway_open_streams', 'Streams that are open now.', () => sse.count);
  metrics.gauge('slipway_stream_readers', 'Readers of stored streams.', () => broadcaster.readerCount);
  metrics.gauge('slipway_event_watchers', 'Audiences that follow the event log.', () => feed.watcherCount);
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
    hooks: { path: HOOKS_PATH, handle: hooksDoor(services.hooks) },
    docs: config.hasApiDocs ? docsDoor(schema) : undefined,
  });
  const connections = new Connections(server);
  if (config.databaseUrl === undefined) await queue.buryTheDead();
  await new Worker(queue, handlers, log).start();
  if (config.previousMasterKeys.length > 0) await reseal.schedule();
  await wake();
  const stop = async () => {
    isStopping = true;
    sse.closeAll();
    waits.closeAll();
    await Promise.all([queue.stop(JOBS_STOP_MS), connections.close()]);
    await opened.disposeAsync();
  };
  const counts = { openStreams: () => sse.count, waitingRequests: () => waits.count };
  return { server, database, queue, services, ...counts, stop };
}

/** Whoever fails waits for the others: what is still starting cannot be closed. */
async function allStarted<const Starting extends readonly unknown[]>(starting: Starting) {
  await Promise.allSettled(starting);
  return Promise.all(starting);
}

function makeOutbound({ outboundAllow: allow, outboundCaFile: file }: Config): Outbound {
  try {
    return new Outbound({ allow, authorities: file === undefined ? undefined : readAuthorities(file) });
  } catch (error) {
    throw new ConfigFault([`OUTBOUND_CA_FILE: ${(error as Error).message}`]);
  }
}

function announceSetupCode(code: string | undefined, print: (text: string) => void): void {
  if (code !== undefined) print(`\n  Register the first account with this setup code: ${code}\n`);
}
