import type { Facts } from './openapi-facts.ts';
import { refer } from './openapi-schemas.ts';
import type { HeaderObject, ParameterObject, Reference } from './openapi-types.ts';

/** Headers of answers. */
export const headers: Readonly<Record<string, HeaderObject>> = {
  'X-Request-Id': {
    description: "The id of the request: the caller's own, if a sane one was sent. It is on every log line.",
    required: true,
    schema: { type: 'string', maxLength: 128 },
  },
  RateLimit: {
    description: 'What is left of the budget: `"general";r=299;t=60`. Absent where limits are off.',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': {
    description: 'The budget: `"general";q=300;w=60`. Absent where limits are off.',
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Seconds to wait before the next try.',
    required: true,
    schema: { type: 'integer', minimum: 0 },
  },
  'WWW-Authenticate': { description: 'How to prove who one is.', required: true, schema: { type: 'string' } },
  ETag: {
    description: 'The version of the resource, for If-Match.',
    required: true,
    schema: { type: 'string', pattern: '^"\\d+"$' },
  },
  Link: {
    description: 'While there is more, the address of the next page: `</api/v1/…?after=…>; rel="next"`.',
    schema: { type: 'string' },
  },
  Location: { description: 'What to read or watch next.', required: true, schema: { type: 'string' } },
  'X-Warnings': {
    description: 'What failed while the rest succeeded; absent when nothing did.',
    schema: { type: 'string' },
  },
  'Idempotency-Replayed': {
    description: '`true` when a kept answer was given again.',
    schema: { type: 'string', enum: ['true'] },
  },
  Deprecation: {
    description: 'Something that was asked for is deprecated since then: `@` and seconds since 1970 (RFC 9745).',
    schema: { type: 'string', pattern: '^@\\d+$' },
  },
  Sunset: { description: 'The day on which it will be gone (RFC 8594).', schema: { type: 'string' } },
};

/** Headers of requests. */
export const requestHeaders: Readonly<Record<string, ParameterObject>> = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Makes a repeated request take effect once: its first answer is kept for 24 hours and given again.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description: 'The ETag of the resource as it was read: refused with 412 if it was changed since.',
    schema: { type: 'string', examples: ['"1"'] },
  },
  LastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'The `id:` of the last message seen. Browsers send it by themselves; it outweighs `after`.',
    schema: { type: 'string', maxLength: 64 },
  },
};

/** By status for refusals, by facts for the rest. */
export function headersFor(answer: { status: number } | Facts): Record<string, Reference> {
  const names = ['X-Request-Id', 'RateLimit', 'RateLimit-Policy'];
  if ('status' in answer) names.push(...(HEADERS_OF_REFUSALS[answer.status] ?? []));
  else names.push(...headersOf(answer));
  return Object.fromEntries(names.map(name => [name, refer(name, 'headers')]));
}

const HEADERS_OF_REFUSALS: Readonly<Record<number, string[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

function headersOf({ isVersioned, isList, isStream, takesKey, route, hasDeprecated }: Facts): string[] {
  const rules: [boolean, string][] = [
    [isVersioned, 'ETag'],
    [isList && !isStream, 'Link'],
    [route.location !== undefined, 'Location'],
    [route.warns === true, 'X-Warnings'],
    [takesKey, 'Idempotency-Replayed'],
    [hasDeprecated, 'Deprecation'],
    [hasDeprecated, 'Sunset'],
  ];
  return rules.flatMap(([holds, name]) => (holds ? [name] : []));
}
