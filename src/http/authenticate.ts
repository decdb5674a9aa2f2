import type { Request, RequestHandler } from 'express';
import { Unauthenticated } from '../errors.ts';
import type { CredentialService } from '../services/credential.service.ts';
import type { Viewer } from '../services/scope.ts';
import { type Caller, callerOf } from './caller.ts';

const BEARER = /^Bearer ([\w.~+/-]+=*)$/i;

/** Finds out who asks. A bad credential is remembered and refused only after it was counted, so that guessing is limited. */
export const authenticate =
  (credentials: CredentialService): RequestHandler =>
  (request, response, next) => {
    const caller = callerOf(response);
    identifyViewer(credentials, request, caller).then(viewer => {
      caller.viewer = viewer;
      next();
    }, next);
  };

async function identifyViewer(
  credentials: CredentialService,
  request: Request,
  caller: Caller,
): Promise<Viewer | undefined> {
  const { authorization } = request.headers;
  if (authorization !== undefined) {
    const token = BEARER.exec(authorization)?.[1];
    const viewer = token === undefined ? undefined : await credentials.viewerOf(token);
    if (viewer === undefined) caller.fault = new Unauthenticated();
    return viewer;
  }
  const { ticket } = request.query;
  return ticket === undefined || request.method !== 'GET' ? undefined : byTicket(credentials, request, caller, ticket);
}

/** A ticket stands for its session on the one path it was made for, and only among the streams of REST. */
async function byTicket(
  credentials: CredentialService,
  request: Request,
  caller: Caller,
  ticket: unknown,
): Promise<Viewer | undefined> {
  const holder = typeof ticket === 'string' ? await credentials.ticketHolder(ticket) : undefined;
  if (holder === undefined || holder.path !== request.path || !request.path.startsWith('/api/v1/')) {
    caller.fault = new Unauthenticated();
    return undefined;
  }
  caller.ticketId = holder.ticketId;
  return holder.viewer;
}
