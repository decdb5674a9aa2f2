import type { AnalysisOptions } from '../../src/analysis/analyze.ts';
import type { Files } from '../support/memory-snapshot.ts';

/** Every generator with what makes it write something else. Sites of plain files and scripts need one stage only. */
export interface Variant {
  readonly it: string;
  readonly files: Files;
  readonly options?: AnalysisOptions;
  readonly hasOneStage?: boolean;
}

const nodeApp = { scripts: { start: 'node dist/main.js', build: 'tsc' }, devDependencies: { typescript: '5' } };
const nodeSite = { scripts: { build: 'vite build' }, devDependencies: { vite: '6' } };
const locks: Readonly<Record<string, Files>> = {
  'npm with a lock': { 'package-lock.json': '{}' },
  'npm without': {},
  pnpm: { 'pnpm-lock.yaml': "lockfileVersion: '9.0'\n" },
  'pnpm 6': { 'pnpm-lock.yaml': 'lockfileVersion: 5.3\n' },
  'Yarn 1': { 'yarn.lock': '# yarn lockfile v1\n' },
  'modern Yarn': { 'yarn.lock': '__metadata:\n', '.yarnrc.yml': '' },
  'modern Yarn of its own': { 'yarn.lock': '__metadata:\n', '.yarnrc.yml': '', '.yarn/releases/yarn-4.cjs': '' },
  Bun: { 'bun.lock': '' },
};

const node: Variant[] = Object.entries(locks).flatMap(([name, lock]) => [
  { it: `a Node server by ${name}`, files: { 'package.json': nodeApp, ...lock } },
  { it: `a Node site by ${name}`, files: { 'package.json': nodeSite, 'index.html': '', ...lock } },
  {
    it: `scripts after an install by ${name}`,
    files: {
      'package.json': { ...nodeApp, scripts: { ...nodeApp.scripts, postinstall: 'node x', prepare: 'husky' } },
      ...lock,
    },
  },
]);

const frameworks = (
  [
    ['next', 'next build', 'next start'],
    ['nuxt', 'nuxt build', null],
    ['@remix-run/dev', 'remix vite:build', 'remix-serve build'],
    ['@react-router/dev', 'react-router build', null],
    ['@sveltejs/kit', 'vite build', null],
    ['astro', 'astro build', null],
    ['@nestjs/core', 'nest build', 'node dist/main'],
    ['express', null, 'node server.js'],
    ['@prisma/client', 'prisma generate', 'node server.js'],
    ['bcrypt', null, 'NODE_ENV=production node server.js'],
  ] as const
).map(([dependency, build, start]): Variant => {
  const scripts = { ...(build === null ? {} : { build }), ...(start === null ? {} : { start }) };
  return {
    it: `Node with ${dependency}`,
    files: {
      'package.json': { dependencies: { [dependency]: '1' }, scripts },
      'index.js': '',
      'package-lock.json': '{}',
    },
  };
});

const special: Variant[] = [
  {
    it: 'standalone Next',
    files: {
      'package.json': { dependencies: { next: '15' }, scripts: { build: 'next build', start: 'next start' } },
      'next.config.js': "module.exports = { output: 'standalone' }",
      'public/a.png': '',
    },
  },
  {
    it: 'a local package',
    files: {
      'package.json': { ...nodeApp, dependencies: { lib: 'file:./lib' } },
      'lib/package.json': {},
      'package-lock.json': '{}',
    },
  },
  {
    it: 'a member of a workspace',
    files: {
      'package.json': { workspaces: ['apps/*'] },
      'apps/web/package.json': { name: 'web', ...nodeApp },
      'package-lock.json': '{}',
    },
    options: { rootDirectory: 'apps/web' },
  },
  {
    it: 'a workspace of a hundred members',
    files: {
      'package.json': { workspaces: ['p/*'], ...nodeApp },
      ...Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`p/m${at}/package.json`, {}])),
    },
  },
  { it: 'an exact old Node', files: { 'package.json': { ...nodeApp, engines: { node: '14.17.0' } } } },
  {
    it: 'a site in a folder with a blank',
    files: { 'package.json': nodeSite, 'index.html': '' },
    options: { settings: { outputDirectory: 'my site' } },
  },
  {
    it: 'commands of one’s own',
    files: { 'package.json': nodeApp },
    options: {
      settings: { installCommand: 'make deps', buildCommand: 'make "all" # x', startCommand: 'node a.js | tee log' },
    },
  },
];

const project = '[project]\nname = "x"\ndependencies = ["fastapi[standard]"]\n';
const python: Variant[] = [
  { it: 'Python by pip', files: { 'requirements.txt': 'flask\ngunicorn\npsycopg2\ngit+https://x/y\n', 'app.py': '' } },
  {
    it: 'Python by nested lists',
    files: { 'requirements/base.txt': 'flask\n', 'requirements/production.txt': '-r base.txt\n', 'app.py': '' },
  },
  { it: 'Python by an editable list', files: { 'requirements.txt': '-e .\n', 'setup.py': '', 'app.py': '' } },
  { it: 'Python by uv', files: { 'pyproject.toml': project, 'uv.lock': '', 'main.py': '' } },
  { it: 'Python by Poetry', files: { 'pyproject.toml': '[tool.poetry]\n', 'poetry.lock': '', 'main.py': '' } },
  { it: 'Python by PDM', files: { 'pyproject.toml': project, 'pdm.lock': '', 'main.py': '' } },
  { it: 'Python by Pipenv', files: { Pipfile: '[packages]\n', 'Pipfile.lock': '{}', 'main.py': '' } },
  { it: 'Python by conda', files: { 'environment.yml': 'dependencies: [python]\n', 'main.py': '' } },
  { it: 'Python by pyproject alone', files: { 'pyproject.toml': project, 'main.py': '' } },
  { it: 'Python without packages', files: { 'main.py': '' } },
  {
    it: 'Django',
    files: {
      'requirements.txt': 'django\nmysqlclient\n',
      'manage.py': 'django',
      'a/settings.py': "STATIC_ROOT = 'x'\n",
      'a/wsgi.py': '',
    },
  },
];

