/**
 * TypeScript to dist/js, then everything into one file, dist/main.js: the service starts in half the time when Node opens
 * one file instead of some two thousand. The types are compiled first because esbuild does not know decorator metadata.
 */
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const require = createRequire(import.meta.url);

/** Packages that find files of their own beside their code: native bindings, assets. */
const EXTERNAL = ['ssh2', 'cpu-features', 'swagger-ui-dist'];

/** CommonJS inside an ES module misses these three. */
const COMMONJS = `
import { createRequire as slipwayCreateRequire } from 'node:module';
import { fileURLToPath as slipwayFileURLToPath } from 'node:url';
const require = slipwayCreateRequire(import.meta.url);
const __filename = slipwayFileURLToPath(import.meta.url);
const __dirname = slipwayFileURLToPath(new URL('.', import.meta.url));
`;

process.chdir(root);
rmSync('dist/js', { recursive: true, force: true });
compile();
await bundle();

function compile() {
  const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

async function bundle() {
  const { outputFiles } = await build({
    entryPoints: ['dist/js/src/main.js'],
    outfile: 'dist/main.js',
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // TypeGraphQL and MikroORM read the names of classes.
    keepNames: true,
    // A text without its comments and blanks takes a third less of memory, and the map still finds every line.
    minifyWhitespace: true,
    charset: 'ascii',
    sourcemap: true,
    sourcesContent: false,
    legalComments: 'none',
    external: EXTERNAL,
    // What libraries do for their developers; graphql-js would look for a second copy of itself at every field of every row.
    define: { 'process.env.NODE_ENV': '"production"' },
    // The first one's CommonJS half hides its requires from a bundler.
    alias: {
      'jsonc-parser': 'jsonc-parser/lib/esm/main.js',
      // The phone numbers of the world, for a check of class-validator's that we do not use.
      'libphonenumber-js/max': join(root, 'scripts', 'no-phone-numbers.mjs'),
      // Brings a validator of JSON Schema with it.
      'fast-json-stringify': join(root, 'scripts', 'no-json-writers.mjs'),
    },
    banner: { js: COMMONJS },
    plugins: [oneGraphql(), httpWithoutFetch(), absentIsExternal()],
    logLevel: 'warning',
    write: false,
  });
  for (const { path, text } of outputFiles)
    writeFileSync(path, path.endsWith('.js') ? inAscii(withQuickNames(text)) : text);
}

/**
 * For `keepNames` esbuild names every function anew, each time one is made, in the middle of hot code. Only the names of classes are read by
 * anybody, and those are given in a block of the class itself: all others stay as they are.
 */
function withQuickNames(text) {
  const ofClasses = /static\{__name\(/g;
  const [classes, all] = [text.match(ofClasses)?.length ?? 0, text.match(/__name\(/g)?.length ?? 0];
  if (classes === 0 || all < 2 * classes)
    throw new Error('esbuild writes __name in another way now: see withQuickNames');
  const helper = 'var __same=target=>target;';
  return text.replace(/(?<!static\{)__name\(/g, '__same(').replace(/var __name ?=/, `${helper}$&`);
}

/** One letter beyond Latin doubles what the whole text takes in memory. What esbuild leaves of them stands in regular expressions. */
function inAscii(text) {
  return text.replace(/[^\0-\x7f]/g, letter => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** graphql refuses objects of a second copy of itself, and its ES and CommonJS halves are two copies: one for everybody. */
function oneGraphql() {
  const setup = esbuild =>
    esbuild.onResolve({ filter: /^graphql(\/|$)/ }, ({ path }) => ({
      path: require.resolve(path.replace(/\.mjs$/, '.js')),
    }));
  return { name: 'one-graphql', setup };
}

/**
 * Importing `node:http` reads all it exports, and with its WebSocket comes Node's whole client for the web: 40 ms and some megabytes for what
 * we do not use. Taken by names, the rest of it sleeps.
 */
function httpWithoutFetch() {
  const names = Object.keys(http).filter(name => !/^(WebSocket|CloseEvent|MessageEvent)$/.test(name));
  const contents = `const http = process.getBuiltinModule('node:http'); export default http; export const { ${names} } = http;`;
  const setup = esbuild => {
    esbuild.onResolve({ filter: /^(node:)?http$/ }, ({ kind }) =>
      kind === 'import-statement' ? { path: 'http', namespace: 'by-names' } : undefined,
    );
    esbuild.onLoad({ filter: /.*/, namespace: 'by-names' }, () => ({ contents }));
  };
  return { name: 'http-without-fetch', setup };
}

/** Optional peers, such as the drivers of other databases: whoever asks for one at run time is told that it is absent. */
function absentIsExternal() {
  const setup = esbuild =>
    esbuild.onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, importer, namespace, resolveDir, kind }) => {
      if (pluginData === 'asked' || kind === 'entry-point') return undefined;
      const found = await esbuild.resolve(path, { importer, namespace, resolveDir, kind, pluginData: 'asked' });
      return found.errors.length > 0 ? { path, external: true } : found;
    });
  return { name: 'absent-is-external', setup };
}
