import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import express, { type Express, type RequestHandler } from 'express';
import type { Config } from '../config.ts';
import type { ErrorPresenter } from '../schema/present-errors.ts';
import type { Counters } from '../security/limits.ts';
import type { CredentialService } from '../services/credential.service.ts';
import { authenticate } from './authenticate.ts';
import { identify, readIdempotencyKey, refuseBadCredential } from './caller.ts';
import { answerErrors, unknownRoute } from './errors.ts';
import { crossOrigin, securityHeaders } from './headers.ts';
import { healthz, type Readiness, readyz } from './health.ts';
import { limits } from './limits.ts';
import type { Metrics } from './metrics.ts';
import { answerBrokenRequest, toOriginForm } from './protocol.ts';

export const BODY_LIMIT = '1mb';

/** A request that trickles in is given up: connections that cost their owner nothing would cost us memory. Answers have all the time. */
const PATIENCE = {
  keepAliveTimeout: 10_000,
  headersTimeout: 20_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5000,
};

interface Parts {
  config: Config;
  errors: ErrorPresenter;
  metrics: Metrics;
  readiness: Readiness;
  credentials: CredentialService;
  counters: Counters;
  graphql: RequestHandler;
  stream: RequestHandler;
  rest: RequestHandler;
  /** Where Git providers tell of pushes, below which path. */
  hooks: { path: string; handle: RequestHandler };
  docs: RequestHandler | undefined;
}

/** The order of everything a request passes, on one screen. */
export function createHttpServer(parts: Parts): Server {
  const { config, metrics } = parts;
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.set('query parser', 'simple');
  app.set('trust proxy', config.trustProxy.length > 0 ? config.trustProxy : false);

  app.use(identify, securityHeaders(config.publicUrl), metrics.observe, crossOrigin(config));
  app.get('/healthz', healthz);
  app.get('/readyz', readyz(parts.readiness));
  app.get('/metrics', metrics.serve);
  if (parts.docs) app.use('/api/docs', parts.docs);
  app.use(authenticate(parts.credentials), ...limits(parts.counters, config), refuseBadCredential, readIdempotencyKey);
  app.use(parts.hooks.path, express.raw({ limit: BODY_LIMIT, type: () => true }), parts.hooks.handle);
  app.use(express.json({ limit: BODY_LIMIT, strict: false }));
  app.use('/graphql/stream', parts.stream);
  app.use('/graphql', parts.graphql);
  app.use('/api/v1', parts.rest);
  app.use(unknownRoute, answerErrors(parts.errors));
  const server = createServer({ ...PATIENCE, ...expressClasses(app) }, (request, response) => {
    toOriginForm(request);
    app(request, response);
  });
  return server.on('clientError', answerBrokenRequest);
}

/**
 * Express exchanges the prototypes of each request and response for its own, and an object whose prototype changes is slow for
 * the rest of its life: a tenth of what a request costs. Made with the right ones, nothing is left to exchange.
 */
function expressClasses(app: Express) {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse extends ServerResponse<ExpressRequest> {}
  app.request = Object.setPrototypeOf(ExpressRequest.prototype, app.request);
  app.response = Object.setPrototypeOf(ExpressResponse.prototype, app.response);
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}
