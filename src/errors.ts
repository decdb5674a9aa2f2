/** Every code a caller can meet, with the status it travels under. Published in the schema and in OpenAPI. */
export const errorStatus = {
  BAD_INPUT: 400,
  QUERY_INVALID: 400,
  QUERY_TOO_COMPLEX: 400,
  PERSISTED_QUERY_NOT_FOUND: 404,
  PERSISTED_QUERY_NOT_SUPPORTED: 400,
  OTP_INVALID: 400,
  RESET_TOKEN_INVALID: 400,
  INVITATION_INVALID: 400,
  TOKEN_REJECTED: 400,
  REPOSITORY_TOO_LARGE: 400,
  FINGERPRINT_REQUIRED: 400,
  CREDENTIAL_REJECTED: 400,
  UNAUTHENTICATED: 401,
  INVALID_CREDENTIALS: 401,
  SIGNATURE_INVALID: 401,
  OTP_REQUIRED: 401,
  FORBIDDEN: 403,
  EMAIL_NOT_VERIFIED: 403,
  REGISTRATION_CLOSED: 403,
  NOT_FOUND: 404,
  REPOSITORY_NOT_FOUND: 404,
  BRANCH_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  EMAIL_TAKEN: 409,
  LAST_OWNER: 409,
  RUN_FINISHED: 409,
  IN_USE: 409,
  NAME_TAKEN: 409,
  ANALYSIS_RUNNING: 409,
  NOT_ANALYZED: 409,
  ALREADY_FINALIZED: 409,
  DEPLOYMENT_RUNNING: 409,
  DEPLOYMENT_FINISHED: 409,
  NOT_DEPLOYED: 409,
  NO_SERVER: 409,
  RELEASE_GONE: 409,
  CONFIRMATION_NEEDED: 409,
  BEING_DELETED: 409,
  SERVER_UNTRUSTED: 409,
  UNSUPPORTED_OS: 409,
  PLAN_OUTDATED: 409,
  IDEMPOTENCY_RUNNING: 409,
  CURSOR_TOO_OLD: 410,
  VERSION_MISMATCH: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_KEY_REUSED: 422,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  UPSTREAM_FAILED: 502,
  SERVER_UNREACHABLE: 502,
  NOT_READY: 503,
} as const;

export type ErrorCode = keyof typeof errorStatus;

export interface FieldFault {
  field: string;
  message: string;
}

/** A budget that is used up. */
export interface Limit {
  name: string;
  max: number;
  windowSeconds: number;
}

export interface ErrorDetails {
  fields?: FieldFault[];
  retryAfterSeconds?: number;
  limit?: Limit;
  challenge?: string;
  usedBy?: string[];
}

/**
 * An outcome we foresaw. graphql-js copies `extensions` of whatever was thrown,
 * so code, status and details reach every transport without being translated on the way.
 */
export class DomainError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: ErrorDetails = {},
  ) {
    super(message);
    this.name = code;
  }

  get status(): number {
    return errorStatus[this.code];
  }

  get extensions(): Record<string, unknown> {
    return { code: this.code, status: this.status, ...this.details };
  }
}

export class NotFound extends DomainError {
  constructor(noun: string) {
    super('NOT_FOUND', `${noun} not found`);
  }
}

export class Invalid extends DomainError {
  constructor(...fields: FieldFault[]) {
    super('BAD_INPUT', fields.map(({ field, message }) => `${field}: ${message}`).join('; '), { fields });
  }
}

export class Forbidden extends DomainError {
  constructor(message: string) {
    super('FORBIDDEN', message);
  }
}

export class Unauthenticated extends DomainError {
  constructor() {
    super('UNAUTHENTICATED', 'A valid token is needed: send "Authorization: Bearer <token>"');
  }
}

/** A fault of the caller repeated in an answer: the name only, never what was sent under it. */
export const printableName = (name: string): string => name.replace(/[^\x20-\x7e]/g, '?').slice(0, 64);
