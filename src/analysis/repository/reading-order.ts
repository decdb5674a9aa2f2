/**
 * Which files are worth reading, soonest first. A snapshot may pay a request per file, so the order is the budget:
 * manifests decide what a repository is, settings refine it, program text only adds entry points and variables.
 */
export type ReadingKind = 'manifest' | 'settings' | 'lock' | 'source';

export interface Reading {
  readonly path: string;
  readonly kind: ReadingKind;
}

export function readingOrder(paths: readonly string[], rootDirectory: string): Reading[] {
  const ranked = paths.flatMap(path => {
    const inside = insideOf(path, rootDirectory);
    const kind = inside === null ? null : kindOfReading(inside);
    if (inside === null || kind === null) return [];
    return [{ path, kind, rank: rankOf(kind, inside, path === inside && rootDirectory !== '') }];
  });
  return ranked.sort((a, b) => a.rank - b.rank || (a.path < b.path ? -1 : 1));
}

/** The path as the analysed root sees it; files beside the way up to the repository's root still tell of its workspace. */
export function insideOf(path: string, rootDirectory: string): string | null {
  if (rootDirectory === '') return path;
  if (path.startsWith(`${rootDirectory}/`)) return path.slice(rootDirectory.length + 1);
  const folder = path.slice(0, Math.max(path.lastIndexOf('/'), 0));
  return folder === '' || rootDirectory.startsWith(`${folder}/`) || isMemberManifest(path) ? path : null;
}

const isMemberManifest = (path: string): boolean => /(?:^|\/)(?:package\.json|Cargo\.toml)$/.test(path);

const ranks: Record<ReadingKind, number> = { manifest: 0, settings: 1, lock: 2, source: 12 };

function rankOf(kind: ReadingKind, inside: string, isAbove: boolean): number {
  const depth = isAbove ? 1 : inside.split('/').length - 1;
  return ranks[kind] + depth * 3 + (kind === 'source' ? entryPointRank(inside) : 0);
}

function kindOfReading(inside: string): ReadingKind | null {
  const cut = inside.lastIndexOf('/');
  const name = inside.slice(cut + 1);
  const folders = cut === -1 ? [] : inside.slice(0, cut).split('/');
  if (folders.some(folder => isOthers(folder) || trials.has(folder))) return null;
  if (manifests.has(name) || manifestEndings.test(name)) return 'manifest';
  if (locks.has(name)) return 'lock';
  if (settings.test(name)) return 'settings';
  const isAside = sidelined.test(name) || folders.some(folder => asides.has(folder));
  return sources.test(name) && !isAside ? 'source' : null;
}

/** What a repository carries along but did not write, or made itself. */
const isOthers = (folder: string): boolean =>
  /^(?:vendor|third_party|dist|target|coverage|out|\.yarn|\.idea|\.vscode)$/.test(folder);

/** Repositories inside a repository, made to be wrong in every way. */
const trials: ReadonlySet<string> = new Set([
  ...['test', 'tests', '__tests__', 'spec', 'specs', 'e2e', 'cypress', 'fixtures', 'testdata', 'mocks', '__mocks__'],
]);

/** Tests, samples and pages about the program say nothing of how it runs. */
export const asides: ReadonlySet<string> = new Set([
  ...trials,
  ...['example', 'examples', 'sample', 'samples', 'demo', 'demos', 'docs', 'doc', '.github', 'benchmarks', 'stories'],
  ...['migrations', 'locale', 'locales', 'public', 'static', 'assets'],
]);

