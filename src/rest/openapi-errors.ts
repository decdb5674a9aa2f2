import { getNamedType } from 'graphql';
import { DomainError, type ErrorCode, errorStatus, Invalid } from '../errors.ts';
import type { Permission } from '../schema/authorize.ts';
import { meaningOf } from '../schema/error-meanings.ts';
import { type Problem, toProblem } from '../schema/problem.ts';
import { raisedBy } from '../schema/raises.ts';
import type { Facts } from './openapi-facts.ts';
import { headersFor } from './openapi-headers.ts';
import { refer } from './openapi-schemas.ts';
import type { AnswerObject, JsonSchema, Reference } from './openapi-types.ts';
import { BASE_PATH } from './rest.ts';

/** The error answers of operations: which can occur follows from the facts, and each set of codes is written down once. */
export class ErrorBook {
  readonly #answers = new Map<string, AnswerObject>();

  get answers(): Record<string, AnswerObject> {
    return Object.fromEntries([...this.#answers].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  answersFor(facts: Facts): Record<string, Reference> {
    return this.answersBy(codesOf(facts));
  }

  answersBy(codes: readonly ErrorCode[]): Record<string, Reference> {
    const byStatus = Map.groupBy(codes, code => errorStatus[code]);
    return Object.fromEntries([...byStatus].map(([status, codes]) => [status, this.#answer(status, codes)]));
  }

  #answer(status: number, codes: ErrorCode[]): Reference {
    const name = codes.map(pascal).join('Or');
    if (!this.#answers.has(name)) this.#answers.set(name, errorAnswer(status, codes));
    return refer(name, 'responses');
  }
}

/** Every code an operation can answer by, in the order of their table. */
export function codesOf(facts: Facts): ErrorCode[] {
  const { args, permission, isStream, resumes, takesIfMatch, takesKey, field } = facts;
  const rules: [boolean, ...ErrorCode[]][] = [
    // A name nobody knows, a token that is no good, and too much of everything can come to every door.
    [true, 'BAD_INPUT', 'UNAUTHENTICATED', 'RATE_LIMITED', 'INTERNAL', 'NOT_READY'],
    [canForbid(permission), 'FORBIDDEN'],
    [findsById(facts), 'NOT_FOUND'],
    [isStream && resumes, 'CURSOR_TOO_OLD'],
    [takesIfMatch, 'VERSION_MISMATCH'],
    [args.body.length > 0, 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'],
    [takesKey, 'IDEMPOTENCY_RUNNING', 'IDEMPOTENCY_KEY_REUSED'],
    [true, ...raisedBy(field)],
  ];
  const found = new Set(rules.flatMap(([holds, ...codes]) => (holds ? codes : [])));
  return (Object.keys(errorStatus) as ErrorCode[]).filter(code => found.has(code));
}

/** Whoever has a token at all may read, except that one bound to a project sees nothing else. */
function canForbid(permission: Permission): boolean {
  if (permission === 'open') return false;
  const { role, scope, sessionOnly, inProject } = permission;
  return sessionOnly || !inProject || role !== 'VIEWER' || scope !== 'read';
}

/** Ids in the path and in the body must exist; as filters of a list they need not. */
const findsById = ({ args }: Facts): boolean =>
  args.path.length > 0 || args.body.some(({ type }) => getNamedType(type).name === 'ID');

const pascal = (code: string): string =>
  code.toLowerCase().replace(/(^|_)(\w)/g, (_, __, letter: string) => letter.toUpperCase());

function errorAnswer(status: number, codes: ErrorCode[]): AnswerObject {
  const [only] = codes;
  const lines = codes.map(code => `- \`${code}\`: ${meaningOf(code)}`).join('\n');
  return {
    description: codes.length === 1 && only !== undefined ? `\`${only}\`: ${meaningOf(only)}` : lines,
    headers: headersFor({ status }),
    content: {
      'application/problem+json': {
        schema: { allOf: [refer('Problem'), narrowed(status, codes)] },
        examples: Object.fromEntries(codes.map(code => [code, { value: exampleOf(code) }])),
      },
    },
  };
}

const EXAMPLE_FAULT = { field: 'email', message: 'must be an e-mail address' };
const EXAMPLE_ID = '0199c2f4-5d3a-7c41-9d6e-2f8b1a7c5e30';

function exampleOf(code: ErrorCode): Problem {
  const error = code === 'BAD_INPUT' ? new Invalid(EXAMPLE_FAULT) : new DomainError(code, meaningOf(code));
  return toProblem(error, `${BASE_PATH}/…`, EXAMPLE_ID);
}

const narrowed = (status: number, codes: ErrorCode[]): JsonSchema => ({
  type: 'object',
  properties: { status: { const: status }, code: { enum: codes } },
});

const text = (description: string): JsonSchema => ({ type: 'string', description });

/** RFC 9457 with what `schema/problem.ts` adds. */
export const problemSchema: JsonSchema = {
  description: 'Why a request was refused, by RFC 9457.',
  type: 'object',
  properties: {
    type: { ...text('Names the code as a URI.'), format: 'uri' },
    title: text('The words of the status.'),
    status: { type: 'integer', description: 'The HTTP status.', minimum: 400, maximum: 599 },
    detail: text('What went wrong, for people.'),
    code: { ...refer('ErrorCode'), description: 'What went wrong, for programs.' },
    instance: text('The path that was asked for.'),
    requestId: text('Finds the request in the log of the service.'),
    fields: { type: 'array', description: 'What is wrong with which field.', items: refer('FieldFault') },
    retryAfterSeconds: { type: 'integer', description: 'As in the header Retry-After.', minimum: 0 },
    limit: { ...refer('Budget'), description: 'The budget that is used up.' },
    challenge: text('Give it to verify-otp with the mailed code.'),
    usedBy: { type: 'array', description: 'What still needs the resource.', items: { type: 'string' } },
  },
  required: ['type', 'title', 'status', 'detail', 'code', 'instance', 'requestId'],
};

export const fieldFaultSchema: JsonSchema = {
  description: 'A field at fault. What was sent in it is never repeated.',
  type: 'object',
  properties: { field: text('Its name; a path for nested ones.'), message: text('What it must be.') },
  required: ['field', 'message'],
};

export const budgetSchema: JsonSchema = {
  description: 'How many requests may be made in which time.',
  type: 'object',
  properties: {
    name: text('As in the headers RateLimit and RateLimit-Policy.'),
    max: { type: 'integer', minimum: 1 },
    windowSeconds: { type: 'integer', minimum: 0 },
  },
  required: ['name', 'max', 'windowSeconds'],
};

export const errorCodeSchema: JsonSchema = {
  type: 'string',
  enum: Object.keys(errorStatus),
  description: `What the \`code\` of a problem, or \`extensions.code\` of a GraphQL error, can be.\n\n${Object.entries(
    errorStatus,
  )
    .map(([code, status]) => `- \`${code}\` (${status}): ${meaningOf(code as ErrorCode)}`)
    .join('\n')}`,
};
