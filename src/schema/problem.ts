import { STATUS_CODES } from 'node:http';
import type { DomainError } from '../errors.ts';

/** RFC 9457, with our code, the fields at fault and the request id. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  instance: string;
  requestId: string;
  [detail: string]: unknown;
}

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

export function toProblem(error: DomainError, instance: string, requestId: string): Problem {
  const { code, status, message, details } = error;
  return {
    type: `urn:slipway:error:${code.toLowerCase().replaceAll('_', '-')}`,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: message,
    code,
    instance,
    requestId,
    ...details,
  };
}