const manifests: ReadonlySet<string> = new Set([
  ...['package.json', 'pnpm-workspace.yaml', 'lerna.json', 'nx.json', 'project.json', 'workspace.json', 'turbo.json'],
  ...[
    'angular.json',
    'deno.json',
    'deno.jsonc',
    'bunfig.toml',
    '.yarnrc.yml',
    'redwood.toml',
    'sanity.json',
    'app.json',
  ],
  ...['pyproject.toml', 'requirements.txt', 'Pipfile', 'setup.py', 'setup.cfg', 'environment.yml', 'environment.yaml'],
  ...[
    'go.mod',
    'go.work',
    'Cargo.toml',
    'rust-toolchain',
    'rust-toolchain.toml',
    'Gemfile',
    'gems.rb',
    'composer.json',
  ],
  ...['pom.xml', 'build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts', 'gradle.properties'],
  ...['project.clj', 'deps.edn', 'build.sbt', 'mix.exs', 'gleam.toml', 'rebar.config', 'pubspec.yaml', 'Package.swift'],
  ...[
    'shard.yml',
    'build.zig',
    'build.zig.zon',
    'package.yaml',
    'stack.yaml',
    'CMakeLists.txt',
    'meson.build',
    'global.json',
  ],
  ...[
    'Procfile',
    'Staticfile',
    'railpack.json',
    'nixpacks.toml',
    'app.yaml',
    'project.toml',
    '_config.yml',
    'config.rb',
  ],
  ...['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml', 'Dockerfile', 'Containerfile'],
  ...[
    'libs.versions.toml',
    'Directory.Build.props',
    'haunt.scm',
    'lerna.json',
    'rush.json',
    'netlify.toml',
    'vercel.json',
  ],
]);

const manifestEndings =
  /\.(?:csproj|fsproj|vbproj|sln|slnx|cabal)$|^requirements[\w.-]*\.txt$|^(?:[\w-]+\.)?Dockerfile(?:\.[\w-]+)?$/;

const locks: ReadonlySet<string> = new Set([
  ...['package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'poetry.lock'],
  ...['Gemfile.lock', 'gems.locked'],
]);

const settings = new RegExp(
  [
    '^\\.env[\\w.-]*$|\\.env\\.(?:example|sample|template|dist)$|^env\\.(?:example|sample)$',
    '^\\.(?:nvmrc|node-version|python-version|ruby-version|go-version|bun-version|java-version|tool-versions|sdkmanrc)$',
    '^\\.(?:elixir-version|erlang-version|rust-version|swift-version|deno-version|dvmrc|jdk-version|php-version|static)$',
    '^(?:mise|\\.mise)\\.toml$|^runtime\\.txt$|^rust-version\\.txt$|^system\\.properties$',
    '^(?:next|nuxt|vite|svelte|astro|remix|react-router|gatsby|docusaurus|vue|app|nitro|blitz|rsbuild)[\\w.-]*\\.config\\.[cm]?[jt]sx?$',
    '^(?:next|nuxt|vite|svelte|astro|remix|react-router|gatsby-config|siteConfig|ember-cli-build)[\\w.-]*\\.[cm]?[jt]s$',
    '^\\.gitattributes$|^tsconfig\\.json$|^nest-cli\\.json$|^schema\\.prisma$|^drizzle\\.config\\.[cm]?[jt]s$|^ormconfig\\.json$|^knexfile\\.[jt]s$',
    '^application[\\w-]*\\.(?:properties|ya?ml)$|^appsettings\\.json$|^database\\.yml$|^launchSettings\\.json$',
    '^(?:hugo|config|zola)\\.(?:toml|ya?ml|json)$|^settings\\.py$|^doctrine\\.yaml$|^plugins\\.sbt$|^Caddyfile$|^config\\.exs$|^runtime\\.exs$',
    '^compose\\.[\\w-]+\\.ya?ml$|^docker-compose\\.[\\w-]+\\.ya?ml$|^fly\\.toml$|^render\\.yaml$|^heroku\\.yml$|^puma\\.rb$|^config\\.ru$',
  ].join('|'),
);

const sources = /\.(?:[cm]?[jt]sx?|vue|svelte|py|go|rs|rb|php|java|kt|cs|fs|ex|exs|ru|sh|clj|scala|swift|dart|cr|zig)$/;
const sidelined = /[._-](?:test|tests|spec|stories|d|min|bundle|generated|gen)\.[^.]+$|_test\.\w+$|^test_/;

function entryPointRank(inside: string): number {
  const name = inside.slice(inside.lastIndexOf('/') + 1);
  return /^(?:main|app|server|index|wsgi|asgi|manage|env|config|settings|Program|Application|bot|start|web|run)\b/i.test(
    name,
  )
    ? 0
    : 2;
}
