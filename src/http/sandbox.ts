import { createHash } from 'node:crypto';
import type { ApolloServerPlugin } from '@apollo/server';

const CDN = 'https://embeddable-sandbox.cdn.apollographql.com';
const FRAME = 'https://sandbox.embed.apollographql.com';

/** Runs in the browser. What is on the page stays there until Apollo's script has really arrived. */
const script = `
const tag = document.createElement('script');
tag.src = '${CDN}/v2/embeddable-sandbox.umd.production.min.js';
tag.onload = () => {
  document.body.className = 'has-sandbox';
  const initialEndpoint = location.origin + location.pathname;
  new EmbeddedSandbox({ target: '#sandbox', initialEndpoint, endpointIsEditable: false, runTelemetry: false, allowDynamicStyles: false });
};
tag.onerror = () => { document.body.className = 'has-no-sandbox'; };
document.head.append(tag);
`;

const style = `
:root { --sea: #0b3954; --line: #d9e2e8; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; color: #22313b; background: #f4f7f9; }
header { display: flex; justify-content: space-between; padding: 11px 24px; background: var(--sea); color: #fff; }
header b { font-weight: 600; } header span { opacity: .75; margin-left: 8px; }
header a { color: #fff; margin-left: 20px; font-size: 14px; text-decoration: none; opacity: .85; }
header a:hover { opacity: 1; text-decoration: underline; }
main { max-width: 52rem; margin: 32px auto; padding: 0 24px; }
h1 { color: var(--sea); font-size: 28px; margin: 0 0 12px; } h2 { font-size: 17px; margin: 28px 0 6px; }
pre { overflow: auto; padding: 14px 16px; border-radius: 6px; background: #10222d; color: #e6f1f6; font-size: 13px; line-height: 1.5; }
.note { padding: 12px 16px; border: 1px solid var(--line); border-left: 4px solid #8ecae6; border-radius: 6px; background: #fff; }
.failed, .has-no-sandbox .loading, .has-sandbox main { display: none; }
.has-no-sandbox .failed { display: block; border-left-color: #ffb703; }
#sandbox { display: none; } .has-sandbox #sandbox { display: block; height: calc(100vh - 48px); }
iframe { display: block; width: 100%; height: 100%; border: 0; }
`;

const page = (endpoint: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Slipway GraphQL</title>
<link rel="icon" type="image/svg+xml" href="/api/docs/favicon.svg">
<style>${style}</style>
</head>
<body>
<header><div><b>Slipway</b><span>GraphQL</span></div><nav><a href="/api/docs">REST API</a></nav></header>
<div id="sandbox"></div>
<main>
<h1>The GraphQL door</h1>
<p class="note loading">The Apollo Sandbox, for trying queries in this page, is on its way from Apollo's servers.</p>
<p class="note failed" role="status">The Apollo Sandbox comes from Apollo's servers, and this browser cannot reach them. Nothing
else is missing: the API is here and works as shown below, and the <a href="/api/docs">page of the REST API</a> needs nobody else's server.</p>
<p>Send operations by POST to <code>${endpoint}</code>. Sign in for a token:</p>
<pre>curl -s ${endpoint} -H 'content-type: application/json' -d '{
  "query": "mutation($e: String!, $p: String!) { login(email: $e, password: $p) { accessToken } }",
  "variables": {"e": "you@example.org", "p": "your password"}
}'</pre>
<h2>Ask</h2>
<pre>curl -s ${endpoint} \\
  -H 'content-type: application/json' -H "authorization: Bearer $TOKEN" \\
  -d '{"query": "{ me { email role } runs(limit: 5) { id kind status } }"}'</pre>
<h2>Listen</h2>
<pre>curl -sN ${endpoint}/stream \\
  -H 'content-type: application/json' -H "authorization: Bearer $TOKEN" \\
  -d '{"query": "subscription { events { id kind action resourceType resourceId } }"}'</pre>
<h2>Look around</h2>
<p>Any GraphQL client can read the schema from here by introspection.</p>
</main>
<script>${script}</script>
</body>
</html>
`;

const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Apollo's script may run here and open its frame, and both may talk to this host; nothing else may do anything. */
export const sandboxPolicy = [
  "default-src 'none'",
  `script-src ${hash(script)} ${CDN}`,
  `style-src ${hash(style)}`,
  `frame-src ${FRAME}`,
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Our own page around Apollo's Sandbox. Apollo's has nothing to say where its servers cannot be reached. */
export const sandboxPlugin = (publicUrl: string): ApolloServerPlugin => ({
  serverWillStart: () =>
    Promise.resolve({ renderLandingPage: () => Promise.resolve({ html: page(`${publicUrl}/graphql`) }) }),
});
