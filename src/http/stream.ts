import type { Request, RequestHandler, Response } from 'express';
import { createHandler, type Handler } from 'graphql-sse';
import { DomainError, Unauthenticated } from '../errors.ts';
import type { Subscription } from '../schema/broadcast.ts';
import { deprecationHeaders } from '../schema/deprecation.ts';
import type { Operations } from '../schema/operations.ts';
import { wholeFault } from '../schema/present-errors.ts';
import type { Streaming } from '../schema/streaming.ts';
import { graphqlWire } from '../schema/wires.ts';
import type { Scope } from '../services/scope.ts';
import { callerOf } from './caller.ts';
import type { SseConnections } from './sse.ts';

/** What a request comes to while graphql-sse looks at it. */
interface Visit {
  scope: Scope;
  opened?: { subscription: Subscription; stream: AsyncIterable<unknown> };
}

type ScopeOf = (response: Response) => Scope;

/**
 * `/graphql/stream` by the graphql-sse protocol, distinct connections mode. graphql-sse reads the request and answers
 * queries and mutations; subscriptions are handed to our own broadcaster, which writes the same wire format
 * with backpressure and executes once for all who ask alike.
 */
export function streamDoor(
  operations: Operations,
  streaming: Streaming,
  sse: SseConnections,
  scopeOf: ScopeOf,
): RequestHandler {
  const handle = protocol(operations);
  return async (request, response, next) => {
    if (request.path !== '/') return next();
    if (request.method !== 'POST') {
      response.setHeader('Allow', 'POST');
      throw new DomainError('METHOD_NOT_ALLOWED', 'Streams of GraphQL are opened by POST');
    }
    if (!request.is('application/json')) throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Send the operation as JSON');
    checkParams(request.body);
    const visit: Visit = { scope: scopeOf(response) };
    const [body, init] = await handle(toProtocolRequest(request, visit));
    const { opened } = visit;
    response.setHeaders(deprecationHeaders(visit.scope.notes.deprecation));
    if (opened) {
      if (callerOf(response).viewer === undefined) throw new Unauthenticated();
      await sse.open(response, reader => streaming.start(opened.stream, opened.subscription, graphqlWire, reader));
    } else {
      if (init.status >= 400) throw new DomainError('QUERY_INVALID', 'This is no operation that can be run here');
      if (visit.scope.notes.isReplayed) response.setHeader('Idempotency-Replayed', 'true');
      response.writeHead(init.status, init.headers ?? {});
      if (typeof body === 'object' && body !== null) for await (const part of body) response.write(part);
      response.end(typeof body === 'string' ? body : undefined);
    }
  };
}

function protocol(operations: Operations): Handler<Request, Visit> {
  return createHandler<Request, Visit>({
    schema: operations.schema,
    authenticate: () => null,
    onSubscribe: async ({ context }, { query, operationName, variables }) => {
      const operation = operations.prepare({ query, operationName, variables }, context.scope);
      if (!operations.isSubscription(operation)) return answer(operations, operation);
      context.opened = { subscription: operation, stream: await operations.open(operation) };
      return [null, { status: 200, statusText: 'OK' }];
    },
  });
}

async function answer(operations: Operations, operation: Subscription): Promise<object> {
  const result = await operations.execute(operation);
  const fault = wholeFault(result.errors);
  if (fault) throw fault;
  return result;
}

/** graphql-sse looks for the same, but answers in a form of its own. */
function checkParams(body: unknown): void {
  const { query, operationName, variables, extensions } = (body ?? {}) as Record<string, unknown>;
  const isObject = (part: unknown) => part == null || (typeof part === 'object' && !Array.isArray(part));
  const isGood =
    typeof query === 'string' &&
    (operationName == null || typeof operationName === 'string') &&
    isObject(variables) &&
    isObject(extensions);
  if (!isGood)
    throw new DomainError('QUERY_INVALID', 'Send { query, variables?, operationName? }, where query is a text');
}

/** The client always takes an event stream here; to be sure, we say so for it. */
const toProtocolRequest = (request: Request, context: Visit) => ({
  method: request.method,
  url: request.url,
  headers: {
    get: (name: string) => (name === 'accept' ? 'text/event-stream' : (request.headers[name] as string | undefined)),
  },
  body: () => request.body as Record<string, unknown>,
  raw: request,
  context,
});
