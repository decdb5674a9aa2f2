import { randomUUIDv7 } from 'node:crypto';
import { isIP, type Socket } from 'node:net';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';
import { Invalid, Unauthenticated } from '../errors.ts';
import type { RequestFacts, Viewer } from '../services/scope.ts';

/** What the front door knows of a request before anything is done for it. */
export interface Caller {
  facts: RequestFacts;
  viewer: Viewer | undefined;
  /** Set when a credential was shown that is no good; told after it was counted. */
  fault: Unauthenticated | undefined;
  ticketId: string | undefined;
}

const SANE_ID = /^[\w.:-]{1,128}$/;
const SANE_KEY = /^[\x21-\x7e]{1,255}$/;
const IPV6_PREFIX = 56;

export const callerOf = (response: Response): Caller => response.locals.caller as Caller;

/** First of all: a request id to speak of it by, and the address it came from. */
export const identify: RequestHandler = (request: Request, response: Response, next: NextFunction) => {
  const offered = request.headers['x-request-id'];
  const requestId = typeof offered === 'string' && SANE_ID.test(offered) ? offered : randomUUIDv7();
  const { ip, addressKey } = addressOf(request);
  response.setHeader('X-Request-Id', requestId);
  response.locals.caller = {
    facts: {
      requestId,
      ip,
      addressKey,
      userAgent: request.headers['user-agent'] ?? null,
      idempotencyKey: null,
      onLeave: tell => {
        response.once('close', tell);
        return () => void response.off('close', tell);
      },
    },
    viewer: undefined,
    fault: undefined,
    ticketId: undefined,
  } satisfies Caller;
  next();
};

type Address = Pick<RequestFacts, 'ip' | 'addressKey'>;

/** Many requests come by one connection, and without a proxy all of them from one address. */
const addresses = new WeakMap<Socket, Address & { offered: string | undefined }>();

/** A proxy we trust may still pass on what is no address at all: then it is the proxy's own that counts. */
function addressOf(request: Request): Address {
  const { headers, socket } = request;
  // Without that header nobody passes anything on, and Express need not look who may.
  const offered = headers['x-forwarded-for'] === undefined ? socket.remoteAddress : request.ip;
  const known = addresses.get(socket);
  if (known && known.offered === offered) return known;
  const [passedOn = '', actual = ''] = [offered, socket.remoteAddress].map(address => address?.split('%')[0]);
  const ip = isIP(passedOn) === 0 ? actual : passedOn;
  const address = { ip, addressKey: ipKeyGenerator(ip, IPV6_PREFIX), offered };
  addresses.set(socket, address);
  return address;
}

/** The key means something on POST alone: everything else may be repeated anyway. */
export const readIdempotencyKey: RequestHandler = (request, response, next) => {
  const key = request.headers['idempotency-key'];
  if (key === undefined || request.method !== 'POST') return next();
  if (typeof key !== 'string' || !SANE_KEY.test(key)) {
    return next(
      new Invalid({ field: 'Idempotency-Key', message: 'must be 1 to 255 printable characters without spaces' }),
    );
  }
  callerOf(response).facts.idempotencyKey = key;
  next();
};

export const refuseBadCredential: RequestHandler = (_, response, next) => next(callerOf(response).fault);
