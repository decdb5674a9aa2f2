import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type RequestHandler, type Response, Router } from 'express';
import type { GraphQLSchema } from 'graphql';
import { favicon, page, script, style } from './docs-page.ts';
import { describeRest } from './openapi.ts';

/** The files of Swagger UI that the page loads; the rest of the package stays where it is. */
const VENDOR_FILES = ['swagger-ui.css', 'swagger-ui-bundle.js'];

const OURS: Readonly<Record<string, [type: string, text: string]>> = {
  '/': ['text/html', page],
  '/page.js': ['text/javascript', script],
  '/page.css': ['text/css', style],
  '/favicon.svg': ['image/svg+xml', favicon],
};

/** A page may run its own scripts and talk to its own host. Swagger UI sets styles on its elements and draws from data URLs. */
const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** They change with a release of the service only, and a browser asks again after a day. */
const VENDOR_HEADERS = { 'Cache-Control': 'public, max-age=86400' };

/** `/api/docs`: Swagger UI from our own files, and the document it shows. What is not here is nobody's route. */
export function docsDoor(schema: GraphQLSchema): RequestHandler {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const router = Router();
  let document: string | undefined;
  for (const [path, [type, text]] of Object.entries(OURS)) {
    router.get(path, (_, response) => send(response, type, text));
  }
  router.get('/openapi.json', (_, response) => {
    document ??= JSON.stringify(describeRest(schema));
    send(response, 'application/json', document);
  });
  for (const name of VENDOR_FILES) {
    router.get(`/${name}`, (_, response, next) =>
      response.sendFile(
        join(folder, name),
        { cacheControl: false, headers: VENDOR_HEADERS },
        error => error && next(error),
      ),
    );
  }
  return router;
}

function send(response: Response, type: string, text: string): void {
  response.setHeader('Content-Security-Policy', CSP);
  response.setHeader('Cache-Control', 'no-cache');
  response.type(type).send(text);
}