const others: Variant[] = [
  { it: 'Deno', files: { 'deno.json': { tasks: { build: 'x' } }, 'deno.lock': '{}', 'main.ts': '' } },
  { it: 'Go', files: { 'go.mod': 'module x\ngo 1.24\n', 'go.sum': '', 'main.go': 'package main' } },
  {
    it: 'Go with C',
    files: { 'go.mod': 'module x\nrequire github.com/mattn/go-sqlite3 v1.0.0\n', 'main.go': 'package main' },
  },
  {
    it: 'Go with vendored modules',
    files: { 'go.mod': 'module x\n', 'vendor/modules.txt': '', 'main.go': 'package main' },
  },
  { it: 'Go without modules', files: { 'main.go': 'package main' } },
  { it: 'Rust', files: { 'Cargo.toml': '[package]\nname = "x"\n', 'Cargo.lock': '', 'src/main.rs': '' } },
  {
    it: 'Rust in a workspace',
    files: {
      'Cargo.toml': '[workspace]\nmembers = ["a"]\n',
      'a/Cargo.toml': '[package]\nname = "a"\n',
      'a/src/main.rs': '',
    },
  },
  {
    it: 'Rails',
    files: {
      Gemfile: 'gem "rails"\ngem "pg"\ngem "propshaft"\n',
      'Gemfile.lock': '',
      'config/application.rb': '',
      'bin/rails': '',
      'package.json': {},
    },
  },
  { it: 'Rack', files: { Gemfile: 'gem "rack"\ngem "x", path: "x"\n', 'config.ru': '' } },
  { it: 'Jekyll', files: { Gemfile: 'gem "jekyll"\n', '_config.yml': '' } },
  {
    it: 'Laravel',
    files: {
      'composer.json': { require: { 'laravel/framework': '12', 'ext-imagick': '*' } },
      'composer.lock': '{}',
      artisan: '',
      'public/index.php': '',
      'package.json': { scripts: { build: 'vite build' } },
      'package-lock.json': '{}',
    },
  },
  {
    it: 'Symfony',
    files: { 'composer.json': { require: { 'symfony/framework-bundle': '7' } }, 'public/index.php': '' },
  },
  { it: 'plain PHP', files: { 'index.php': '' } },
  { it: 'Maven', files: { 'pom.xml': '<project/>' } },
  { it: 'Maven by its wrapper', files: { 'pom.xml': '<project/>', mvnw: '', '.mvn/wrapper/x': '' } },
  { it: 'Gradle', files: { 'build.gradle': '', 'settings.gradle': 'rootProject.name = "x"' } },
  {
    it: 'Gradle by its wrapper',
    files: {
      'build.gradle.kts': 'plugins {\n  application\n}',
      'settings.gradle.kts': 'rootProject.name = "x"',
      gradlew: '',
      'gradle/wrapper/x': '',
    },
  },
  { it: 'Quarkus', files: { 'pom.xml': '<p><dependency><groupId>io.quarkus</groupId></dependency></p>' } },
  { it: 'Java in one file', files: { 'Main.java': '' } },
  { it: '.NET', files: { 'a.csproj': '<Project Sdk="Microsoft.NET.Sdk.Web"/>' } },
  {
    it: '.NET in a solution',
    files: { 'a.sln': '', 'web/web.csproj': '<Project Sdk="Microsoft.NET.Sdk.Web"/>', 'lib/lib.csproj': '<Project/>' },
  },
  {
    it: 'Phoenix',
    files: {
      'mix.exs': 'app: :hello\n{:phoenix, "1"}\n"assets.deploy"',
      'mix.lock': '',
      'config/config.exs': '',
      'assets/package.json': {},
    },
  },
  { it: 'Gleam', files: { 'gleam.toml': '' } },
  { it: 'Dart', files: { 'pubspec.yaml': 'name: x\n', 'bin/x.dart': '' } },
  { it: 'Swift', files: { 'Package.swift': '' } },
  { it: 'Crystal', files: { 'shard.yml': 'name: x\n' } },
  { it: 'Zig', files: { 'build.zig': '' } },
  { it: 'Haskell', files: { 'package.yaml': 'executables:\n  x: {}\n', 'stack.yaml': '' } },
  { it: 'COBOL', files: { 'src/index.cbl': '' } },
  { it: 'CMake', files: { 'CMakeLists.txt': '' } },
  { it: 'Meson', files: { 'meson.build': '' } },
  { it: 'Scala', files: { 'build.sbt': '' } },
  { it: 'Leiningen', files: { 'project.clj': '' } },
  { it: 'tools.deps', files: { 'deps.edn': '{}', 'build.clj': '' } },
  { it: 'Haunt', files: { 'haunt.scm': '' } },
  { it: 'Hugo', files: { 'hugo.toml': '', 'package.json': {} } },
  { it: 'plain pages', files: { 'index.html': '' }, hasOneStage: true },
  {
    it: 'plain pages that route',
    files: { Staticfile: 'root: web\nindex_fallback: true\n', 'web/index.html': '' },
    hasOneStage: true,
  },
  { it: 'a script', files: { 'start.sh': '#!/bin/zsh' }, hasOneStage: true },
];

export const variants: readonly Variant[] = [...node, ...frameworks, ...special, ...python, ...others];
