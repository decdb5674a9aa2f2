import { dockerfileOf } from './findings/container-files.ts';
import type { Folder } from './repository/folder.ts';
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

function isCandidate(path: string): boolean {
  const names = path.split('/');
  return (
    names.length <= deepest &&
    !names.some(
      name =>
        name.startsWith('.') ||
        asides.has(name) ||
        /^(?:vendor|dist|build|target|out|functions|node_modules|templates|scripts|tools|android|ios)$/.test(name),
    )
  );
}

function isApp(folder: Folder): boolean {
  if (dockerfileOf(folder) !== null) return true;
  const [best] = signsIn(folder);
  if (best === undefined || best.sign.confidence < 0.5) return false;
  if (best.stack.language !== 'node')
    return starts(folder, best.stack.describe(folder).startCommand[0]?.confidence ?? 0, best.stack.language);
  const manifest = new PackageManifest(folder);
  return nodeFrameworkOf(folder).length > 0 || manifest.script('start') !== null;
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
