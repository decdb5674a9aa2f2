import type { Request, RequestHandler, Response } from 'express';
import type { GraphQLSchema } from 'graphql';
import type { CompiledOperations } from '../schema/compiled.ts';
import type { ContextFactory } from '../schema/context.ts';
import type { PersistedOperations, RegisteredOperation } from '../schema/persisted-operations.ts';
import { type ErrorPresenter, wholeFault } from '../schema/present-errors.ts';
import { checkOperation } from '../schema/rules/check-operation.ts';
import type { Scope } from '../services/scope.ts';
import { errorHeaders } from './errors.ts';
import { writeText } from './write-text.ts';

interface Parts {
  schema: GraphQLSchema;
  makeContext: ContextFactory;
  scopeOf: (response: Response) => Scope;
  errors: ErrorPresenter;
  compiled: CompiledOperations;
  persisted: PersistedOperations;
}

interface Wish {
  registered: RegisteredOperation;
  variables: Record<string, unknown>;
  /** The type of the answer. */
  type: string;
}

/**
 * Operations that a front end registered were parsed and validated at the start: asked for by their hash, they are run as compiled
 * code and answered here, as Apollo would answer them. Whatever is asked in another way is Apollo's.
 */
export function registeredOperations(parts: Parts): RequestHandler {
  const { schema, makeContext, scopeOf, errors, compiled, persisted } = parts;
  return async (request, response, next) => {
    const wish = wishOf(request, persisted);
    if (wish === undefined) return next();
    const { document, operation } = wish.registered;
    const scope = scopeOf(response);
    checkOperation(schema, document, operation, wish.variables, scope);
    const { data, errors: faults } = await compiled.run(document, makeContext(scope), wish.variables);
    const told = faults?.map(fault => errors.present(fault, scope.request.requestId));
    const whole = wholeFault(told);
    const { isReplayed, warnings } = scope.notes;
    if (isReplayed) response.setHeader('Idempotency-Replayed', 'true');
    if (whole) response.setHeaders(errorHeaders(whole));
    response.statusCode = whole?.status ?? (data === undefined ? 400 : 200);
    response.setHeader('Content-Type', wish.type);
    const extensions = warnings?.length ? { warnings } : undefined;
    writeText(response, `${JSON.stringify({ errors: told, data, extensions })}\n`);
  };
}

function wishOf({ method, body, headers }: Request, persisted: PersistedOperations): Wish | undefined {
  const type = answerType(headers.accept);
  if (method !== 'POST' || type === undefined || !isObject(body) || body.query != null) return undefined;
  const { operationName, variables, extensions } = body;
  const asked = isObject(extensions) ? extensions.persistedQuery : undefined;
  if (!isObject(asked) || asked.version !== 1 || !(variables == null || isObject(variables))) return undefined;
  const registered = persisted.find(asked.sha256Hash);
  const isNamed = operationName == null || operationName === registered?.operation.name?.value;
  return registered && isNamed ? { registered, variables: variables ?? {}, type } : undefined;
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
