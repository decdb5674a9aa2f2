import { buildOperationNodeForField } from '@graphql-tools/utils';
import type { Request, Response } from 'express';
import {
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  print,
} from 'graphql';
import { Invalid } from '../errors.ts';
import type { Reader } from '../schema/audience.ts';
import { deprecationHeaders, deprecationOfCalls } from '../schema/deprecation.ts';
import type { Operations } from '../schema/operations.ts';
import type { Streaming } from '../schema/streaming.ts';
import { plainWire } from '../schema/wires.ts';
import type { Scope } from '../services/scope.ts';
import { bodyOf } from './body.ts';
import { fieldOf, readerFor } from './rest.ts';
import { streamView } from './rest-view.ts';
import { type Route, routeEntries } from './routes.ts';

interface Parts {
  schema: GraphQLSchema;
  operations: Operations;
  streaming: Streaming;
  scopeOf: (response: Response) => Scope;
  openReader: (response: Response, start: (reader: Reader) => () => void) => Promise<void>;
}

export interface StreamRoute {
  route: Route;
  serve(
    request: Request,
    response: Response,
    params: Record<string, string | undefined>,
    query: URLSearchParams,
  ): Promise<void>;
}

export interface StreamDoor {
  routes: StreamRoute[];
}

/** Subscriptions as plain streams: the rows of the table that begin with `Subscription.`, made like SOFA makes the others. */
export function streamDoor(parts: Parts): StreamDoor {
  const view = once(() => streamView(parts.schema));
  const rows = routeEntries.filter(([name]) => name.startsWith('Subscription.'));
  return { routes: rows.map(([name, route]) => ({ route, serve: serveStream(name, route, view, parts) })) };
}

function serveStream(name: string, route: Route, view: () => GraphQLSchema, parts: Parts): StreamRoute['serve'] {
  const field = fieldOf(parts.schema, name);
  const reader = readerFor(field, route);
  const deprecation = deprecationOfCalls(field);
  const subscriptionOf = once(() => documentFor(view(), field.name));
  return async (request, response, params, query) => {
    query.delete('ticket');
    const body = route.method === 'GET' ? undefined : bodyOf(request, route);
    const variables = reader.read({ params, query, body });
    if (reader.accepts('after')) resume(request, variables);
    response.setHeaders(deprecationHeaders(deprecation(variables)));
    const subscription = { ...subscriptionOf(), variables, scope: parts.scopeOf(response) };
    const stream = await parts.operations.open(subscription);
    await parts.openReader(response, opened => parts.streaming.start(stream, subscription, plainWire, opened));
  };
}

/** Made when somebody first wants it: a start has no time for what nobody asked for yet. */
function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** A browser that reconnects says where it was; that is newer than what the address says. */
function resume(request: Request, variables: Record<string, unknown>): void {
  const lastEventId = request.headers['last-event-id'];
  if (lastEventId === undefined) return;
  if (typeof lastEventId !== 'string' || lastEventId.length > 64)
    throw new Invalid({ field: 'Last-Event-ID', message: 'is no cursor' });
  variables.after = lastEventId;
}

function documentFor(
  schema: GraphQLSchema,
  field: string,
): { document: DocumentNode; operation: OperationDefinitionNode } {
  const operation = buildOperationNodeForField({
    kind: OperationTypeNode.SUBSCRIPTION,
    schema,
    field,
    circularReferenceDepth: 1,
  });
  if (operation.selectionSet.selections.length !== 1) throw new Error(`${print(operation)} is no subscription`);
  return { document: { kind: Kind.DOCUMENT, definitions: [operation] }, operation };
}
