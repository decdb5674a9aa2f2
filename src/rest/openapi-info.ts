import type { OpenApiDocument } from './openapi-types.ts';

const description = `
**Three doors.** The same model is behind this REST API, [GraphQL](/graphql) and streams of server-sent events, with the same
names, rules, errors and limits.

**Signing in.** \`POST /auth/register\`, then \`POST /auth/verify-otp\` with the mailed code, answers an \`accessToken\`; later
\`POST /auth/login\` does. Send it as \`Authorization: Bearer <token>\`; on this page, press *Authorize* and paste it. Scripts
use an API token from \`POST /auth/tokens\`.

**Bodies** are flat JSON objects of at most 1 MB. A field nobody knows is refused by its name. An explicit \`null\` clears a
nullable field; a field that is left out is left alone.

**Lists** are plain arrays, newest first. \`limit\` is 50, at most 100; \`after\` is the id of the last item seen. While there is
more, the header \`Link\` has the address of the next page.

**Errors** are \`application/problem+json\` by RFC 9457 with a \`code\` to act on, and \`fields\` where the input was bad.
Unknown paths answer 404 and unknown methods 405 in the same form.

**Repeating.** A POST outside \`/auth\` with an \`Idempotency-Key\` takes effect once; its answer is kept for 24 hours.

**Changing together.** A resource's \`ETag\` goes back as \`If-Match\`: a change on top of somebody else's is refused with 412.

**Limits.** 300 requests a minute for an account, fewer for signing in; \`RateLimit\` and \`Retry-After\` tell where one stands.
`.trim();

/** The version is that of the path: within it changes are additive only. */
export const info: OpenApiDocument['info'] = {
  title: 'Slipway API',
  version: '1.0',
  summary: 'Deploy what is in your Git account to your own servers.',
  description,
  contact: { name: 'Whoever runs this installation' },
  license: { name: 'MIT', identifier: 'MIT' },
};

export const securitySchemes: Record<string, object> = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'The `accessToken` of a sign-in, or an API token (`slp_…`).',
  },
  ticket: {
    type: 'apiKey',
    in: 'query',
    name: 'ticket',
    description: 'From `POST /auth/stream-ticket`: opens the one stream it was made for, where no header can be sent.',
  },
};
