import { portNumber } from '../../declared/container-files.ts';
import { type Candidates, candidates, type Found, found } from '../../finding.ts';
import type { Folder } from '../../repository/folder.ts';
import { angularBuild } from './angular-workspace.ts';
import { runScript } from './node-commands.ts';
import type { NodeFramework } from './node-frameworks.ts';
import { nxStart } from './nx-workspace.ts';
import type { NodePackageManager } from './package-manager.ts';
import { PackageManifest } from './package-manifest.ts';
import { isDevelopmentServer } from './start-scripts.ts';

export function startCommandOf(
  folder: Folder,
  manager: NodePackageManager,
  framework: NodeFramework | null,
): Candidates<string> {
  const manifest = new PackageManifest(folder);
  const start = manifest.command('start');
  const script =
    start === null ? null : found(runScript(manager, 'start'), manifest.file, 'package.json has a start script', 0.97);
  const isForPublic = start !== null && !isDevelopmentServer(start);
  return candidates(
    nxStart(folder, manager),
    isForPublic && script,
    productionScript(manifest, manager),
    frameworkStart(folder, framework),
    script,
    turboStart(folder),
    mainField(folder, manifest, manager),
    entryFile(folder, manager),
  );
}

function productionScript(manifest: PackageManifest, manager: NodePackageManager): Found<string> | null {
  const name = ['start:prod', 'start:production'].find(script => manifest.script(script) !== null);
  return name ? found(runScript(manager, name), manifest.file, `package.json has a ${name} script`, 0.85) : null;
}

function frameworkStart(folder: Folder, framework: NodeFramework | null): Found<string> | null {
  const start = framework === null ? null : (exceptions[framework.name]?.(folder) ?? framework.start ?? null);
  return start === null ? null : found(start, null, `${framework?.name} is started like this`, 0.85);
}

const exceptions: Readonly<Record<string, (folder: Folder) => string | null>> = {
  // The client's files are given relative to the server's, as TanStack's hosting guide does without Nitro.
  'tanstack-start': folder =>
    new PackageManifest(folder).usesAny(['nitro', 'nitropack', 'vinxi']) === null
      ? 'npx srvx --prod -s ../client dist/server/server.js'
      : null,
  remix: folder => (folder.first(['remix.config.js', 'remix.config.mjs']) ? 'remix-serve build/index.js' : null),
  nuxt: folder => (/^[^\d]{0,2}2\./.test(new PackageManifest(folder).versionOf('nuxt') ?? '') ? 'nuxt start' : null),
  angular: folder => {
    const { project } = angularBuild(folder);
    return project === null ? null : `node dist/${project}/server/server.mjs`;
  },
};

/** Everything at once in one container: the last resort of a workspace that was not told apart. */
function turboStart(folder: Folder): Found<string> | null {
  return folder.has('turbo.json')
    ? found('npx turbo run start', folder.where('turbo.json'), 'Turborepo starts all applications at once', 0.4)
    : null;
}

function mainField(folder: Folder, manifest: PackageManifest, manager: NodePackageManager): Found<string> | null {
  for (const field of ['main', 'module']) {
    const file = manifest.field(field)?.replace(/^\.\//, '') ?? '';
    const isBuilt = manifest.script('build') !== null && /^(?:dist|build|out|lib)\//.test(file);
    const name = [file, `${file}.js`, `${file}/index.js`].find(candidate => folder.has(candidate));
    if (!/^[\w./@-]{1,200}$/.test(file) || file.startsWith('-')) continue;
    if (name !== undefined || isBuilt) {
      return found(`${runtimeOf(manager)} ${file}`, manifest.file, `package.json names it as ${field}`, 0.85);
    }
  }
  return null;
}

const entryNames = ['index', 'server', 'app', 'main', 'src/index', 'src/server', 'src/app', 'src/main', 'bin/www'];
const endings = ['js', 'mjs', 'cjs', 'ts', 'mts'];

function entryFile(folder: Folder, manager: NodePackageManager): Found<string> | null {
  const name = folder.first(['bin/www', ...entryNames.flatMap(entry => endings.map(ending => `${entry}.${ending}`))]);
  return name === null ? null : found(`${runtimeOf(manager)} ${name}`, folder.where(name), `${name} is there`, 0.7);
}

export const runtimeOf = (manager: NodePackageManager): string => (manager === 'bun' ? 'bun' : 'node');

/** A port in plain words: in the start script, or where the program listens. */
export function nodePortOf(folder: Folder, framework: NodeFramework | null): Candidates<number> {
  const manifest = new PackageManifest(folder);
  const script = /(?:^|\s)(?:-p|--port|PORT)[= ](\d{2,5})\b/.exec(manifest.command('start') ?? '')?.[1];
  const written = portNumber(script ?? '');
  return candidates(
    written === null ? null : found(written, manifest.file, 'the start script names it', 0.95),
    framework === null || framework.serving !== 'either' ? portInProgram(folder) : null,
    found(framework?.port ?? 3000, null, `${framework?.name ?? 'Node'} listens there by default`, 0.7),
  );
}

function portInProgram(folder: Folder): Found<number> | null {
  for (const [name, text] of folder.texts(/^(?:src\/)?(?:index|server|app|main|web|www)\.[cm]?[jt]s$/)) {
    const match =
      /\b(?:env\.PORT|env\[['"]PORT['"]\])\)?\s{0,4}(?:\|\||\?\?)\s{0,4}['"]?(\d{2,5})\b/.exec(text) ??
      /\.listen\(\s{0,4}(\d{2,5})\b/.exec(text);
    const port = portNumber(match?.[1] ?? '');
    if (port !== null) return found(port, folder.where(name), 'the program listens there', 0.9);
  }
  return null;
}
