import fc from 'fast-check';
import { AnalysisFailure } from '../../src/analysis/analysis-failure.ts';
import { analyze, type Files } from '../support/memory-snapshot.ts';

/** Whatever stands in a file we know: an answer, or a failure with a code. Never a TypeError. */
const json = [
  'package.json',
  'composer.json',
  'deno.json',
  'angular.json',
  'nx.json',
  'turbo.json',
  'app.json',
  'apps/a/project.json',
  'apps/a/package.json',
  'railpack.json',
  'global.json',
];
const yaml = [
  'compose.yaml',
  'pnpm-workspace.yaml',
  'pubspec.yaml',
  'shard.yml',
  'environment.yml',
  'app.yaml',
  '_config.yml',
  'Staticfile',
  'package.yaml',
  'src/main/resources/application.yml',
];
const toml = [
  'pyproject.toml',
  'Cargo.toml',
  'Pipfile',
  'nixpacks.toml',
  'mise.toml',
  'project.toml',
  'hugo.toml',
  'rust-toolchain.toml',
  'crates/a/Cargo.toml',
];
const text = [
  'Procfile',
  'Dockerfile',
  'Gemfile',
  'Gemfile.lock',
  'requirements.txt',
  'go.mod',
  'mix.exs',
  'build.gradle',
  'settings.gradle',
  '.env.example',
  'pom.xml',
  'a.csproj',
  'next.config.js',
  'settings.py',
  'main.go',
  '.nvmrc',
];

const keys = fc.constantFrom(
  ...[
    'scripts',
    'start',
    'build',
    'dependencies',
    'devDependencies',
    'workspaces',
    'packages',
    'engines',
    'node',
    'main',
    'name',
    'next',
    'vite',
  ],
  ...[
    'projects',
    'architect',
    'options',
    'outputPath',
    'targets',
    'defaultProject',
    'services',
    'image',
    'ports',
    'environment',
    'require',
  ],
  ...[
    'project',
    'tool',
    'poetry',
    'uv',
    'package',
    'workspace',
    'members',
    'bin',
    'features',
    'tasks',
    'imports',
    'env',
    'root',
    '__proto__',
    'constructor',
  ],
);
const leaf = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom('next', '*', '../x', 'node .', '1.2.3', ''),
);
const tree = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { maxDepth: 5, depthIdentifier: 'tree' },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(keys, tie('value'), { maxKeys: 6 }),
  ),
})).value;

const repository: fc.Arbitrary<Files> = fc.oneof(
  fc.dictionary(fc.constantFrom(...json, ...yaml), tree, { minKeys: 1, maxKeys: 4 }).map(asJson),
  fc
    .dictionary(fc.constantFrom(...toml), fc.array(fc.tuple(keys, leaf), { maxLength: 6 }), { minKeys: 1, maxKeys: 3 })
    .map(asToml),
  fc.dictionary(fc.constantFrom(...json, ...yaml, ...toml, ...text), fc.string({ unit: 'binary', maxLength: 60 }), {
    minKeys: 1,
    maxKeys: 4,
  }),
);

/** JSON is YAML too. */
function asJson(files: Record<string, unknown>): Files {
  return Object.fromEntries(Object.entries(files).map(([name, value]) => [name, JSON.stringify(value)]));
}

function asToml(files: Record<string, [string, unknown][]>): Files {
  const lines = (pairs: [string, unknown][]) =>
    pairs.map(([key, value]) => (value === null ? `[${key}]` : `${key} = ${JSON.stringify(value)}`));
  return Object.fromEntries(Object.entries(files).map(([name, pairs]) => [name, lines(pairs).join('\n')]));
}

test('whatever stands in them, files are answered or refused', async () => {
  await fc.assert(
    fc.asyncProperty(repository, async files => {
      try {
        const result = await analyze(files);
        const seenIn = [...result.findings, ...result.services].map(({ file }) => file);
        expect(seenIn.filter(file => file !== null && !Object.hasOwn(files, file))).toEqual([]);
        expect(result.findings.every(({ reason }) => reason !== '')).toBe(true);
        expect(JSON.parse(JSON.stringify(result))).toEqual(result);
      } catch (fault) {
        if (!(fault instanceof AnalysisFailure)) throw fault;
      }
    }),
    { numRuns: 800 },
  );
});
