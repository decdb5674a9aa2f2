import { analyze } from '../support/memory-snapshot.ts';

const pnpmWorkspace = {
  'package.json': { private: true, packageManager: 'pnpm@10.1.0' },
  'pnpm-workspace.yaml': 'packages:\n  - apps/*\n  - packages/*\n  - "!packages/old"\n',
  'pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
  'packages/ui/package.json': { name: '@shop/ui', scripts: { build: 'tsc' } },
  'packages/old/package.json': { name: 'old' },
  'apps/web/package.json': {
    name: 'web',
    dependencies: { next: '15', '@shop/ui': 'workspace:*' },
    scripts: { build: 'next build', start: 'next start' },
  },
  'apps/api/package.json': { name: 'api', dependencies: { fastify: '5' }, scripts: { start: 'node server.js' } },
};

describe('monorepos', () => {
  it('finds every application and no library', async () => {
    const { apps, language, packageManager, warnings } = await analyze(pnpmWorkspace);
    expect({ language, packageManager }).toEqual({ language: 'node', packageManager: 'pnpm' });
    expect(apps.map(({ directory, framework }) => [directory, framework])).toEqual([
      ['apps/api', 'fastify'],
      ['apps/web', 'nextjs'],
    ]);
    expect(warnings.map(({ code }) => code)).toContain('SEVERAL_APPS');
  });

  it('builds a member from the root, after what it needs', async () => {
    const web = await analyze(pnpmWorkspace, { rootDirectory: 'apps/web' });
    expect(web).toMatchObject({
      directory: 'apps/web',
      contextDirectory: '',
      packageManager: 'pnpm',
      installCommand: 'pnpm install --frozen-lockfile',
      buildCommand: 'pnpm --filter @shop/ui run build && pnpm --filter web run build',
      startCommand: 'pnpm run start',
    });
    expect(web.generatedDockerfile).toContain('COPY packages/ui/package.json packages/ui/\n');
    expect(web.generatedDockerfile).not.toContain('packages/old');
    expect(web.generatedDockerfile).toContain('WORKDIR /app/apps/web\n');
  });

  it('lets Turborepo order the builds', async () => {
    const files = { ...pnpmWorkspace, 'turbo.json': {} };
    expect(await analyze(files, { rootDirectory: 'apps/web' })).toMatchObject({
      buildCommand: 'npx turbo run build --filter=web',
    });
  });

  it('takes the only application of a workspace that has none of its own', async () => {
    const { 'apps/api/package.json': _api, ...files } = pnpmWorkspace;
    expect(await analyze(files)).toMatchObject({
      directory: 'apps/web',
      framework: 'nextjs',
      startCommand: 'pnpm run start',
    });
  });

  it('takes a folder of its own for what it is', async () => {
    const files = {
      'backend/requirements.txt': 'flask\ngunicorn\n',
      'backend/app.py': '',
      'frontend/package.json': { dependencies: { 'react-scripts': '5' }, scripts: { build: 'react-scripts build' } },
    };
    const result = await analyze(files);
    expect(result).toMatchObject({ language: 'python', directory: 'backend', contextDirectory: 'backend' });
    expect(result.apps.map(({ directory, builder }) => [directory, builder])).toEqual([
      ['backend', 'GENERATED'],
      ['frontend', 'STATIC'],
    ]);
  });

  it('takes the project that Nx means by default', async () => {
    const target = {
      options: { outputPath: 'dist/apps/api', main: 'apps/api/src/main.ts' },
      configurations: { production: {} },
    };
    const result = await analyze({
      'package.json': { scripts: { start: 'nx serve', build: 'nx build' } },
      'nx.json': { defaultProject: 'api' },
      'apps/api/project.json': { projectType: 'application', targets: { build: target } },
      'apps/web/project.json': { projectType: 'application', targets: {} },
    });
    expect(result).toMatchObject({
      buildCommand: 'npx nx run api:build:production',
      startCommand: 'node dist/apps/api/main.js',
    });
  });

  it('leaves samples, tests and tools alone', async () => {
    const app = { scripts: { start: 'node .' } };
    const { apps } = await analyze({
      'package.json': app,
      'examples/a/package.json': app,
      'test/b/package.json': app,
      'docs/package.json': app,
    });
    expect(apps).toEqual([]);
  });

  it('is not spoilt by one broken manifest', async () => {
    const result = await analyze({ ...pnpmWorkspace, 'apps/broken/package.json': '{"scripts":' });
    expect(result.apps).toHaveLength(2);
    expect(result.warnings).toContainEqual({
      code: 'FILE_MALFORMED',
      file: 'apps/broken/package.json',
      message: 'apps/broken/package.json could not be understood',
    });
  });

  it('lays settings over the application that was taken', async () => {
    const files = { 'backend/app.py': '', 'backend/requirements.txt': 'flask\n' };
    const result = await analyze(files, { settings: { startCommand: 'flask run' } });
    expect(result).toMatchObject({ directory: 'backend', startCommand: 'flask run' });
  });

  it('is analysed in part where the whole is too much', async () => {
    const others = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`data/f${at}`, '']));
    const limits = { entries: 200 };
    await expect(analyze({ ...pnpmWorkspace, ...others }, { limits })).rejects.toMatchObject({
      code: 'TOO_MANY_FILES',
    });
    const part = await analyze({ ...pnpmWorkspace, ...others }, { limits, rootDirectory: 'apps/web' });
    expect(part).toMatchObject({ framework: 'nextjs', packageManager: 'pnpm', contextDirectory: '' });
  });

  it('says what a clone would leave out', async () => {
    const files = { 'index.html': '', '.gitmodules': '', '.gitattributes': '*.png filter=lfs diff=lfs\n' };
    expect((await analyze(files)).warnings.map(({ code }) => code)).toEqual(['SUBMODULES', 'LARGE_FILES']);
  });

  it.each(['nowhere', '../up', '/etc'])('refuses the root directory %s', async rootDirectory => {
    await expect(analyze(pnpmWorkspace, { rootDirectory })).rejects.toMatchObject({ code: 'ROOT_NOT_FOUND' });
  });
});
