import type { ErrorRequestHandler, RequestHandler } from 'express';
import { DomainError, NotFound } from '../errors.ts';
import type { ErrorPresenter } from '../schema/present-errors.ts';
import { PROBLEM_TYPE, toProblem } from '../schema/problem.ts';
import { callerOf } from './caller.ts';

/** Every answer that is not a success and did not come out of an operation leaves here, in the form of its door. */
export const answerErrors =
  (errors: ErrorPresenter): ErrorRequestHandler =>
  (thrown, request, response, _next) => {
    const { requestId } = callerOf(response).facts;
    const error = errors.toDomainError(bodyFault(thrown) ?? thrown, requestId);
    // An answer that broke off half-way is not to be taken for a whole one.
    if (response.headersSent) return void response.destroy();
    response.setHeaders(errorHeaders(error));
    response.status(error.status);
    if (/^\/graphql(\/|$)/.test(request.path)) {
      response.json({ errors: [{ message: error.message, extensions: { ...error.extensions, requestId } }] });
    } else {
      response.type(PROBLEM_TYPE).send(JSON.stringify(toProblem(error, request.path, requestId)));
    }
  };

export const unknownRoute: RequestHandler = (_request, _response, next) => next(new NotFound('Route'));

export function errorHeaders({ status, details: { retryAfterSeconds, limit } }: DomainError): Map<string, string> {
  const headers = new Map<string, string>();
  if (status === 401) headers.set('WWW-Authenticate', 'Bearer');
  if (retryAfterSeconds !== undefined) headers.set('Retry-After', String(retryAfterSeconds));
  if (limit !== undefined) {
    headers.set('RateLimit', `"${limit.name}"; r=0; t=${retryAfterSeconds}`);
    headers.set('RateLimit-Policy', `"${limit.name}"; q=${limit.max}; w=${limit.windowSeconds}`);
  }
  return headers;
}

/** What Express's body parser throws, in our words; its own repeat the body. */
function bodyFault(thrown: unknown): DomainError | undefined {
  const { type, status, expose } = thrown as { type?: unknown; status?: unknown; expose?: unknown };
  if (type === 'entity.too.large') return new DomainError('PAYLOAD_TOO_LARGE', 'The body is larger than 1 MB');
  if (type === 'entity.parse.failed') return new DomainError('BAD_INPUT', 'The body is not JSON');
  if (type === 'charset.unsupported' || type === 'encoding.unsupported') {
    return new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as UTF-8 JSON');
  }
  if (expose === true && status === 400) return new DomainError('BAD_INPUT', 'The body did not arrive whole');
  if (thrown instanceof URIError) return new DomainError('BAD_INPUT', 'The path is not well encoded');
  return undefined;
}
