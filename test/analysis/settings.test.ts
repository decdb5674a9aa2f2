import type { BuildSettings } from '../../src/analysis/build-settings.ts';
import { analyze } from '../support/memory-snapshot.ts';

const files = { 'package.json': { scripts: { start: 'node a.js', build: 'tsc' } }, 'package-lock.json': '{}' };

describe('what a person set', () => {
  it('is final, and the finding stays beside it', async () => {
    const result = await analyze(files, {
      settings: { startCommand: 'node b.js', port: 9000, languageVersion: '22', buildCommand: 'make' },
    });
    expect(result).toMatchObject({
      startCommand: 'node b.js',
      port: 9000,
      languageVersion: '22',
      buildCommand: 'make',
    });
    expect(result.generatedDockerfile).toContain('FROM node:22-bookworm-slim');
    expect(result.generatedDockerfile).toContain('CMD ["node", "b.js"]');
    expect(result.findings.find(({ field }) => field === 'startCommand')).toMatchObject({
      value: 'node b.js',
      file: null,
      confidence: 1,
      alternatives: [{ value: 'npm run start', file: 'package.json' }],
    });
  });

  it('makes a site of what was a server, and back', async () => {
    const site = await analyze(files, { settings: { builder: 'STATIC', outputDirectory: 'out' } });
    expect(site).toMatchObject({ isStatic: true, builder: 'STATIC' });
    expect(site.generatedDockerfile).toContain('COPY --from=build /app/out /srv');
    const vite = { 'package.json': { devDependencies: { vite: '6' } }, 'index.html': '' };
    expect(await analyze(vite, { settings: { startCommand: 'vite preview' } })).toMatchObject({
      isStatic: false,
      builder: 'GENERATED',
    });
  });

  it('chooses another Dockerfile, or ours', async () => {
    const both = { ...files, Dockerfile: 'FROM scratch\n' };
    expect(await analyze(both, { settings: { dockerfile: 'deploy/Dockerfile' } })).toMatchObject({
      dockerfile: 'deploy/Dockerfile',
      builder: 'DOCKERFILE',
    });
    expect((await analyze(both, { settings: { builder: 'GENERATED' } })).generatedDockerfile).toContain('FROM node');
  });

  it('names the caches of its own project', async () => {
    expect((await analyze(files, { cacheScope: 'p-42' })).generatedDockerfile).toContain('id=p-42-npm,');
    expect((await analyze(files, { cacheScope: 'a,target=/etc' })).generatedDockerfile).toContain('id=app-npm,');
  });

  it.each<[string, BuildSettings]>([
    ['a port beyond all ports', { port: 70_000 }],
    ['a folder outside', { outputDirectory: '../x' }],
    ['a folder with a line break', { outputDirectory: 'a\nRUN x' }],
    ['an absolute Dockerfile', { dockerfile: '/etc/passwd' }],
    ['a version with a blank', { languageVersion: '22 AS x' }],
    ['a command with a NUL', { startCommand: 'a\0b' }],
    ['a command without end', { buildCommand: 'x'.repeat(5_000) }],
  ])('is refused if it is %s', async (_what, settings) => {
    await expect(analyze(files, { settings })).rejects.toMatchObject({ code: 'INVALID_SETTING' });
  });
});
