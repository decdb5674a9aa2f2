/** The page of `/api/docs`: our frame around Swagger UI. */
export const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Slipway API</title>
<link rel="icon" type="image/svg+xml" href="/api/docs/favicon.svg">
<link rel="stylesheet" href="/api/docs/swagger-ui.css">
<link rel="stylesheet" href="/api/docs/page.css">
</head>
<body>
<header class="bar">
<a class="brand" href="/api/docs"><img src="/api/docs/favicon.svg" alt="" width="28" height="28"> Slipway <span>REST API</span></a>
<nav><a href="/graphql">GraphQL</a> <a href="/api/docs/openapi.json">openapi.json</a></nav>
</header>
<main id="swagger-ui"><p class="wait">The documentation needs JavaScript; the document itself is
<a href="/api/docs/openapi.json">openapi.json</a>.</p></main>
<script src="/api/docs/swagger-ui-bundle.js"></script>
<script src="/api/docs/page.js"></script>
</body>
</html>
`;

/** Runs in the browser. A token that was pasted once is kept there, so that a reload does not ask for it again. */
export const script = `'use strict';
window.ui = SwaggerUIBundle({
  url: '/api/docs/openapi.json',
  dom_id: '#swagger-ui',
  presets: [SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
  deepLinking: true,
  persistAuthorization: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  filter: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 2,
  requestSnippetsEnabled: true,
  validatorUrl: null,
});
`;

/** A boat on its way down the slip. */
export const favicon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#0b3954"/>
<path d="M15 6v11H7z" fill="#fff"/><path d="M17 9v8h7z" fill="#8ecae6"/>
<path d="M6 19h20l-4 5H10z" fill="#fff"/>
<path d="M4 28l24-3v3z" fill="#ffb703"/>
</svg>
`;

export const style = `:root { --sea: #0b3954; --foam: #f4f7f9; --line: #d9e2e8; }
body { margin: 0; background: var(--foam); font-family: system-ui, sans-serif; }
.bar { position: sticky; top: 0; z-index: 10; display: flex; justify-content: space-between; align-items: center;
  padding: 10px 24px; background: var(--sea); color: #fff; }
.bar a { color: #fff; text-decoration: none; }
.bar nav a { margin-left: 20px; font-size: 14px; opacity: .85; }
.bar nav a:hover { opacity: 1; text-decoration: underline; }
.brand { display: flex; align-items: center; gap: 10px; font-size: 18px; font-weight: 600; }
.brand span { font-weight: 400; opacity: .75; }
.wait { padding: 24px; }
.swagger-ui .info { margin: 28px 0 8px; }
.swagger-ui .info .title { color: var(--sea); font-family: inherit; font-size: 30px; }
.swagger-ui .info .main > a, .swagger-ui .info__license, .swagger-ui .servers-title, .swagger-ui .servers { display: none; }
.swagger-ui .info__summary { font-size: 16px; }
.swagger-ui .info .description .renderedMarkdown { columns: 2 26rem; column-gap: 40px; margin-top: 16px; }
.swagger-ui .info .description p { margin: 0 0 12px; line-height: 1.5; break-inside: avoid; }
.swagger-ui .info code, .swagger-ui .renderedMarkdown code, .swagger-ui .markdown code { color: var(--sea); font-weight: 500; }
.swagger-ui .scheme-container { background: none; box-shadow: none; padding: 0 0 12px; margin: 0; }
.swagger-ui .scheme-container .schemes { justify-content: flex-end; }
.swagger-ui .filter-container, .swagger-ui .filter .operation-filter-input { margin: 0; }
.swagger-ui .opblock-tag { border-bottom-color: var(--line); font-family: inherit; color: var(--sea); }
.swagger-ui .opblock-tag small { font-family: inherit; color: #4a5a66; }
.swagger-ui .opblock { box-shadow: none; border-radius: 6px; margin-bottom: 8px; }
.swagger-ui .opblock .opblock-summary-description { font-family: inherit; color: #4a5a66; }
`;
