import { STATUS_CODES } from 'node:http';
import { type ErrorCode, errorStatus } from '../errors.ts';

/** What each code tells a caller, for both documents of the API. A test misses the ones that are not here. */
export const errorMeanings: Readonly<Record<string, string>> = {
  BAD_INPUT: 'Something that was sent is missing, malformed or unknown; `fields` names it.',
  QUERY_INVALID: 'The GraphQL document does not parse or does not fit the schema.',
  QUERY_TOO_COMPLEX: 'The GraphQL document asks for too much at once.',
  PERSISTED_QUERY_NOT_FOUND: 'No operation is known by this hash; send its text with it.',
  PERSISTED_QUERY_NOT_SUPPORTED: 'Operations cannot be sent by their hash here.',
  OTP_INVALID: 'The code is wrong, used or too old.',
  RESET_TOKEN_INVALID: 'The link was used or is too old.',
  INVITATION_INVALID: 'The invitation was used, withdrawn, is too old or is for another address.',
  TOKEN_REJECTED: 'The Git provider does not take this token.',
  UNAUTHENTICATED: 'There is no token, or it is no longer good.',
  INVALID_CREDENTIALS: 'E-mail address or password is wrong; which of the two is not told.',
  OTP_REQUIRED: 'Two-step sign-in is on: a code was mailed. Give it to verify-otp with the `challenge`.',
  FORBIDDEN: 'The role of the account or the scope of the token does not allow it.',
  EMAIL_NOT_VERIFIED:
    'The address has yet to be proved: a code was mailed. Give it to verify-otp with the `challenge`.',
  REGISTRATION_CLOSED: 'One joins this installation by invitation.',
  NOT_FOUND: 'There is no such thing in this workspace.',
  REPOSITORY_NOT_FOUND: 'There is no such repository, or the token may not see it.',
  METHOD_NOT_ALLOWED: 'The path exists, but not with this method; `Allow` names those it has.',
  CONFLICT: 'The state of things forbids it.',
  EMAIL_TAKEN: 'There is an account for this address already.',
  LAST_OWNER: 'A workspace keeps at least one owner.',
  RUN_FINISHED: 'The run has begun or is over.',
  IN_USE: 'Others still need it; `usedBy` names them.',
  NAME_TAKEN: 'Another one has this name already.',
  ANALYSIS_RUNNING: 'The repository is being analysed; wait for the end of it.',
  NOT_ANALYZED: 'There is no analysis to go by yet.',
  ALREADY_FINALIZED: 'The project was finalised before.',
  DEPLOYMENT_RUNNING: 'A deployment is running; wait for its end or cancel it.',
  BEING_DELETED: 'It is being deleted.',
  IDEMPOTENCY_RUNNING: 'The first request with this key is still running.',
  CURSOR_TOO_OLD: 'What lies behind the cursor is no longer kept; read the resources anew.',
  VERSION_MISMATCH: 'It was changed since it was read.',
  PAYLOAD_TOO_LARGE: 'The body is larger than 1 MB.',
  UNSUPPORTED_MEDIA_TYPE: 'The body is not JSON in UTF-8.',
  IDEMPOTENCY_KEY_REUSED: 'The key was used for another request.',
  RATE_LIMITED: 'Too many requests; `Retry-After` says how long to wait.',
  INTERNAL: 'A fault of the service; `requestId` finds it in its log.',
  UPSTREAM_FAILED: 'Another system that was asked failed.',
  NOT_READY: 'The service cannot work at the moment; try again.',
};

export const meaningOf = (code: ErrorCode): string => errorMeanings[code] ?? `${STATUS_CODES[errorStatus[code]]}.`;
