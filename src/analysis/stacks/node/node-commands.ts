import { type Candidates, candidates, type Found, found } from '../../finding.ts';
import type { Folder } from '../../repository/folder.ts';
import type { NodeFramework } from './node-frameworks.ts';
import { isModernYarn, lockFiles, type NodePackageManager } from './package-manager.ts';
import { PackageManifest } from './package-manifest.ts';
import { type Workspace, workspaceOf } from './workspace.ts';

export const runScript = (manager: NodePackageManager, script: string): string => `${manager} run ${script}`;

/** With a lock file exactly what it says is installed, or the build stops; without one there is nothing to hold on to. */
export function installCommandOf(root: Folder, manager: NodePackageManager): Candidates<string> {
  const lock = lockFiles.find(({ file, manager: owner }) => owner === manager && root.has(file));
  const manifest = new PackageManifest(root).file;
  if (lock === undefined) return [found(`${manager} install`, manifest, 'there is no lock file to hold on to', 0.8)];
  return [found(frozenInstall(root, manager), root.where(lock.file), 'exactly what the lock file says', 0.95)];
}

function frozenInstall(root: Folder, manager: NodePackageManager): string {
  if (manager === 'npm') return 'npm ci';
  if (manager === 'yarn' && isModernYarn(root)) return 'yarn install --immutable';
  return `${manager} install --frozen-lockfile`;
}

export function buildCommandOf(
  folder: Folder,
  manager: NodePackageManager,
  framework: NodeFramework | null,
): Candidates<string> {
  const manifest = new PackageManifest(folder);
  const workspace = workspaceOf(folder);
  const isMember = workspace !== null && workspace.root.path !== folder.path;
  return candidates(
    isMember && buildWithTurbo(workspace, manifest),
    isMember && buildWithMembers(workspace, folder, manager),
    scriptOf(manifest, manager, 'build'),
    heroku(manifest, manager),
    framework?.build ? found(framework.build, null, `${framework.name} is built like this`, 0.8) : null,
  );
}

function scriptOf(manifest: PackageManifest, manager: NodePackageManager, script: string): Found<string> | null {
  const isThere = manifest.script(script) !== null;
  return isThere ? found(runScript(manager, script), manifest.file, `package.json has a ${script} script`, 0.97) : null;
}

/** Other platforms' names for a script that only a deployment runs. */
function heroku(manifest: PackageManifest, manager: NodePackageManager): Found<string> | null {
  return scriptOf(manifest, manager, 'heroku-postbuild') ?? scriptOf(manifest, manager, 'gcp-build');
}

/** A name that a shell and every package manager read as itself. */
export const isPlainPackageName = (name: string | null): name is string =>
  /^(?:@[\w.-]+\/)?[\w.-]{1,128}$/.test(name ?? '');

function buildWithTurbo({ root }: Workspace, manifest: PackageManifest): Found<string> | null {
  if (!root.has('turbo.json') || !isPlainPackageName(manifest.name) || manifest.script('build') === null) return null;
  return found(
    `npx turbo run build --filter=${manifest.name}`,
    root.where('turbo.json'),
    'Turborepo orders the builds',
    0.95,
  );
}

/** The packages it needs from its own workspace are built first, in their order. */
function buildWithMembers(workspace: Workspace, folder: Folder, manager: NodePackageManager): Found<string> | null {
  const manifest = new PackageManifest(folder);
  const byName = new Map(
    workspace.members.map(member => new PackageManifest(member)).map(member => [member.name, member]),
  );
  const steps = inBuildOrder(manifest, byName).filter(member => member.script('build') !== null);
  if (steps.length === 0 || !steps.every(step => isPlainPackageName(step.name))) return null;
  const command = steps.map(step => inMember(manager, step.name as string, 'build')).join(' && ');
  return found(command, manifest.file, 'package.json has a build script', 0.93);
}

function inBuildOrder(
  manifest: PackageManifest,
  members: ReadonlyMap<string | null, PackageManifest>,
  seen = new Set<string>(),
): PackageManifest[] {
  const needed = [...members.keys()].filter(name => name !== null && manifest.uses(name) && !seen.has(name));
  const before = needed.flatMap(name => {
    const member = members.get(name);
    if (name === null || member === undefined || seen.has(name)) return [];
    seen.add(name);
    return inBuildOrder(member, members, seen);
  });
  return [...before, manifest];
}

function inMember(manager: NodePackageManager, name: string, script: string): string {
  if (manager === 'npm') return `npm run ${script} --workspace=${name}`;
  if (manager === 'yarn') return `yarn workspace ${name} run ${script}`;
  return manager === 'pnpm' ? `pnpm --filter ${name} run ${script}` : `bun run --filter ${name} ${script}`;
}
