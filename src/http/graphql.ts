import { AsyncLocalStorage } from 'node:async_hooks';
import { ApolloServer, type ApolloServerPlugin, type GraphQLRequestContext, HeaderMap } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled';
import type { Request, RequestHandler, Response } from 'express';
import { GraphQLError, type GraphQLSchema, OperationTypeNode } from 'graphql';
import { DomainError } from '../errors.ts';
import type { CompiledOperations } from '../schema/compiled.ts';
import type { Context, ContextFactory } from '../schema/context.ts';
import { deprecationHeaders } from '../schema/deprecation.ts';
import type { FrequentOperations } from '../schema/frequent-operations.ts';
import type { PersistedOperations } from '../schema/persisted-operations.ts';
import { type ErrorPresenter, wholeFault } from '../schema/present-errors.ts';
import { checkOperation } from '../schema/rules/check-operation.ts';
import { QUERY_LIMITS } from '../schema/rules/query-limits.ts';
import { validationRules } from '../schema/rules/validation-rules.ts';
import { writeText } from '../schema/write-text.ts';
import type { Scope } from '../services/scope.ts';
import { callerOf } from './caller.ts';
import { errorHeaders } from './errors.ts';
import { knownOperations } from './known-operations.ts';
import { sandboxPlugin, sandboxPolicy } from './sandbox.ts';

interface Parts {
  schema: GraphQLSchema;
  makeContext: ContextFactory;
  scopeOf: (response: Response) => Scope;
  errors: ErrorPresenter;
  compiled: CompiledOperations;
  persisted: PersistedOperations;
  frequent: FrequentOperations;
  config: { isProduction: boolean; hasIntrospection: boolean; publicUrl: string };
}

export interface GraphqlDoor {
  handle: RequestHandler;
  stop(): Promise<void>;
}

/** `/graphql` by Apollo Server, with its Sandbox page outside production. */
export async function graphqlDoor(parts: Parts): Promise<GraphqlDoor> {
  const { schema, makeContext, scopeOf, errors, persisted, config } = parts;
  const requestIds = new AsyncLocalStorage<string>();
  const server = new ApolloServer<Context>({
    schema,
    introspection: config.hasIntrospection,
    hideSchemaDetailsFromClientErrors: !config.hasIntrospection,
    includeStacktraceInErrorResponses: false,
    validationRules: validationRules(config),
    parseOptions: { maxTokens: QUERY_LIMITS.tokens },
    persistedQueries: { cache: persisted },
    formatError: (_, error) => errors.present(error as Error, requestIds.getStore() ?? ''),
    plugins: [ApolloServerPluginCacheControlDisabled(), landingPage(config), rules(parts)],
    stopOnTerminationSignals: false,
    nodeEnv: config.isProduction ? 'production' : 'development',
    logger: silent,
  });
  await server.start();
  const answerKnown = knownOperations(parts);
  return {
    handle: (request, response, next) => {
      if (request.path !== '/') return next();
      refuseOtherRequests(request, response);
      if (request.method === 'GET' && !config.isProduction)
        response.setHeader('Content-Security-Policy', sandboxPolicy);
      return answerKnown(request, response, () =>
        requestIds.run(callerOf(response).facts.requestId, () => {
          answerBy(server, request, response, makeContext(scopeOf(response))).catch(next);
        }),
      );
    },
    stop: () => server.stop(),
  };
}

const landingPage = ({ isProduction, publicUrl }: Parts['config']): ApolloServerPlugin =>
  isProduction ? ApolloServerPluginLandingPageDisabled() : sandboxPlugin(publicUrl);

async function answerBy(server: ApolloServer<Context>, request: Request, response: Response, context: Context) {
  const { method, url, body } = request;
  const search = url.includes('?') ? url.slice(url.indexOf('?')) : '';
  const answer = await server.executeHTTPGraphQLRequest({
    httpGraphQLRequest: { method, search, body, headers: headersOf(request) },
    context: () => Promise.resolve(context),
  });
  if (answer.body.kind === 'chunked') throw new TypeError('no operation is answered in parts');
  for (const [name, value] of answer.headers) response.setHeader(name, value);
  response.statusCode = answer.status ?? 200;
  // Pages for people want what Express knows of their types.
  if (method === 'GET') response.send(answer.body.string);
  else writeText(response, answer.body.string);
}

function headersOf({ headers }: Request): HeaderMap {
  const map = new HeaderMap();
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) map.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return map;
}

/** Limits, keyed mutations and the status: what Apollo has no option for. */
function rules({ schema, frequent }: Parts): ApolloServerPlugin<Context> {
  const listener = {
    didResolveOperation: async (request: Resolved) => {
      check(schema, request);
      if (!request.contextValue.scope.isAnonymous) frequent.count(request.source, request.document);
    },
    willSendResponse: async ({ response, contextValue }: GraphQLRequestContext<Context>) => {
      const { isReplayed, warnings, deprecation } = contextValue.scope.notes;
      for (const [name, value] of deprecationHeaders(deprecation)) response.http.headers.set(name.toLowerCase(), value);
      if (isReplayed) response.http.headers.set('idempotency-replayed', 'true');
      if (warnings?.length && response.body?.kind === 'single') response.body.singleResult.extensions = { warnings };
      const fault = response.body?.kind === 'single' ? wholeFault(response.body.singleResult.errors) : undefined;
      if (fault === undefined) return;
      response.http.status = fault.status;
      for (const [name, value] of errorHeaders(fault)) response.http.headers.set(name, value);
    },
  };
  return { requestDidStart: () => Promise.resolve(listener as never) };
}

type Resolved = Required<Pick<Asked, 'source' | 'document' | 'contextValue' | 'request'>> & Pick<Asked, 'operation'>;
type Asked = GraphQLRequestContext<Context>;

/** Apollo answers 500 to what a plugin throws unless it is told otherwise. */
function check(schema: GraphQLSchema, { document, operation, contextValue, request }: Resolved): void {
  try {
    if (!operation) throw new DomainError('QUERY_INVALID', 'Name the operation to run in operationName');
    if (operation.operation === OperationTypeNode.SUBSCRIPTION)
      throw new DomainError('QUERY_INVALID', 'Subscriptions are opened at /graphql/stream');
    checkOperation(schema, document, operation, request.variables, contextValue.scope);
  } catch (error) {
    throw new GraphQLError((error as Error).message, {
      originalError: error as Error,
      extensions: { http: { status: 400 } },
    });
  }
}

/** What Apollo would answer in a form of its own. */
function refuseOtherRequests(request: Request, response: Response): void {
  if (request.method !== 'GET' && request.method !== 'POST') {
    response.setHeader('Allow', 'GET, POST');
    throw new DomainError('METHOD_NOT_ALLOWED', 'Here one may GET, POST');
  }
  if (request.method === 'POST' && !request.is('application/json'))
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Send the operation as JSON');
  // We have one thing to give: whoever wants another gets it all the same, as RFC 9110 allows.
  const page = request.method === 'GET' ? ['html'] : [];
  if (!request.accepts(['json', 'application/graphql-response+json', ...page]))
    request.headers.accept = 'application/json';
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };
