import type { Request, RequestHandler, Response } from 'express';
import FindMyWay, { type HTTPMethod } from 'find-my-way';
import type { GraphQLSchema } from 'graphql';
import { DomainError, Invalid, NotFound } from '../errors.ts';
import type { CompiledOperations } from '../schema/compiled.ts';
import type { ContextFactory } from '../schema/context.ts';
import { deprecationHeaders } from '../schema/deprecation.ts';
import type { Scope } from '../services/scope.ts';
import { answer } from './answer.ts';
import { bodyOf } from './body.ts';
import { createOperations, type Operation } from './rest.ts';
import type { Route } from './routes.ts';
import type { StreamDoor, StreamRoute } from './streams.ts';

interface Parts {
  schema: GraphQLSchema;
  makeContext: ContextFactory;
  scopeOf: (response: Response) => Scope;
  compiled: CompiledOperations;
  streams: StreamDoor;
}

type Params = Record<string, string | undefined>;
type Serve = (request: Request, response: Response, params: Params, query: URLSearchParams) => Promise<void>;

/** What is too long for an id is a malformed one, not an unknown route; Node takes no longer path than this. */
const LONGEST_PATH = 16_384;

const METHODS: HTTPMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** `/api/v1`: finds the route, reads its arguments, runs its operation, writes the answer. */
export function restDoor(parts: Parts): RequestHandler {
  const router = FindMyWay({ ignoreTrailingSlash: true, maxParamLength: LONGEST_PATH });
  const add = (method: HTTPMethod, path: string, serve: Serve) => router.on(method, path, () => undefined, serve);
  const switched = parts.streams.routes.filter(({ route }) => route.switchedBy !== undefined);
  for (const operation of createOperations(parts.schema).operations) {
    const stream = switched.find(({ route }) => isSamePlace(route, operation.route));
    const serve = serveOperation(operation, parts);
    add(operation.route.method, operation.route.path, stream ? serveEither(serve, stream) : serve);
  }
  for (const stream of parts.streams.routes)
    if (!switched.includes(stream)) add(stream.route.method, stream.route.path, stream.serve);
  return async (request, response) => {
    const method = (request.method === 'HEAD' ? 'GET' : request.method) as HTTPMethod;
    const found = router.find(method, request.path);
    if (found === null) return refuse(router, request, response);
    await (found.store as Serve)(request, response, found.params, queryOf(request));
  };
}

function serveOperation(operation: Operation, { compiled, makeContext, scopeOf }: Parts): Serve {
  return async (request, response, params, query) => {
    const scope = scopeOf(response);
    const variables = operation.reader.read({ params, query, body: bodyOf(request, operation.route) });
    applyIfMatch(request, operation, variables);
    response.setHeaders(deprecationHeaders(operation.deprecation(variables)));
    const { data, errors } = await compiled.run(await operation.document(), makeContext(scope), variables);
    if (scope.notes.isReplayed) response.setHeader('Idempotency-Replayed', 'true');
    if (errors?.[0]) throw errors[0];
    answer(response, operation, data, scope.notes, query);
  };
}

const isSamePlace = (one: Route, other: Route): boolean => one.method === other.method && one.path === other.path;

/** One path that answers at once or as a stream, as its caller says. */
function serveEither(serve: Serve, { route, serve: serveStream }: StreamRoute): Serve {
  const name = route.switchedBy ?? '';
  return (request, response, params, query) => {
    const given = query.getAll(name);
    if (given.length > 1 || !['true', 'false', undefined].includes(given[0]))
      throw new Invalid({ field: name, message: 'must be of type Boolean, once' });
    query.delete(name);
    return (given[0] === 'true' ? serveStream : serve)(request, response, params, query);
  };
}

function queryOf({ url }: Request): URLSearchParams {
  const mark = url.indexOf('?');
  return new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
}

/** A tag that we never gave matches no version, as RFC 9110 has it. */
const NO_VERSION = 2 ** 31 - 1;

/** The header and the argument `ifVersion` are one thing. */
function applyIfMatch(request: Request, { reader, route }: Operation, variables: Record<string, unknown>): void {
  const tag = request.headers['if-match'];
  if (tag === undefined || tag === '*' || route.method === 'GET') return;
  if (!/^(W\/)?"[\x21\x23-\x7e]*"$/.test(tag))
    throw new Invalid({ field: 'If-Match', message: 'must be the ETag of the resource, in quotes' });
  if (!reader.accepts('ifVersion')) throw new Invalid({ field: 'If-Match', message: 'has no meaning for this route' });
  variables.ifVersion = Number(/^"(\d{1,9})"$/.exec(tag)?.[1] ?? NO_VERSION);
}

function refuse(router: FindMyWay.Instance<FindMyWay.HTTPVersion.V1>, { path }: Request, response: Response): never {
  if (!isWellEncoded(path)) throw new DomainError('BAD_INPUT', 'The path is not well encoded');
  const allowed = METHODS.filter(method => router.find(method, path) !== null);
  if (allowed.length === 0) throw new NotFound('Route');
  response.setHeader('Allow', allowed.join(', '));
  throw new DomainError('METHOD_NOT_ALLOWED', `Here one may ${allowed.join(', ')}`);
}

function isWellEncoded(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
