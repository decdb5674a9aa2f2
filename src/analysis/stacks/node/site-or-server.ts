import { type Candidates, candidates, type Found, found } from '../../finding.ts';
import type { Folder } from '../../repository/folder.ts';
import { angularBuild } from './angular-workspace.ts';
import { type FrameworkConfig, frameworkConfig, isSetTo } from './framework-config.ts';
import { startsOwnServer } from './node-framework.ts';
import type { NodeFramework } from './node-frameworks.ts';
import { PackageManifest } from './package-manifest.ts';
import { servesBuiltFiles } from './start-scripts.ts';

/** Whether what is built are files to be served, or a program that serves. */
export function isStaticSite(folder: Folder, framework: NodeFramework | null): Candidates<boolean> {
  const manifest = new PackageManifest(folder);
  if (framework === null) return [found(false, manifest.file, 'nothing in it builds a site', 0.85)];
  if (framework.serving === 'server') return [found(false, manifest.file, `${framework.name} is a server`, 0.97)];
  const evidence: Evidence = { folder, manifest, framework };
  return framework.serving === 'files' ? filesUnlessServed(evidence) : bySettings(evidence);
}

interface Evidence {
  readonly folder: Folder;
  readonly manifest: PackageManifest;
  readonly framework: NodeFramework;
}

function filesUnlessServed({ manifest, framework }: Evidence): Candidates<boolean> {
  const files = found(true, manifest.file, `${framework.name} builds a site of files`, 0.95);
  if (!startsOwnServer(manifest)) return [files];
  return candidates(found(false, manifest.file, 'its start script runs a server of its own', 0.85), files);
}

function bySettings(evidence: Evidence): Candidates<boolean> {
  const { manifest, framework } = evidence;
  const said = settingsRules[framework.name]?.(evidence) ?? null;
  return candidates(said, found(false, manifest.file, `${framework.name} renders on the server by default`, 0.85));
}

const says = (isStatic: boolean, file: string | null, reason: string): Found<boolean> =>
  found(isStatic, file, reason, 0.95);

const settingsRules: Readonly<Record<string, (evidence: Evidence) => Found<boolean> | null>> = {
  nextjs({ folder, manifest }) {
    const config = frameworkConfig(folder, 'next\\.config');
    if (isSetTo(config, 'output', 'export')) return says(true, config.file, 'its settings export files');
    return buildsWith(manifest, /\bnext export\b/);
  },
  nuxt({ folder, manifest }) {
    const config = frameworkConfig(folder, 'nuxt\\.config');
    const isExported = isSetTo(config, 'target', 'static') || isSetTo(config, 'preset', 'static');
    return isExported
      ? says(true, config.file, 'its settings ask for a static site')
      : buildsWith(manifest, /\bgenerate\b/);
  },
  astro({ folder, manifest }) {
    const config = frameworkConfig(folder, 'astro\\.config');
    const isServed = isSetTo(config, 'output', 'server') || isSetTo(config, 'output', 'hybrid');
    if (isServed || /\badapter\s{0,4}:/.test(config.text))
      return says(false, config.file, 'its settings name an adapter');
    const adapter = config.text === '' ? manifest.usesAny(['@astrojs/node', '@astrojs/deno']) : null;
    if (adapter !== null) return says(false, manifest.file, `package.json depends on ${adapter}`);
    return says(true, config.file ?? manifest.file, 'Astro builds files unless told otherwise');
  },
  sveltekit({ folder, manifest }) {
    const config = frameworkConfig(folder, 'svelte\\.config');
    if (config.text.includes('adapter-static')) return says(true, config.file, 'its settings use adapter-static');
    const isOnlyAdapter = manifest.uses('@sveltejs/adapter-static') && !manifest.uses('@sveltejs/adapter-node');
    const isUnknown = !config.text.includes('adapter');
    return isOnlyAdapter && isUnknown ? says(true, manifest.file, 'package.json depends on adapter-static') : null;
  },
  remix: evidence => withoutServer(frameworkConfig(evidence.folder, 'vite\\.config'), evidence, '@remix-run/serve'),
  'react-router': evidence =>
    withoutServer(frameworkConfig(evidence.folder, 'react-router\\.config'), evidence, '@react-router/serve'),
  'tanstack-start'({ folder }) {
    const config = frameworkConfig(folder, 'vite\\.config', 'app\\.config');
    return /\bspa\s{0,4}:\s{0,4}\{\s{0,40}enabled\s{0,4}:\s{0,4}true/.test(config.text)
      ? says(true, config.file, 'its settings turn on the single-page mode')
      : null;
  },
  'solidstart-1'({ folder }) {
    const config = frameworkConfig(folder, 'app\\.config', 'vite\\.config');
    return isSetTo(config, 'preset', 'static') ? says(true, config.file, 'its settings ask for a static site') : null;
  },
  angular({ folder, manifest }) {
    const build = angularBuild(folder);
    const server = manifest.usesAny(['@angular/ssr', '@nguniversal/express-engine']);
    if (build.isServed || (server !== null && !build.isPrerendered)) {
      return says(false, build.file ?? manifest.file, 'it is rendered by a server');
    }
    return startsOwnServer(manifest)
      ? null
      : says(true, build.file ?? manifest.file, 'Angular builds files unless told otherwise');
  },
  sapper: ({ manifest }) => buildsWith(manifest, /\bsapper export\b/),
  qwik: ({ folder }) =>
    folder.hasFolder('adapters/static')
      ? says(true, folder.where('adapters/static'), 'it has the static adapter')
      : null,
};

function buildsWith(manifest: PackageManifest, command: RegExp): Found<boolean> | null {
  const build = manifest.command('build') ?? '';
  return command.test(build) ? says(true, manifest.file, `its build script runs ${build.slice(0, 80)}`) : null;
}

/** Single-page mode is one line in the settings; without the line's file, the absence of any server tells the same. */
function withoutServer(config: FrameworkConfig, { manifest }: Evidence, server: string): Found<boolean> | null {
  if (/\bssr\s{0,4}:\s{0,4}false\b/.test(config.text))
    return says(true, config.file, 'its settings turn server rendering off');
  const start = manifest.command('start');
  const hasNoServer = config.text === '' && !manifest.uses(server) && (start === null || servesBuiltFiles(start));
  const hasOwnServer =
    manifest.usesAny(['express', 'hono', 'fastify', '@react-router/express', '@remix-run/express']) !== null;
  return hasNoServer && !hasOwnServer ? found(true, manifest.file, 'nothing in it could serve', 0.7) : null;
}
