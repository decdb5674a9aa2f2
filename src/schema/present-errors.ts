import type { ValidationError } from 'class-validator';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { ArgumentValidationError } from 'type-graphql';
import { isDatabaseAway } from '../database/availability.ts';
import { DomainError, type ErrorCode, type FieldFault, Invalid, printableName } from '../errors.ts';

interface Log {
  error(context: object, message: string): void;
}

/**
 * The one door errors leave by, whichever transport asked. What we foresaw passes; what the caller wrote wrongly is
 * told without repeating it; the rest is a line in the log and a request id.
 */
export class ErrorPresenter {
  constructor(private readonly log: Log) {}

  /** What a thrown thing means to a caller. */
  toDomainError(thrown: unknown, requestId: string): DomainError {
    const error = originOf(thrown);
    if (error instanceof DomainError) return error;
    if (error instanceof ArgumentValidationError) return new Invalid(...faultsOf(error.extensions.validationErrors));
    if (error instanceof GraphQLError && !isOurs(error)) return faultOfCaller(error);
    if (isDatabaseAway(error)) {
      this.log.error({ requestId, err: error }, 'The database is away');
      return new DomainError('NOT_READY', 'The database is away for the moment; try again', { retryAfterSeconds: 2 });
    }
    this.log.error({ requestId, err: error }, 'Unexpected error');
    return new DomainError('INTERNAL', 'Something went wrong on our side; the request id finds it in the log');
  }

  /** As GraphQL answers carry it. */
  present(error: GraphQLError | Error, requestId: string): GraphQLFormattedError {
    const domainError = this.toDomainError(error, requestId);
    const { locations, path } = error instanceof GraphQLError ? error : {};
    const place = { ...(locations ? { locations } : {}), ...(path ? { path } : {}) };
    return { message: domainError.message, ...place, extensions: { ...domainError.extensions, requestId } };
  }
}

/** What concerns a request as a whole: a GraphQL answer takes its status, where others ride on a 200. */
export function wholeFault(errors: readonly GraphQLFormattedError[] | undefined): DomainError | undefined {
  const error = errors?.find(({ extensions }) => WHOLE_CODES.has(extensions?.code));
  if (error?.extensions === undefined) return undefined;
  const { code, status: _, requestId: __, ...details } = error.extensions;
  return new DomainError(code as ErrorCode, error.message, details);
}

const WHOLE_CODES = new Set<unknown>(['RATE_LIMITED', 'NOT_READY']);

/** What was thrown first. GraphQL's own errors say most on the outside: there they name the variable at fault. */
function originOf(thrown: unknown): unknown {
  let origin = thrown;
  for (let next = thrown; next instanceof Error; next = (next as { originalError?: unknown }).originalError)
    origin = next;
  const isGraphqls = origin instanceof GraphQLError && !(origin instanceof ArgumentValidationError);
  return isGraphqls ? thrown : origin;
}

/**
 * What went wrong while a field was being answered has a path: a null where there is none, a value a scalar cannot show.
 * Only arguments are the caller's even then.
 */
const isOurs = ({ path, message }: GraphQLError): boolean => path !== undefined && !message.startsWith('Argument "');

/** Codes of Apollo's own that its clients look for. */
const KEPT_CODES = new Set(['PERSISTED_QUERY_NOT_FOUND', 'PERSISTED_QUERY_NOT_SUPPORTED']);

/** graphql-js puts literals and variables into its messages; submitted values are never repeated, so we say it ourselves. */
function faultOfCaller(error: GraphQLError): DomainError {
  // Errors of compiled operations carry no extensions at all.
  const { code } = error.extensions ?? {};
  if (typeof code === 'string' && KEPT_CODES.has(code))
    return new DomainError(code as 'PERSISTED_QUERY_NOT_FOUND', error.message);
  const variable = /^Variable "\$(\w+)"/.exec(error.message)?.[1];
  if (variable !== undefined) return new Invalid(variableFault(variable, error.message));
  if (
    /cannot represent|, found |got invalid value|Syntax Error|does not exist in ".*" enum|too many tokens/i.test(
      error.message,
    )
  ) {
    return new DomainError('QUERY_INVALID', withoutValues(error.message));
  }
  return new DomainError('QUERY_INVALID', withShortNames(error.message));
}

function variableFault(variable: string, message: string): FieldFault {
  const path = / at "(?:\w+)((?:\.\w+|\[\d+\])*)"/.exec(message)?.[1] ?? '';
  const unknown = /Field "([^"]{1,64})" is not defined/.exec(message)?.[1];
  const field = printableName(`${variable}${path}${unknown ? `.${unknown}` : ''}`);
  if (unknown !== undefined) return { field, message: 'is not a known field' };
  const expected = /(?:of (?:required )?type|Expected (?:non-nullable )?type) "?([\w![\]]+)"?/.exec(message)?.[1];
  const missing = /was not provided|must not be null|not to be null/.test(message);
  if (missing) return { field, message: 'is required' };
  const choices = /"(\w+)" enum|Enum "(\w+)"/.exec(message)?.slice(1).find(Boolean);
  if (choices !== undefined) return { field, message: `must be one of the values of ${choices}` };
  const scalar = /(\w+) cannot represent/.exec(message)?.[1];
  return { field, message: `must be of type ${expected ?? scalar ?? 'another'}` };
}

const withoutValues = (message: string): string =>
  message.startsWith('Syntax Error')
    ? message.replace(/(Name|String|BlockString|Int|Float) ".*"/s, '$1').slice(0, 200)
    : 'A value in the query has the wrong type for its place; see the location';

/** Names of the caller's are repeated so far that they can be recognised. */
const withShortNames = (message: string): string =>
  message.replace(/"([^"]*)"/g, (_, name: string) => `"${printableName(name)}"`).slice(0, 500);

/** What a number or a text must be like says nothing to somebody who sent neither. */
const NOT_NULL = 'must not be null; leave it out instead';

function faultsOf(errors: readonly ValidationError[], prefix = ''): FieldFault[] {
  return errors.flatMap(({ property, value, constraints, children }) => {
    const field = printableName(`${prefix}${property}`);
    const texts = value === null && constraints ? [NOT_NULL] : Object.values(constraints ?? {});
    const own = texts.map(text => ({ field, message: text.replace(`${property} `, '') }));
    return [...own, ...faultsOf(children ?? [], `${field}.`)];
  });
}
