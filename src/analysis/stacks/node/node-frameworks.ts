/** How a framework serves what it built: always by itself, always as files, or as its settings say. */
export type Serving = 'server' | 'files' | 'either';

export interface NodeFramework {
  readonly name: string;
  /** Any of these packages is a sign of it, … */
  readonly packages: readonly string[];
  readonly serving: Serving;
  /** … and so is any of these files. */
  readonly files?: readonly string[];
  readonly output?: string;
  /** Where package.json has no script for it. A first word without a path is found in node_modules/.bin. */
  readonly start?: string;
  readonly build?: string;
  readonly port?: number;
  /** Its router runs in the browser: an unknown path is answered with index.html. */
  readonly isSinglePage?: boolean;
}

type Rest = Partial<Omit<NodeFramework, 'name' | 'packages' | 'serving' | 'output'>>;

const server = (name: string, packages: string[], rest: Rest = {}): NodeFramework => ({
  ...{ name, packages, serving: 'server', port: 3000 },
  ...rest,
});

const either = (name: string, packages: string[], output: string, rest: Rest): NodeFramework => ({
  ...{ name, packages, serving: 'either', output, port: 3000 },
  ...rest,
});

const site = (name: string, packages: string[], output: string, build: string, rest: Rest = {}): NodeFramework => ({
  ...{ name, packages, serving: 'files', output, build },
  ...rest,
});

const singlePage = (name: string, packages: string[], output: string, build: string, rest: Rest = {}): NodeFramework =>
  site(name, packages, output, build, { isSinglePage: true, ...rest });

const nitroStart = 'node .output/server/index.mjs';

/** First match wins: what is built on another framework stands before it. */
export const nodeFrameworks: readonly NodeFramework[] = [
  server('strapi', ['@strapi/strapi', 'strapi'], { start: 'strapi start', build: 'strapi build', port: 1337 }),
  server('medusa', ['@medusajs/medusa'], { start: 'medusa start', build: 'medusa build', port: 9000 }),
  server('keystone', ['@keystone-6/core'], { start: 'keystone start', build: 'keystone build' }),
  server('directus', ['directus'], { start: 'directus start', port: 8055 }),
  server('mastra', ['mastra'], { start: 'node .mastra/output/index.mjs', build: 'mastra build', port: 4111 }),

  server('blitzjs', ['blitz'], {
    files: ['blitz.config.js', 'blitz.config.ts'],
    start: 'blitz start',
    build: 'blitz build',
  }),
  server('redwoodjs', ['@redwoodjs/core'], {
    files: ['redwood.toml'],
    start: 'rw serve',
    build: 'rw build',
    port: 8910,
  }),
  either('nextjs', ['next'], 'out', { start: 'next start', build: 'next build' }),
  either('nuxt', ['nuxt', 'nuxt3', 'nuxt-edge', 'nuxt-nightly'], '.output/public', {
    start: nitroStart,
    build: 'nuxt build',
  }),
  server('hydrogen', ['@shopify/hydrogen'], {
    files: ['hydrogen.config.js', 'hydrogen.config.ts'],
    start: 'shopify hydrogen preview',
    build: 'shopify hydrogen build',
  }),
  either('remix', ['@remix-run/dev', '@remix-run/serve'], 'build/client', {
    files: ['remix.config.js', 'remix.config.mjs'],
    start: 'remix-serve ./build/server/index.js',
    build: 'remix vite:build',
    isSinglePage: true,
  }),
  either('react-router', ['@react-router/dev'], 'build/client', {
    files: ['react-router.config.ts', 'react-router.config.js'],
    start: 'react-router-serve ./build/server/index.js',
    build: 'react-router build',
    isSinglePage: true,
  }),
  either('tanstack-start', ['@tanstack/react-start', '@tanstack/solid-start', '@tanstack/start'], 'dist/client', {
    start: nitroStart,
    build: 'vite build',
    isSinglePage: true,
  }),
  either('solidstart-1', ['@solidjs/start'], '.output/public', {
    start: nitroStart,
    build: 'vinxi build',
    isSinglePage: true,
  }),
  server('solidstart', ['solid-start'], { start: 'solid-start start', build: 'solid-start build' }),
  either('qwik', ['@builder.io/qwik-city', '@qwik.dev/router'], 'dist', {
    start: 'node server/entry.node-server.js',
    build: 'qwik build',
  }),
  server('analog', ['@analogjs/platform'], { start: 'node dist/analog/server/index.mjs', build: 'vite build' }),
  either('sveltekit', ['@sveltejs/kit'], 'build', { start: 'node build', build: 'vite build' }),
  either('astro', ['astro'], 'dist', { start: 'node ./dist/server/entry.mjs', build: 'astro build', port: 4321 }),
  either('sapper', ['sapper'], '__sapper__/export', { start: 'node __sapper__/build', build: 'sapper build' }),
  singlePage('expo', ['expo'], 'dist', 'expo export --platform web'),

  site('gatsby', ['gatsby'], 'public', 'gatsby build'),
  site('docusaurus', ['@docusaurus/core'], 'build', 'docusaurus build'),
  site('docusaurus', ['docusaurus'], 'build', 'docusaurus-build'),
  site('vitepress', ['vitepress'], 'docs/.vitepress/dist', 'vitepress build docs'),
  site('vuepress', ['vuepress'], 'src/.vuepress/dist', 'vuepress build src'),
  site('eleventy', ['@11ty/eleventy'], '_site', 'eleventy'),
  site('hexo', ['hexo'], 'public', 'hexo generate'),
  site('gridsome', ['gridsome'], 'dist', 'gridsome build'),
  site('saber', ['saber'], 'public', 'saber build'),
  site('scully', ['@scullyio/init'], 'dist/static', 'ng build && scully'),

  singlePage('sanity-v2', [], 'dist', 'sanity build', { files: ['sanity.json'] }),
  singlePage('sanity', ['sanity'], 'dist', 'sanity build'),
  singlePage('ionic-angular', ['@ionic/angular'], 'www', 'ng build'),
  either('angular', ['@angular/cli', '@angular-devkit/build-angular', '@angular/build'], 'dist', {
    build: 'ng build',
    port: 4000,
    isSinglePage: true,
  }),
  singlePage('ionic-react', ['@ionic/react'], 'dist', 'vite build'),
  singlePage('create-react-app', ['react-scripts', 'react-dev-utils'], 'build', 'react-scripts build'),
  singlePage('vue', ['@vue/cli-service'], 'dist', 'vue-cli-service build'),
  singlePage('ember', ['ember-source', 'ember-cli'], 'dist', 'ember build --environment=production'),
  singlePage('preact', ['preact-cli'], 'build', 'preact build'),
  singlePage('polymer', ['polymer-cli'], 'build', 'polymer build'),
  singlePage('dojo', ['@dojo/framework', '@dojo/cli'], 'output/dist', 'dojo build', { files: ['.dojorc'] }),
  singlePage('umijs', ['umi', '@umijs/max'], 'dist', 'umi build'),
  singlePage('stencil', ['@stencil/core'], 'www', 'stencil build'),
  singlePage('svelte', ['sirv-cli'], 'public', 'rollup -c'),
  singlePage('brunch', ['brunch'], 'public', 'brunch build --production', { files: ['brunch-config.js'] }),
];

