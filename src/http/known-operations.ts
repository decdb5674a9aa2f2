import type { Request, RequestHandler, Response } from 'express';
import type { GraphQLSchema } from 'graphql';
import type { CompiledOperations } from '../schema/compiled.ts';
import type { ContextFactory } from '../schema/context.ts';
import { deprecationHeaders } from '../schema/deprecation.ts';
import type { FrequentOperations } from '../schema/frequent-operations.ts';
import type { PersistedOperations, RegisteredOperation } from '../schema/persisted-operations.ts';
import { type ErrorPresenter, wholeFault } from '../schema/present-errors.ts';
import { checkOperation } from '../schema/rules/check-operation.ts';
import { writeText } from '../schema/write-text.ts';
import type { Scope } from '../services/scope.ts';
import { errorHeaders } from './errors.ts';

interface Parts {
  schema: GraphQLSchema;
  makeContext: ContextFactory;
  scopeOf: (response: Response) => Scope;
  errors: ErrorPresenter;
  compiled: CompiledOperations;
  persisted: PersistedOperations;
  frequent: FrequentOperations;
}

interface Wish {
  known: RegisteredOperation;
  variables: Record<string, unknown>;
  /** The type of the answer. */
  type: string;
}

/**
 * Operations that a front end registered, by their hash, and those that are asked for all the time, by their text, were parsed and
 * validated before: they are run as compiled code and answered here, as Apollo would answer them. All others are Apollo's.
 */
export function knownOperations(parts: Parts): RequestHandler {
  const { schema, makeContext, scopeOf, errors, compiled } = parts;
  return async (request, response, next) => {
    const wish = wishOf(request, parts);
    if (wish === undefined) return next();
    const { document, operation } = wish.known;
    const scope = scopeOf(response);
    checkOperation(schema, document, operation, wish.variables, scope);
    const { data, errors: faults } = await compiled.run(document, makeContext(scope), wish.variables);
    const told = faults?.map(fault => errors.present(fault, scope.request.requestId));
    const whole = wholeFault(told);
    const { isReplayed, warnings, deprecation } = scope.notes;
    response.setHeaders(deprecationHeaders(deprecation));
    if (isReplayed) response.setHeader('Idempotency-Replayed', 'true');
    if (whole) response.setHeaders(errorHeaders(whole));
    response.statusCode = whole?.status ?? (data === undefined ? 400 : 200);
    response.setHeader('Content-Type', wish.type);
    const extensions = warnings?.length ? { warnings } : undefined;
    writeText(response, `${JSON.stringify({ errors: told, data, extensions })}\n`);
  };
}

function wishOf({ method, body, headers }: Request, parts: Parts): Wish | undefined {
  const type = answerType(headers.accept);
  if (method !== 'POST' || type === undefined || !isObject(body)) return undefined;
  const { operationName } = body;
  const variables = body.variables ?? {};
  const known = findKnown(body, parts);
  const isNamed = operationName == null || operationName === known?.operation.name?.value;
  return known && isNamed && isObject(variables) ? { known, variables, type } : undefined;
}

function findKnown({ query, extensions }: Record<string, unknown>, { persisted, frequent }: Parts) {
  const asked = isObject(extensions) ? extensions.persistedQuery : undefined;
  if (asked === undefined) return frequent.find(query);
  return query == null && isObject(asked) && asked.version === 1 ? persisted.find(asked.sha256Hash) : undefined;
}

const JSON_TYPE = 'application/json; charset=utf-8';
const GRAPHQL_TYPE = 'application/graphql-response+json; charset=utf-8';

function answerType(accept: string | undefined): string | undefined {
  if (accept === undefined || accept === '*/*') return JSON_TYPE;
  if (accept.includes('application/graphql-response+json')) return GRAPHQL_TYPE;
  return accept.includes('application/json') ? JSON_TYPE : undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
