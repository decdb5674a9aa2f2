import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { analyzeSnapshot } from '../../src/analysis/analyze.ts';
import { FolderSnapshot } from '../../src/analysis/snapshot/folder-snapshot.ts';
import { DOCKER } from './support/docker-program.ts';

type Files = Readonly<Record<string, string>>;

const containers: string[] = [];
const folders: string[] = [];

afterEach(() => {
  for (const container of containers.splice(0)) execFileSync(DOCKER, ['rm', '--force', container]);
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Writes the application, analyses it, builds the generated Dockerfile and starts what came of it. */
async function run(name: string, files: Files): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), `slipway-${name}-`));
  folders.push(folder);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const { generatedDockerfile, generatedDockerignore, port } = await analyzeSnapshot(new FolderSnapshot(folder), {
    name,
  });
  writeFileSync(join(folder, 'slipway.Dockerfile'), generatedDockerfile ?? '');
  writeFileSync(join(folder, 'slipway.Dockerfile.dockerignore'), generatedDockerignore ?? '');
  const tag = `slipway-lab-${name}`;
  const build = ['build', '--quiet', '--file', join(folder, 'slipway.Dockerfile'), '--tag', tag, folder];
  execFileSync(DOCKER, build, {
    env: { ...process.env, DOCKER_BUILDKIT: '1' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const started = execFileSync(DOCKER, ['run', '--detach', tag]).toString().trim();
  containers.push(started);
  // One that ended at once would be asked for ever: say why instead.
  await pause(500);
  const state = execFileSync(DOCKER, ['inspect', '--format', '{{.State.Running}}', started]).toString().trim();
  if (state !== 'true') throw new Error(execFileSync(DOCKER, ['logs', started], { stdio: 'pipe' }).toString());
  const address = execFileSync(DOCKER, ['inspect', '--format', '{{.NetworkSettings.IPAddress}}', started])
    .toString()
    .trim();
  return `http://${address}:${port}`;
}

/** Asks until it answers: a container that has started has not begun to listen yet. */
async function get(url: string): Promise<{ status: number; text: string }> {
  for (let tries = 0; ; tries += 1) {
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(5000) });
      return { status: response.status, text: await response.text() };
    } catch (error) {
      if (tries === 50) throw error;
      await pause(100);
    }
  }
}

describe('an image built from a generated Dockerfile answers over HTTP', () => {
  test('Node with npm and a dependency', async () => {
    const url = await run('node', {
      'package.json': JSON.stringify({
        name: 'hello',
        scripts: { start: 'node server.js' },
        dependencies: { ms: '2.1.3' },
      }),
      'server.js': `require('http').createServer((_, res) => res.end('node ' + require('ms')(60000) + ' ' + process.getuid())).listen(process.env.PORT || 3000)`,
    });
    expect(await get(url)).toEqual({ status: 200, text: 'node 1m 1000' });
  });

  test('Python without dependencies', async () => {
    const url = await run('python', {
      'requirements.txt': '',
      Procfile: 'web: python app.py\n',
      'app.py': [
        'import os',
        'from http.server import BaseHTTPRequestHandler, HTTPServer',
        'class Hello(BaseHTTPRequestHandler):',
        '    def do_GET(self):',
        '        self.send_response(200); self.end_headers(); self.wfile.write(b"python")',
        "HTTPServer(('0.0.0.0', int(os.environ.get('PORT', 8000))), Hello).serve_forever()",
      ].join('\n'),
    });
    expect(await get(url)).toEqual({ status: 200, text: 'python' });
  });

  test('a static site, and a page of its own for what is not there', async () => {
    const url = await run('static', { 'index.html': '<h1>static</h1>', '404.html': 'lost' });
    expect(await get(url)).toEqual({ status: 200, text: '<h1>static</h1>' });
    expect(await get(`${url}/nowhere`)).toEqual({ status: 404, text: 'lost' });
  });

  test('a single page application gets its page for every path', async () => {
    const url = await run('spa', {
      'package.json': JSON.stringify({
        name: 'spa',
        scripts: { build: 'node build.js' },
        devDependencies: { vite: '7.0.0' },
      }),
      'vite.config.js': 'export default {}',
      'index.html': '<div id="root"></div>',
      'build.js': `require('fs').mkdirSync('dist', { recursive: true }); require('fs').writeFileSync('dist/index.html', 'spa')`,
    });
    expect(await get(`${url}/deep/link`)).toEqual({ status: 200, text: 'spa' });
  });
});
