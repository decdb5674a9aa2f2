import { expectRow, type Row } from '../support/memory-snapshot.ts';

const start = { start: 'node server.js' };

const frameworks: Row[] = [
  {
    it: 'Next.js serves',
    files: { 'package.json': { dependencies: { next: '15' }, scripts: { build: 'next build', start: 'next start' } } },
    found: { framework: 'nextjs', isStatic: false, port: 3000, buildCommand: 'npm run build' },
  },
  {
    it: 'Next.js exports',
    files: {
      'package.json': { dependencies: { next: '15' }, scripts: { build: 'next build', start: 'next start' } },
      'next.config.mjs': "export default { output: 'export' }",
    },
    found: { framework: 'nextjs', isStatic: true, outputDirectory: 'out', startCommand: null, builder: 'STATIC' },
  },
  {
    it: 'a setting that is commented out is none',
    files: {
      'package.json': { dependencies: { next: '15' }, scripts: { start: 'next start' } },
      'next.config.js': "module.exports = {\n  // output: 'export',\n  /* output: 'export' */\n}",
    },
    found: { isStatic: false },
  },
  {
    it: 'Next.js is never started by its development server',
    files: { 'package.json': { dependencies: { next: '15' }, scripts: { start: 'next dev' } } },
    found: { startCommand: 'next start' },
  },
  {
    it: 'Nuxt serves from .output',
    files: {
      'package.json': { dependencies: { nuxt: '^3.0.0' }, scripts: { build: 'nuxt build', generate: 'nuxt generate' } },
    },
    found: { framework: 'nuxt', isStatic: false, startCommand: 'node .output/server/index.mjs' },
  },
  {
    it: 'Nuxt generates where its build script says so',
    files: { 'package.json': { dependencies: { nuxt: '^3.0.0' }, scripts: { build: 'nuxt generate' } } },
    found: { isStatic: true, outputDirectory: '.output/public' },
  },
  {
    it: 'Remix serves',
    files: {
      'package.json': {
        dependencies: { '@remix-run/serve': '2' },
        devDependencies: { '@remix-run/dev': '2' },
        scripts: { start: 'remix-serve ./build/server/index.js' },
      },
    },
    found: { framework: 'remix', isStatic: false, startCommand: 'npm run start' },
  },
  {
    it: 'React Router without server rendering is a site',
    files: {
      'package.json': {
        devDependencies: { '@react-router/dev': '7' },
        scripts: { build: 'react-router build', start: 'react-router-serve x' },
      },
      'react-router.config.ts': 'export default { ssr: false }',
    },
    found: { framework: 'react-router', isStatic: true, outputDirectory: 'build/client' },
  },
  {
    it: 'React Router as a library is not the framework',
    files: {
      'package.json': {
        dependencies: { 'react-router': '7' },
        devDependencies: { vite: '6' },
        scripts: { build: 'vite build' },
      },
      'index.html': '',
    },
    found: { framework: 'vite', isStatic: true },
  },
  {
    it: 'SvelteKit serves',
    files: {
      'package.json': { devDependencies: { '@sveltejs/kit': '2', '@sveltejs/adapter-node': '5', vite: '6' } },
      'svelte.config.js': "import adapter from '@sveltejs/adapter-node'",
    },
    found: { framework: 'sveltekit', isStatic: false, startCommand: 'node build' },
  },
  {
    it: 'SvelteKit with adapter-static is a site',
    files: {
      'package.json': { devDependencies: { '@sveltejs/kit': '2' } },
      'svelte.config.js': "import adapter from '@sveltejs/adapter-static'",
    },
    found: { isStatic: true, outputDirectory: 'build' },
  },
  {
    it: 'Astro is a site',
    files: { 'package.json': { dependencies: { astro: '5' }, scripts: { start: 'astro dev' } } },
    found: { framework: 'astro', isStatic: true, outputDirectory: 'dist' },
  },
  {
    it: 'Astro with an adapter serves',
    files: {
      'package.json': { dependencies: { astro: '5', '@astrojs/node': '9' } },
      'astro.config.mjs': "import node from '@astrojs/node';\nexport default { adapter: node({ mode: 'standalone' }) }",
    },
    found: { isStatic: false, startCommand: 'node ./dist/server/entry.mjs', port: 4321 },
  },
  {
    it: 'Vite is a site, wherever it writes',
    files: {
      'package.json': { devDependencies: { vite: '6' }, scripts: { build: 'vite build', start: 'vite' } },
      'vite.config.ts': "export default { build: { outDir: './public_html/' } }",
    },
    found: { framework: 'vite', isStatic: true, outputDirectory: 'public_html', startCommand: null },
  },
  {
    it: 'Vite beside a server is its asset pipeline',
    files: {
      'package.json': {
        dependencies: { express: '5' },
        devDependencies: { vite: '6' },
        scripts: { build: 'vite build', start: 'node server.js' },
      },
      'vite.config.js': '',
    },
    found: { framework: 'express', isStatic: false, startCommand: 'npm run start' },
  },
  {
    it: 'Vite for tests alone is no framework',
    files: { 'package.json': { devDependencies: { vite: '6', vitest: '3' }, scripts: { start: 'node .' } } },
    found: { framework: null, isStatic: false },
  },
  {
    it: 'a script is followed to what it runs',
    files: {
      'package.json': {
        dependencies: { gatsby: '5' },
        scripts: { start: 'npm run develop', develop: 'gatsby develop' },
      },
    },
    found: { framework: 'gatsby', isStatic: true, outputDirectory: 'public' },
  },
  {
    it: 'Angular writes where angular.json says',
    files: {
      'package.json': { devDependencies: { '@angular/cli': '19' }, scripts: { start: 'ng serve', build: 'ng build' } },
      'angular.json': {
        projects: {
          shop: {
            projectType: 'application',
            architect: { build: { builder: '@angular-devkit/build-angular:application', options: {} } },
          },
        },
      },
    },
    found: { framework: 'angular', isStatic: true, outputDirectory: 'dist/shop/browser' },
  },
  {
    it: 'Angular with a server serves',
    files: {
      'package.json': {
        dependencies: { '@angular/ssr': '19' },
        devDependencies: { '@angular/cli': '19' },
        scripts: { start: 'ng serve' },
      },
      'angular.json': {
        projects: {
          shop: { architect: { build: { options: { server: 'src/main.server.ts', ssr: { entry: 'server.ts' } } } } },
        },
      },
    },
    found: { isStatic: false, startCommand: 'node dist/shop/server/server.mjs' },
  },
  {
    it: 'Create React App is a site',
    files: { 'package.json': { dependencies: { 'react-scripts': '5' }, scripts: { start: 'react-scripts start' } } },
    found: { framework: 'create-react-app', isStatic: true, outputDirectory: 'build' },
  },
  {
    it: 'VitePress writes beside its pages',
    files: { 'package.json': { devDependencies: { vitepress: '1' }, scripts: { build: 'vitepress build pages' } } },
    found: { framework: 'vitepress', outputDirectory: 'pages/.vitepress/dist', isStatic: true },
  },
  {
    it: 'Nest starts by its script',
    files: {
      'package.json': {
        dependencies: { '@nestjs/core': '11' },
        scripts: { build: 'nest build', start: 'nest start', 'start:prod': 'node dist/main' },
      },
    },
    found: { framework: 'nestjs', isStatic: false, startCommand: 'npm run start' },
  },
  {
    it: 'Express without a script starts by its main file',
    files: {
      'package.json': { main: './src/web.js', dependencies: { express: '5' } },
      'src/web.js': 'app.listen(4000)',
    },
    found: { framework: 'express', startCommand: 'node src/web.js' },
  },
  {
    it: 'a port written into the program is found',
    files: {
      'package.json': { dependencies: { express: '5' }, scripts: start },
      'server.js': 'app.listen(process.env.PORT || 5050)',
    },
    found: { port: 5050 },
  },
];

describe('frameworks for Node', () => {
  test.each(frameworks)('$it', expectRow);
});
