import { dockerfileOf } from './declared/container-files.ts';
import type { Folder } from './repository/folder.ts';
import { valueAt } from './repository/plain-values.ts';
import { asides } from './repository/reading-order.ts';
import { signsIn } from './signs.ts';
import { nodeFrameworkOf } from './stacks/node/node-framework.ts';
import { PackageManifest } from './stacks/node/package-manifest.ts';

const mostApps = 50;
const mostHomes = 500;
const deepest = 3;
const manifest =
  /^(?:package\.json|pyproject\.toml|requirements\.txt|Pipfile|manage\.py|go\.mod|Cargo\.toml|Gemfile|composer\.json|pom\.xml|build\.gradle(?:\.kts)?|mix\.exs|deno\.jsonc?|Dockerfile|[^/]+\.(?:cs|fs|vb)proj|pubspec\.yaml|build\.sbt|gleam\.toml|index\.html|index\.php)$/;

/** Folders below that could be deployed on their own: they have a manifest, and something in them starts or is a site. */
export function findApps(root: Folder): Folder[] {
  const homes = homesOf(root);
  const apps = homes.map(path => root.in(path)).filter(isApp);
  return outermost(apps).slice(0, mostApps);
}

/** Where neither the root nor anything below it starts, the nearest folder that has a manifest is the best guess. */
export function nearestApp(root: Folder): Folder | null {
  const byDepth = homesOf(root).sort((a, b) => a.split('/').length - b.split('/').length);
  return byDepth.map(path => root.in(path)).find(folder => signsIn(folder).length > 0) ?? null;
}

function homesOf(root: Folder): string[] {
  const homes = new Set<string>();
  for (const file of root.files) {
    const cut = file.lastIndexOf('/');
    if (cut > 0 && manifest.test(file.slice(cut + 1)) && isCandidate(file.slice(0, cut))) homes.add(file.slice(0, cut));
  }
  return [...homes].sort().slice(0, mostHomes);
}

const sidelined =
  /^\.|example|sample|^(?:vendor|dist|build|target|out|functions|templates|scripts|tools|android|ios|www|htdocs|html|public_html)$/;

function isCandidate(path: string): boolean {
  const names = path.split('/');
  return names.length <= deepest && !names.some(name => asides.has(name) || sidelined.test(name));
}

function isApp(folder: Folder): boolean {
  if (dockerfileOf(folder) !== null) return true;
  const [best] = signsIn(folder);
  if (best === undefined || best.sign.confidence < 0.5) return false;
  const { language } = best.stack;
  if (language === 'node') return isNodeApp(folder);
  return starts(folder, best.stack.describe(folder).startCommand[0]?.confidence ?? 0, language);
}

/** A library may be built and tested with a framework too, but it has a face for those who import it, and no start. */
function isNodeApp(folder: Folder): boolean {
  const manifest = new PackageManifest(folder);
  if (manifest.script('start') !== null) return true;
  const isImported = ['exports', 'main', 'module', 'types', 'bin'].some(
    field => valueAt(manifest.json, field) !== undefined,
  );
  const isWorkedOn = manifest.script('dev') !== null || manifest.script('build') !== null;
  const isConfigured = folder.names.some(name =>
    /^(?:next|nuxt|vite|astro|svelte|remix|react-router)\.config\./.test(name),
  );
  return nodeFrameworkOf(folder).length > 0 && !isImported && (isWorkedOn || isConfigured);
}

/** Libraries have manifests too; what they lack is a beginning. */
function starts(folder: Folder, confidence: number, language: string): boolean {
  if (language === 'static') return folder.has('index.html');
  if (language === 'go') return folder.files.some(file => /^(?:main\.go|cmd\/(?:[^/]+\/)?main\.go)$/.test(file));
  return confidence >= 0.7;
}

/** An application's own parts are not applications beside it. */
function outermost(apps: readonly Folder[]): Folder[] {
  return apps.filter(app => !apps.some(other => other !== app && app.path.startsWith(`${other.path}/`)));
}
