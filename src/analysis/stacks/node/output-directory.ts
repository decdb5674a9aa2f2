import { type Candidates, candidates, type Found, found } from '../../finding.ts';
import type { Folder } from '../../repository/folder.ts';
import { objectAt, textAt } from '../../repository/plain-values.ts';
import { angularBuild } from './angular-workspace.ts';
import { frameworkConfig, stringSetting } from './framework-config.ts';
import type { NodeFramework } from './node-frameworks.ts';
import { PackageManifest } from './package-manifest.ts';

/** Where the built files are, as the script, the settings or the framework says. */
export function outputDirectoryOf(folder: Folder, framework: NodeFramework): Candidates<string> {
  const manifest = new PackageManifest(folder);
  return candidates(
    inStaticfile(folder),
    inBuildScript(manifest),
    inSettings(folder, framework.name),
    besideContent(manifest, framework.name),
    framework.output ? found(framework.output, null, `${framework.name} writes there by default`, 0.9) : null,
  );
}

function inStaticfile(folder: Folder): Found<string> | null {
  const root = folder.has('Staticfile') ? textAt(folder.yaml('Staticfile'), 'root') : null;
  return root === null ? null : found(tidy(root), folder.where('Staticfile'), 'the Staticfile names its root', 0.97);
}

function inBuildScript(manifest: PackageManifest): Found<string> | null {
  const build = manifest.command('build') ?? '';
  const written = /\s(?:--outDir|--out-dir|--dist-dir|--output-path|--output|--dest|-o)[= ]([\w./-]{1,200})/.exec(
    build,
  )?.[1];
  return written ? found(tidy(written), manifest.file, 'the build script names it', 0.95) : null;
}

const settingKeys: Readonly<Record<string, readonly [stem: string, key: string]>> = {
  nextjs: ['next\\.config', 'distDir'],
  vite: ['vite\\.config', 'outDir'],
  'ionic-react': ['vite\\.config', 'outDir'],
  astro: ['astro\\.config', 'outDir'],
  vue: ['vue\\.config', 'outputDir'],
  sveltekit: ['svelte\\.config', 'pages'],
  eleventy: ['(?:\\.eleventy|eleventy\\.config)', 'output'],
  vitepress: ['config', 'outDir'],
};

function inSettings(folder: Folder, framework: string): Found<string> | null {
  if (framework === 'angular') return inAngular(folder);
  if (framework === 'nuxt') return inNuxt(folder);
  if (framework === 'docusaurus') return inDocusaurus(folder);
  if (framework === 'ionic-react' && new PackageManifest(folder).uses('react-scripts'))
    return found('build', null, 'react-scripts writes there', 0.9);
  const [stem, key] = settingKeys[framework] ?? [];
  if (stem === undefined || key === undefined) return null;
  const config = frameworkConfig(folder, stem);
  const written = stringSetting(config, key);
  // A path that climbs out of the application is relative to Vite's own root, which is then not this folder.
  return written === null ? null : found(tidy(written), config.file, `its settings name it as ${key}`, 0.95);
}

function inAngular(folder: Folder): Found<string> | null {
  const { output, file } = angularBuild(folder);
  return output === null ? null : found(tidy(output), file, 'angular.json names it', 0.95);
}

/** Nuxt 2 wrote a generated site elsewhere. */
function inNuxt(folder: Folder): Found<string> | null {
  const manifest = new PackageManifest(folder);
  const isOld = /^[^\d]{0,2}2\./.test(manifest.versionOf('nuxt') ?? '');
  return isOld ? found('dist', manifest.file, 'Nuxt 2 writes a generated site there', 0.9) : null;
}

/** Docusaurus 1 adds the project's name to its folder. */
function inDocusaurus(folder: Folder): Found<string> | null {
  if (!folder.has('siteConfig.js')) return null;
  const project = stringSetting(frameworkConfig(folder, 'siteConfig'), 'projectName');
  return project === null
    ? null
    : found(tidy(`build/${project}`), folder.where('siteConfig.js'), 'its settings name the project', 0.9);
}

/** VitePress and VuePress write beside the pages they were pointed at. */
function besideContent(manifest: PackageManifest, framework: string): Found<string> | null {
  if (framework !== 'vitepress' && framework !== 'vuepress') return null;
  const scripts = Object.values(objectAt(manifest.json, 'scripts')).filter(script => typeof script === 'string');
  const build = scripts.find(script => script.includes(`${framework} build`));
  if (build === undefined) return null;
  const pages = new RegExp(`${framework} build ([\\w./-]{1,200})`).exec(build)?.[1] ?? '.';
  return found(tidy(`${pages}/.${framework}/dist`), manifest.file, 'the build script names the pages', 0.95);
}

export function tidy(path: string): string {
  const names = path.split('/').filter(name => name !== '' && name !== '.' && name !== '..');
  return names.join('/') || '.';
}
