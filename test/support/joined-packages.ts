import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';

/** What is imported of them from outside, by its path in node_modules. Each is several dozen files. */
const MODULES: readonly (readonly string[])[] = [
  ['kysely/dist/index.js'],
  ['sofa-api/esm/index.js'],
  ['@graphql-tools/utils/esm/index.js'],
  ['@graphql-tools/schema/node_modules/@graphql-tools/utils/esm/index.js'],
  ['@graphql-tools/merge/node_modules/@graphql-tools/utils/esm/index.js'],
  ['type-graphql/build/esm/index.js'],
  [
    '@mikro-orm/core/index.js',
    '@mikro-orm/core/utils/AbstractMigrator.js',
    '@mikro-orm/core/utils/AbstractSchemaGenerator.js',
  ],
  ['@mikro-orm/sql/index.js'],
  ['@mikro-orm/decorators/legacy/index.js'],
  ['pg-boss/dist/index.js'],
  ['graphql-jit/dist/index.mjs'],
];

const SCRIPTS: readonly (readonly string[])[] = [
  ['class-validator/cjs/index.js'],
  ['express/index.js'],
  ['find-my-way/index.js'],
  ['jsonwebtoken/index.js'],
  ['prom-client/index.js'],
  ['semver/index.js'],
  ['yaml/dist/index.js'],
];

/** Packages that others share, and that have to be the same for all of them; the rest goes into whoever uses it. */
const SHARED =
  /^(graphql|@graphql-tools\/utils|class-validator|kysely|pg|semver|yaml|@mikro-orm\/[^/]+|@apollo\/[^/]+)(\/|$)/;

/** As in the build of the service; see there. */
const STAND_INS: Readonly<Record<string, string>> = {
  'libphonenumber-js/max': 'no-phone-numbers.mjs',
  'fast-json-stringify': 'no-json-writers.mjs',
};

const root = fileURLToPath(new URL('../..', import.meta.url));
/** A copy of the project may share the packages of another by a link; Jest finds them by their real paths. */
const packages = realpathSync(join(root, 'node_modules'));
const require = createRequire(import.meta.url);

/**
 * Each test file loads the whole service anew, and most of that is the opening of some two thousand small files of other people's. The
 * largest packages are joined into one file each, once, and joined-resolver.cjs gives those to Jest.
 */
export async function joinPackages(): Promise<string> {
  const parts = [
    packages,
    readFileSync(join(packages, '.package-lock.json')),
    readFileSync(fileURLToPath(import.meta.url)),
  ];
  const digest = createHash('sha256');
  for (const part of parts) digest.update(part);
  const folder = join(packages, '.cache', 'slipway-joined', digest.digest('hex').slice(0, 16));
  if (existsSync(folder)) return folder;
  const draft = `${folder}-${process.pid}`;
  const joined: Record<string, string> = {};
  for (const entries of there(MODULES)) Object.assign(joined, await joinModules(entries, draft, folder));
  for (const entries of there(SCRIPTS)) Object.assign(joined, await joinScripts(entries, draft, folder));
  // Some take single files of it, which have to be the same as in the whole.
  Object.assign(joined, await joinScripts(scriptsIn(join(packages, 'graphql')), draft, folder));
  writeFileSync(join(draft, 'joined.json'), JSON.stringify(joined));
  publish(draft, folder);
  return folder;
}

/** What another version of a package has elsewhere is loaded as it is. */
const there = (all: readonly (readonly string[])[]): string[][] =>
  all
    .map(entries => entries.map(path => join(packages, path)))
    .filter(entries => entries.every(entry => existsSync(entry)));

const scriptsIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.js'))
    .map(path => join(folder, path));

/** ES modules stay ES modules; what several entries share comes into files of its own. */
async function joinModules(entries: string[], draft: string, folder: string): Promise<Record<string, string>> {
  const name = nameOf(entries[0] ?? '');
  const entryPoints = Object.fromEntries(entries.map((entry, index) => [`entry${index}`, entry]));
  await build({
    ...usual,
    ...{ entryPoints, format: 'esm', splitting: true, outdir: join(draft, name), outExtension: { '.js': '.mjs' } },
    // Scripts inside a module miss it.
    banner: {
      js: `import { createRequire as joinedRequire } from 'node:module'; const require = joinedRequire(import.meta.url);`,
    },
  });
  return Object.fromEntries(entries.map((entry, index) => [entry, join(folder, name, `entry${index}.mjs`)]));
}

/** Scripts that know each other: one file with all of them, made when they are asked for, and a small one for each. */
async function joinScripts(entries: string[], draft: string, folder: string): Promise<Record<string, string>> {
  const name = nameOf(entries[0] ?? '');
  const members = entries.map((entry, index) => `get ${index}() { return require(${JSON.stringify(entry)}); }`);
  const outfile = join(draft, name, 'all.cjs');
  const stdin = { contents: `module.exports = { ${members.join(',\n')} };`, resolveDir: packages };
  await build({ ...usual, stdin, format: 'cjs', outfile });
  const mapped = entries.map((entry, index) => {
    const file = `part${index}.cjs`;
    // The second line is for whoever imports it from an ES module: names are read there and not by running it.
    const names = Object.keys(require(entry)).filter(each => each !== 'default' && /^[\w$]+$/.test(each));
    const text = `module.exports = require('./all.cjs')[${index}];\n0 && (module.exports = { ${names.join(', ')} });\n`;
    writeFileSync(join(draft, name, file), text);
    return [entry, join(folder, name, file)];
  });
  return Object.fromEntries(mapped);
}

const nameOf = (entry: string): string => relative(packages, dirname(entry)).replaceAll(/[^\w]+/g, '-');

/** Shared packages stay where they are, found from where they are asked for; so does what is absent. */
const sharedOutside: Plugin = {
  name: 'shared-outside',
  setup: esbuild =>
    esbuild.onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, importer, namespace, resolveDir, kind }) => {
      if (pluginData === 'asked' || kind === 'entry-point') return undefined;
      const standIn = STAND_INS[path];
      if (standIn !== undefined) return { path: join(root, 'scripts', standIn) };
      const found = await esbuild.resolve(path, { importer, namespace, resolveDir, kind, pluginData: 'asked' });
      if (found.errors.length > 0 || found.external) return { path, external: true };
      return SHARED.test(path) ? { path: realpathSync(found.path), external: true } : found;
    }),
};

const usual: BuildOptions = {
  ...{ bundle: true, platform: 'node', target: 'node24', logLevel: 'warning' },
  // TypeGraphQL and MikroORM read the names of classes.
  ...{ keepNames: true, minifyWhitespace: true, legalComments: 'none', plugins: [sharedOutside] },
};

/** Another run may have been faster. */
function publish(draft: string, folder: string): void {
  try {
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}
