import type { ErrorCode } from '../errors.ts';
import { headersFor } from './openapi-headers.ts';
import type { Books } from './openapi-operations.ts';
import { refer } from './openapi-schemas.ts';
import type { AnswerObject, JsonSchema, OperationObject } from './openapi-types.ts';

/** The one route that is no operation of the schema: its body is whatever the provider sends. */
export const HOOK_PATH = '/hooks/git/{environmentId}';

const CODES: readonly ErrorCode[] = [
  ...(['BAD_INPUT', 'UNAUTHENTICATED', 'SIGNATURE_INVALID', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const),
  ...(['RATE_LIMITED', 'INTERNAL', 'NOT_READY'] as const),
];

const DESCRIPTION = `Where Git providers tell of pushes. Needs no token but the secret of the environment's auto-deploy: GitHub, Gitea and
Bitbucket sign the body with it, GitLab sends it along, and anybody else signs by \`X-Slipway-Signature: sha256=<hex of HMAC-SHA256>\`.

The answer says what was decided, and why. A delivery that comes again is answered as it was the first time.`;

export function describeHook({ schemas, errors }: Books): OperationObject {
  schemas.add('HookAnswer', answerSchema);
  return {
    operationId: 'receiveHook',
    tags: ['Environments'],
    summary: 'Where Git providers tell of pushes',
    description: DESCRIPTION,
    security: [],
    parameters: [{ name: 'environmentId', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }],
    requestBody: { required: true, content: { 'application/json': { schema: pushSchema } } },
    responses: {
      200: answerOf(200, 'Nothing is deployed for it; `reason` says why.'),
      202: answerOf(202, 'A deployment is queued for it.'),
      ...errors.answersBy(CODES),
    },
  };
}

const answerOf = (status: number, description: string): AnswerObject => ({
  description,
  headers: headersFor({ status }),
  content: { 'application/json': { schema: refer('HookAnswer') } },
});

const pushSchema: JsonSchema = {
  type: 'object',
  description: "The provider's own form of a push; from a script of one's own these.",
  properties: {
    ref: { type: 'string', description: 'Such as refs/heads/main.' },
    after: { type: 'string', description: 'The hash of the newest commit.' },
    message: { type: 'string' },
    author: { type: 'string' },
    changedFiles: { type: 'array', items: { type: 'string' } },
  },
};

const answerSchema: JsonSchema = {
  type: 'object',
  required: ['id', 'deliveryId', 'decision', 'reason', 'deploymentId'],
  properties: {
    id: { type: 'string', format: 'uuid', description: 'Of the entry in hook-deliveries.' },
    deliveryId: { type: 'string', description: "The provider's own id of the delivery." },
    decision: refer('HookDecision'),
    reason: { type: 'string' },
    deploymentId: { type: ['string', 'null'], format: 'uuid' },
  },
  additionalProperties: false,
};