/** Servers that say nothing of pages; looked for after everything above. */
export const nodeServers: readonly NodeFramework[] = [
  server('nestjs', ['@nestjs/core'], { start: 'node dist/main', build: 'nest build' }),
  server('adonisjs', ['@adonisjs/core'], { start: 'node build/bin/server.js', build: 'node ace build', port: 3333 }),
  server('sails', ['sails'], { port: 1337 }),
  server('feathers', ['@feathersjs/feathers', '@feathersjs/koa', '@feathersjs/express'], { port: 3030 }),
  server('loopback', ['@loopback/rest']),
  server('xmcp', ['xmcp'], { files: ['xmcp.config.ts'], start: 'node dist/http.js', build: 'xmcp build', port: 3001 }),
  server('elysia', ['elysia']),
  server('hono', ['hono']),
  server('fastify', ['fastify']),
  server('koa', ['koa']),
  server('hapi', ['@hapi/hapi']),
  server('express', ['express']),
  server('h3', ['h3']),
  server('polka', ['polka']),
  server('restify', ['restify'], { port: 8080 }),
];

/** Bundlers: a framework only where nothing else is. */
export const nodeBundlers: readonly NodeFramework[] = [
  server('nitro', ['nitropack', 'nitro'], { start: nitroStart, build: 'nitro build' }),
  singlePage('vite', ['vite', 'rolldown-vite'], 'dist', 'vite build'),
  singlePage('rsbuild', ['@rsbuild/core'], 'dist', 'rsbuild build'),
  singlePage('parcel', ['parcel', 'parcel-bundler'], 'dist', 'parcel build'),
  site('storybook', ['storybook'], 'storybook-static', 'storybook build'),
];
