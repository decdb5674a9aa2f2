import { copy, type Instruction, isCopyable, run } from '../../dockerfile/dockerfile.ts';
import type { Folder } from '../../repository/folder.ts';
import { objectAt, textAt } from '../../repository/plain-values.ts';
import type { BuildPlan } from '../../stack.ts';
import { runScript } from './node-commands.ts';
import type { NodeToolchain } from './node-toolchain.ts';
import { lockFiles } from './package-manager.ts';
import { PackageManifest } from './package-manifest.ts';
import { workspaceOf } from './workspace.ts';

/** Dependencies first, from the files that name them alone: they are fetched again only when those files change. */
export function installFirst(root: Folder, plan: BuildPlan, toolchain: NodeToolchain): Instruction[] {
  const install = plan.installCommand;
  if (install === null) return [copy(['.'], './')];
  if (!canInstallAlone(root, plan)) return [copy(['.'], './'), run(install, toolchain.cache, ...plan.secrets)];
  const later = laterScripts(root);
  const isSplit = later.length > 0 && !plan.hasOwnInstall;
  return [
    ...manifestCopies(root),
    run(isSplit ? `${install} ${skipScripts(toolchain)}` : install, toolchain.cache, ...plan.secrets),
    copy(['.'], './'),
    ...(isSplit
      ? [run(rebuild(toolchain)), ...later.map(script => run(runScript(toolchain.manager, script), ...plan.secrets))]
      : []),
  ];
}

/** A command of somebody's own may need any file; and names that COPY would misread cannot be picked one by one. */
function canInstallAlone(root: Folder, plan: BuildPlan): boolean {
  const isUnknown = plan.hasOwnInstall && !/^(?:npm|pnpm|yarn|bun) /.test(plan.installCommand ?? '');
  const members = workspaceOf(root)?.members ?? [];
  // Every COPY is a layer, and an image has room for 127.
  const isTooMany = members.length > 60;
  return !isUnknown && !isTooMany && [...members.map(member => member.path), ...localPackages(root)].every(isCopyable);
}

const beside = [
  ...['package.json', '.npmrc', '.yarnrc', '.yarnrc.yml', 'pnpm-workspace.yaml', '.pnpmfile.cjs', 'bunfig.toml'],
  ...['lerna.json', 'pnpm-lock.yaml', '.pnp.cjs', '.pnp.js', ...lockFiles.map(({ file }) => file)],
];

function manifestCopies(root: Folder): Instruction[] {
  const present = [...new Set(beside)].filter(name => root.has(name));
  const folders = ['.yarn', 'patches', 'prisma'].filter(name => root.hasFolder(name));
  const members = (workspaceOf(root)?.members ?? []).map(member => inside(root, member.path));
  return [
    copy(present, './'),
    ...[...folders, ...localPackages(root)].map(name => copy([name], `./${name}`)),
    ...members.map(path => copy([`${path}/package.json`], `${path}/`)),
  ];
}

const inside = (root: Folder, path: string): string => (root.path === '' ? path : path.slice(root.path.length + 1));

/** "file:../lib" and its like: folders of the repository that are installed as packages. */
function localPackages(root: Folder): string[] {
  const { json } = new PackageManifest(root);
  const named = ['dependencies', 'devDependencies'].flatMap(field => Object.values(objectAt(json, field)));
  const paths = named.flatMap(version =>
    typeof version === 'string' ? (/^(?:file|link|portal):(?:\.\/)?(.+)$/.exec(version)?.[1] ?? []) : [],
  );
  return paths.filter(path => root.hasFolder(path) || root.has(path));
}

/** Scripts of the package itself that run after an install, and want its sources. */
function laterScripts(root: Folder): string[] {
  const scripts = objectAt(new PackageManifest(root).json, 'scripts');
  return ['install', 'postinstall', 'prepare'].filter(name => textAt(scripts, name) !== null);
}

function skipScripts({ isModernYarn }: NodeToolchain): string {
  return isModernYarn ? '--mode=skip-build' : '--ignore-scripts';
}

function rebuild({ manager, isModernYarn }: NodeToolchain): string {
  if (manager === 'yarn') return isModernYarn ? 'yarn rebuild' : 'npm rebuild';
  return manager === 'bun' ? 'bun install' : `${manager} rebuild`;
}
