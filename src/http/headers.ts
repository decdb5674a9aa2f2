import cors from 'cors';
import type { RequestHandler } from 'express';

const EXPOSED = [
  'Link',
  'ETag',
  'Location',
  'Retry-After',
  'X-Request-Id',
  'RateLimit',
  'RateLimit-Policy',
  'X-Warnings',
  'Idempotency-Replayed',
  'Deprecation',
  'Sunset',
];
const SANDBOX = 'https://studio.apollographql.com';

/** Answers are data: nothing in them may be run, framed, guessed at or kept by a cache. Pages for people relax what they need. */
export function securityHeaders(publicUrl: string): RequestHandler {
  const headers = new Map([
    ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
    ['X-Content-Type-Options', 'nosniff'],
    ['X-Frame-Options', 'DENY'],
    ['Referrer-Policy', 'no-referrer'],
    ['Cross-Origin-Resource-Policy', 'same-origin'],
    ['Cache-Control', 'no-store'],
  ]);
  if (publicUrl.startsWith('https:')) headers.set('Strict-Transport-Security', 'max-age=31536000');
  return (_, response, next) => {
    response.setHeaders(headers);
    next();
  };
}

export function crossOrigin({
  corsOrigins,
  isProduction,
}: {
  corsOrigins: string[];
  isProduction: boolean;
}): RequestHandler {
  const origins = corsOrigins.length > 0 || isProduction ? corsOrigins : [SANDBOX];
  const handle = cors({
    origin: origins.includes('*') ? '*' : origins,
    exposedHeaders: EXPOSED,
    allowedHeaders: [
      'Authorization',
      'Content-Type',
      'Idempotency-Key',
      'If-Match',
      'Last-Event-ID',
      'X-Request-Id',
      'Apollo-Require-Preflight',
    ],
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    maxAge: 600,
  });
  return (request, response, next) => (request.headers.origin === undefined ? next() : handle(request, response, next));
}
