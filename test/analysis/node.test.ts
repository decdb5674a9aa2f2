import { expectRow, type Row } from '../support/memory-snapshot.ts';

const start = { start: 'node server.js' };

const managers: Row[] = [
  {
    it: 'takes npm where nothing says otherwise',
    files: { 'package.json': { scripts: start } },
    found: {
      language: 'node',
      packageManager: 'npm',
      installCommand: 'npm install',
      startCommand: 'npm run start',
      isStatic: false,
    },
  },
  {
    it: 'installs exactly what a lock file says',
    files: { 'package.json': { scripts: start }, 'package-lock.json': '{"lockfileVersion":3}' },
    found: { packageManager: 'npm', installCommand: 'npm ci' },
  },
  {
    it: 'believes packageManager before a lock file',
    files: { 'package.json': { scripts: start, packageManager: 'pnpm@10.2.0+sha512.abc' }, 'yarn.lock': '' },
    found: { packageManager: 'pnpm', startCommand: 'pnpm run start', installCommand: 'pnpm install' },
  },
  {
    it: 'knows modern Yarn by its lock file',
    files: { 'package.json': { scripts: start }, 'yarn.lock': '__metadata:\n  version: 8\n' },
    found: { packageManager: 'yarn', installCommand: 'yarn install --immutable' },
  },
  {
    it: 'knows Yarn 1 by its lock file',
    files: { 'package.json': { scripts: start }, 'yarn.lock': '# yarn lockfile v1\n' },
    found: { packageManager: 'yarn', installCommand: 'yarn install --frozen-lockfile' },
  },
  {
    it: 'runs a program with Bun where Bun installs it',
    files: { 'package.json': { module: 'index.ts' }, 'bun.lock': '', 'index.ts': '' },
    found: { packageManager: 'bun', startCommand: 'bun index.ts', installCommand: 'bun install --frozen-lockfile' },
  },
  {
    it: 'takes a package manager that is asked for under engines',
    files: { 'package.json': { scripts: start, engines: { pnpm: '>=9' } } },
    found: { packageManager: 'pnpm' },
  },
  {
    it: 'ignores a packageManager it has never heard of',
    files: { 'package.json': { scripts: start, packageManager: 'rm -rf@1' } },
    found: { packageManager: 'npm' },
  },
];

const versions: Row[] = [
  {
    it: 'reads engines',
    files: { 'package.json': { scripts: start, engines: { node: '20.x' } } },
    found: { languageVersion: '20' },
  },
  {
    it: 'meets an open range with what is supported',
    files: { 'package.json': { scripts: start, engines: { node: '>=16' } } },
    found: { languageVersion: '24' },
  },
  {
    it: 'stays inside a closed range',
    files: { 'package.json': { scripts: start, engines: { node: '>=18 <21' } } },
    found: { languageVersion: '20' },
  },
  {
    it: 'reads .nvmrc',
    files: { 'package.json': { scripts: start }, '.nvmrc': 'v22.2.0\n' },
    found: { languageVersion: '22.2.0' },
  },
  {
    it: 'knows the names of long-term versions',
    files: { 'package.json': { scripts: start }, '.nvmrc': 'lts/iron' },
    found: { languageVersion: '20' },
  },
  {
    it: 'reads mise.toml',
    files: { 'package.json': { scripts: start }, 'mise.toml': '[tools]\nnode = "22"\n' },
    found: { languageVersion: '22' },
  },
  {
    it: 'reads .tool-versions',
    files: { 'package.json': { scripts: start }, '.tool-versions': 'nodejs 20.1.0\n' },
    found: { languageVersion: '20.1.0' },
  },
];

const conventions: Row[] = [
  {
    it: 'a Procfile outweighs the scripts',
    files: {
      'package.json': { scripts: start },
      Procfile: 'release: npm run migrate\nweb: node --enable-source-maps web.js # why\n',
    },
    found: { startCommand: 'node --enable-source-maps web.js # why', releaseCommand: 'npm run migrate' },
  },
  {
    it: 'a program without a manifest runs',
    files: { 'server.js': 'require("http")' },
    found: { language: 'node', startCommand: 'node server.js', packageManager: 'npm', installCommand: null },
  },
  {
    it: 'Deno stays Deno beside an editor’s package.json',
    files: {
      'deno.json': { tasks: { start: 'deno run -A main.ts' } },
      'main.ts': '',
      'package.json': { devDependencies: { prettier: '3' } },
    },
    found: { language: 'deno', startCommand: 'deno task start' },
  },
  {
    it: 'a package.json that starts something outweighs deno.json',
    files: { 'deno.json': '{}', 'package.json': { scripts: start } },
    found: { language: 'node' },
  },
  {
    it: 'Supabase functions make no Deno application',
    files: { 'package.json': { dependencies: { nuxt: '3' } }, 'supabase/functions/hi/deno.json': '{}' },
    found: { language: 'node', framework: 'nuxt' },
  },
];

describe.each([
  ['package managers', managers],
  ['versions of Node', versions],
  ['conventions', conventions],
])('%s', (_title, rows) => {
  test.each(rows)('$it', expectRow);
});
