import { DockerfileParser } from 'dockerfile-ast';
import fc from 'fast-check';
import type { BuildSettings } from '../../src/analysis/build-settings.ts';
import { run } from '../../src/analysis/dockerfile/dockerfile.ts';
import { analyze, type Files } from '../support/memory-snapshot.ts';

/** What people who want out of a Dockerfile try, mixed with what they did not think of. */
const bait = fc.oneof(
  fc.constantFrom(
    '\n',
    '\r\n',
    '\\\n',
    '\\',
    '"',
    "'",
    '`',
    '$',
    '$'.concat('{PATH}'),
    '$(id)',
    '<<EOF',
    '<<-"X"\n',
    '#',
    '\u2028',
    '\u0085',
    ']',
    '", "',
  ),
  fc.constantFrom(
    'RUN id',
    'FROM scratch',
    'USER root',
    'CMD ["x"]',
    'ENTRYPOINT x',
    '--mount=type=bind',
    '# escape=`',
    'ONBUILD RUN x',
    ' AS y',
    '; rm -rf /',
  ),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
);
const hostile = fc
  .array(bait, { minLength: 1, maxLength: 6 })
  .map(parts => parts.join('').replaceAll('\0', ''))
  .filter(text => text.trim() !== '');

/** Docker's own reading: a line goes on after a backslash, everything else is one instruction by its first word. */
function instructionsIn(dockerfile: string): string[] {
  const lines = dockerfile.replaceAll(/\\\n/g, ' ').split(/\n/);
  return lines.filter(line => line.trim() !== '').map(line => line.split(' ')[0] as string);
}

const keywordsOf = (dockerfile: string): string[] =>
  DockerfileParser.parse(dockerfile)
    .getInstructions()
    .map(instruction => instruction.getKeyword());

async function shapeOf(files: Files, settings: BuildSettings = {}): Promise<string[]> {
  const dockerfile = (await analyze(files, { settings })).generatedDockerfile ?? '';
  expect(dockerfile.replaceAll('\n', '')).not.toMatch(/[^\x20-\x7e]/);
  expect(keywordsOf(dockerfile)).toEqual(instructionsIn(dockerfile));
  return instructionsIn(dockerfile);
}

const repositories: readonly (readonly [name: string, files: Files])[] = [
  ['Node', { 'package.json': { scripts: { start: 'node .', build: 'tsc' } } }],
  ['Python', { 'requirements.txt': 'flask\n', 'app.py': '' }],
  ['Go', { 'go.mod': 'module x\n', 'main.go': 'package main' }],
  ['Ruby', { Gemfile: 'gem "rack"\n', 'config.ru': '' }],
  ['PHP', { 'composer.json': {}, 'index.php': '' }],
  ['Java', { 'pom.xml': '<project/>' }],
  ['.NET', { 'a.csproj': '<Project/>' }],
  ['Elixir', { 'mix.exs': 'app: :x' }],
  ['Rust', { 'Cargo.toml': '[package]\nname = "x"\n', 'src/main.rs': '' }],
  ['Deno', { 'deno.json': '{}', 'main.ts': '' }],
];

describe('what a person sets', () => {
  it.each(repositories)('stays inside its instruction for %s', async (_name, files) => {
    const plain = await shapeOf(files, { installCommand: 'make a', buildCommand: 'make b', startCommand: 'make c' });
    await fc.assert(
      fc.asyncProperty(hostile, hostile, hostile, async (installCommand, buildCommand, startCommand) => {
        fc.pre(!/^\s*(?:npm|pnpm|yarn|bun) /.test(installCommand));
        expect(await shapeOf(files, { installCommand, buildCommand, startCommand })).toEqual(plain);
      }),
      { numRuns: 30 },
    );
  });

  it('arrives at the shell as it was written', () => {
    fc.assert(
      fc.property(hostile, command => {
        const [, words] = /^RUN (\[.*\])$/.exec(String(run(command))) ?? [];
        const arrived =
          words === undefined ? String(run(command)).slice('RUN '.length) : (JSON.parse(words)[2] as string);
        expect(arrived).toBe(words === undefined ? command.trim() : command);
      }),
      { numRuns: 1_000 },
    );
  });

  it('may name any folder inside as the site’s', async () => {
    const folder = hostile.filter(
      text => !/\p{Cc}/u.test(text) && !text.startsWith('/') && !text.split('/').includes('..'),
    );
    const files = { 'package.json': { devDependencies: { vite: '6' } }, 'index.html': '' };
    await fc.assert(
      fc.asyncProperty(folder, async outputDirectory => {
        const shape = (await shapeOf(files, { outputDirectory })).filter(word => word !== 'RUN');
        expect(shape).toEqual([
          'FROM',
          'WORKDIR',
          'ENV',
          'COPY',
          'COPY',
          'FROM',
          'COPY',
          'ENV',
          'USER',
          'EXPOSE',
          'CMD',
        ]);
      }),
      { numRuns: 150 },
    );
  });
});

const json = (value: unknown): string => JSON.stringify(value);

