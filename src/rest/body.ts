import type { Request } from 'express';
import { DomainError } from '../errors.ts';
import type { Route } from './routes.ts';

/** A flat JSON object, or nothing at all. */
export function bodyOf(request: Request, { method }: Pick<Route, 'method'>): Record<string, unknown> {
  const isEmpty =
    request.headers['content-length'] === '0' ||
    !('transfer-encoding' in request.headers || 'content-length' in request.headers);
  if (isEmpty) return {};
  if (method === 'GET' || method === 'DELETE') throw new DomainError('BAD_INPUT', `${method} takes no body`);
  if (!request.is('application/json'))
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json');
  const body: unknown = request.body;
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
  throw new DomainError('BAD_INPUT', 'The body must be a JSON object');
}
