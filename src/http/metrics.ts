import { timingSafeEqual } from 'node:crypto';
import type { Request, RequestHandler } from 'express';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { NotFound, Unauthenticated } from '../errors.ts';
import { hashToken } from '../security/token.ts';
import { callerOf } from './caller.ts';
import type { Log } from './log.ts';

interface MetricsConfig {
  metricsToken: string | undefined;
  trustProxy: string[];
}

/** Which door a request came by: few enough to be a label. */
const doorOf = (path: string): string =>
  path.startsWith('/api/v1')
    ? 'rest'
    : path.startsWith('/graphql/stream')
      ? 'stream'
      : path.startsWith('/graphql')
        ? 'graphql'
        : 'other';

export class Metrics {
  readonly registry = new Registry();
  readonly #requests = new Histogram({
    name: 'slipway_http_request_seconds',
    help: 'Time from the request to the end of its answer.',
    labelNames: ['door', 'method', 'status'] as const,
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [this.registry],
  });

  /** What is said of every request is named below and holds no secret: looking for some would cost more than the line. */
  readonly #log: Log;

  constructor(
    private readonly config: MetricsConfig,
    log: Log,
  ) {
    this.#log = log.child({}, { redact: [] });
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: 50 });
  }

  gauge(name: string, help: string, read: () => number | Promise<number>): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      async collect() {
        this.set(await read());
      },
    });
  }

  /** One line in the log and one observation for every request, when its answer has left. */
  readonly observe: RequestHandler = (request, response, next) => {
    const startedAt = performance.now();
    const { method, path } = request;
    response.once('close', () => {
      const milliseconds = performance.now() - startedAt;
      const status = response.statusCode;
      this.#requests.observe({ door: doorOf(path), method, status }, milliseconds / 1000);
      const { facts, viewer } = callerOf(response);
      this.#log.info(
        { requestId: facts.requestId, method, path, status, ms: Math.round(milliseconds), user: viewer?.userId },
        'request',
      );
    });
    next();
  };

  readonly serve: RequestHandler = async (request, response) => {
    this.#admit(request);
    response.type(this.registry.contentType).send(await this.registry.metrics());
  };

  /** By token, or from this machine; behind a proxy every address looks like this machine, so there only by token. */
  #admit(request: Request): void {
    const { metricsToken, trustProxy } = this.config;
    if (metricsToken !== undefined) {
      const shown = request.headers.authorization?.replace(/^Bearer /i, '') ?? '';
      if (!timingSafeEqual(Buffer.from(hashToken(shown)), Buffer.from(hashToken(metricsToken))))
        throw new Unauthenticated();
      return;
    }
    const isLocal = /^(127\.|::1$|::ffff:127\.)/.test(request.socket.remoteAddress ?? '');
    if (!isLocal || trustProxy.length > 0) throw new NotFound('Route');
  }
}