/** Places in a repository whose words end up in a Dockerfile, or nearly. */
const places: readonly (readonly [place: string, files: (text: string) => Files])[] = [
  ['a start script', text => ({ 'package.json': { scripts: { start: text, build: 'x' } } })],
  [
    'the name of a package',
    text => ({ 'package.json': { name: text, main: text, module: text, scripts: { build: 'x' } }, 'index.js': '' }),
  ],
  [
    'a package manager',
    text => ({
      'package.json': { packageManager: `pnpm@${text}`, engines: { node: text, pnpm: text }, scripts: { start: 'x' } },
    }),
  ],
  ['a version file', text => ({ 'package.json': { scripts: { start: 'x' } }, '.nvmrc': text, '.node-version': text })],
  ['a Procfile', text => ({ 'app.py': '', Procfile: `web: ${text}` })],
  [
    'a start command for another platform',
    text => ({ 'app.py': '', 'railpack.json': { deploy: { startCommand: text } } }),
  ],
  [
    'a member’s folder',
    text => ({
      'package.json': { workspaces: ['*'], scripts: { start: 'x' } },
      [`${text.replaceAll('/', '')}x/package.json`]: {},
    }),
  ],
  [
    'a local package',
    text => ({
      'package.json': { dependencies: { a: `file:${text}` }, scripts: { start: 'x' } },
      [`${text}/package.json`]: '{}',
    }),
  ],
  [
    'an output folder',
    text => ({
      'package.json': { devDependencies: { vite: '6' }, scripts: { build: `vite build --outDir ${text}` } },
      'vite.config.js': `outDir: '${text}'`,
    }),
  ],
  ['a Staticfile', text => ({ Staticfile: `root: ${json(text)}`, 'index.html': '' })],
  [
    'an Angular project',
    text => ({
      'package.json': { devDependencies: { '@angular/cli': '1' } },
      'angular.json': json({ projects: { [text]: { architect: { build: { options: { outputPath: text } } } } } }),
    }),
  ],
  [
    'an Nx project',
    text => ({
      'package.json': {},
      'nx.json': { defaultProject: text },
      'apps/a/project.json': { name: text, targets: { build: { options: { outputPath: text } } } },
    }),
  ],
  [
    'a Python command',
    text => ({
      'pyproject.toml': `[project]\n[project.scripts]\n${json(text).replaceAll(/\\u[0-9a-f]{4}/g, '')} = "a:b"\n`,
    }),
  ],
  ['a Python file', text => ({ 'requirements.txt': '', [`${text.replaceAll('/', '')}.py`]: '' })],
  [
    'a crate',
    text => ({ 'Cargo.toml': `[package]\nname = ${json(text)}\ndefault-run = ${json(text)}\n`, 'src/main.rs': '' }),
  ],
  ['a Go command', text => ({ 'go.mod': 'module x\n', [`cmd/${text.replaceAll('/', '')}/main.go`]: '' })],
  ['a .NET project', text => ({ [`${text.replaceAll('/', '')}.csproj`]: '<Project/>' })],
  ['an assembly', text => ({ 'a.csproj': `<Project><AssemblyName><![CDATA[${text}]]></AssemblyName></Project>` })],
  [
    'a Maven module',
    text => ({
      'pom.xml': `<p><packaging>pom</packaging><module><![CDATA[${text}]]></module></p>`,
      [`${text}/pom.xml`]: '<p/>',
    }),
  ],
  [
    'a Gradle project',
    text => ({ 'build.gradle': `application\n`, 'settings.gradle': `rootProject.name = '${text}'` }),
  ],
  ['an Elixir application', text => ({ 'mix.exs': `app: :${text}` })],
  [
    'a PHP extension',
    text => ({
      'composer.json': { require: { [`ext-${text}`]: '*', php: text }, extra: { 'public-dir': text } },
      'index.php': '',
    }),
  ],
  ['a Jekyll destination', text => ({ Gemfile: 'gem "jekyll"\n', '_config.yml': `destination: ${json(text)}` })],
  ['a CMake target', text => ({ 'CMakeLists.txt': `add_executable(${text})` })],
  ['a Deno task', text => ({ 'deno.json': { tasks: { start: text, build: text } }, 'main.ts': '' })],
];

const allowed = new Set(['FROM', 'WORKDIR', 'ENV', 'RUN', 'COPY', 'USER', 'EXPOSE', 'CMD']);

describe('what a repository says', () => {
  it.each(places)('in %s adds no instruction', async (_place, files) => {
    await fc.assert(
      fc.asyncProperty(hostile, async text => {
        const shape = await shapeOf(files(text)).catch((fault: { code?: string }) => {
          expect(fault.code).toMatch(/^[A-Z0-9_]+$/);
          return [];
        });
        // Refused, or without anything to start: then there is nothing to get out of.
        if (shape.length === 0) return;
        expect(shape.filter(word => !allowed.has(word))).toEqual([]);
        expect(shape.filter(word => word === 'CMD')).toHaveLength(1);
        expect(shape.at(-1)).toBe('CMD');
        expect(shape.filter(word => word === 'FROM').length).toBeLessThanOrEqual(5);
      }),
      { numRuns: 40 },
    );
  });
});
