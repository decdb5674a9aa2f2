import { type Candidates, candidates, type Found, found } from '../../finding.ts';
import type { Folder } from '../../repository/folder.ts';
import { textAt } from '../../repository/plain-values.ts';
import { PackageManifest } from './package-manifest.ts';

export type NodePackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun';

const known: readonly string[] = ['npm', 'pnpm', 'yarn', 'bun'] satisfies NodePackageManager[];

export const lockFiles: readonly { file: string; manager: NodePackageManager }[] = [
  { file: 'pnpm-lock.yaml', manager: 'pnpm' },
  { file: 'bun.lock', manager: 'bun' },
  { file: 'bun.lockb', manager: 'bun' },
  { file: 'yarn.lock', manager: 'yarn' },
  { file: 'package-lock.json', manager: 'npm' },
  { file: 'npm-shrinkwrap.json', manager: 'npm' },
];

/** `folder` is where the packages are installed from: the workspace's root for its members. */
export function packageManagerOf(folder: Folder): Candidates<NodePackageManager> {
  const manifest = new PackageManifest(folder);
  return candidates(
    inField(manifest, 'packageManager', manifest.field('packageManager')),
    inField(manifest, 'devEngines', manifest.field('devEngines', 'packageManager', 'name')),
    ...lockFiles.filter(({ file }) => folder.has(file)).map(({ file, manager }) => inLock(folder, file, manager)),
    byConfiguration(folder),
    ...['pnpm', 'bun', 'yarn'].map(name => inEngines(manifest, name)),
    byScripts(manifest),
    found('npm', null, 'nothing names another package manager', 0.7),
  );
}

function inField(manifest: PackageManifest, field: string, text: string | null): Found<NodePackageManager> | null {
  const name = text?.split('@')[0]?.trim() ?? '';
  return known.includes(name)
    ? found(name as NodePackageManager, manifest.file, `the ${field} field of package.json names it`, 0.99)
    : null;
}

const inLock = (folder: Folder, file: string, manager: NodePackageManager): Found<NodePackageManager> =>
  found(manager, folder.where(file), `${file} is its lock file`, 0.97);

function byConfiguration(folder: Folder): Found<NodePackageManager> | null {
  const signs: readonly [string, NodePackageManager][] = [
    ['pnpm-workspace.yaml', 'pnpm'],
    ['.yarnrc.yml', 'yarn'],
    ['.pnp.cjs', 'yarn'],
    ['bunfig.toml', 'bun'],
  ];
  const [file, manager] = signs.find(([name]) => folder.has(name)) ?? [];
  return file && manager ? found(manager, folder.where(file), `${file} is its configuration`, 0.9) : null;
}

function inEngines(manifest: PackageManifest, name: string): Found<NodePackageManager> | null {
  const isNamed = manifest.field('engines', name) !== null || manifest.field('volta', name) !== null;
  return isNamed
    ? found(name as NodePackageManager, manifest.file, `package.json asks for a version of ${name}`, 0.9)
    : null;
}

/** Bun leaves no trace but its own name when nothing was ever installed. */
function byScripts(manifest: PackageManifest): Found<NodePackageManager> | null {
  const start = manifest.script('start') ?? manifest.script('dev') ?? '';
  return /^bunx? /.test(start) ? found('bun', manifest.file, 'its scripts are run by bun', 0.8) : null;
}

/** The exact version, where one is written down. A lock file's own version narrows the rest. */
export function packageManagerVersion(folder: Folder, manager: NodePackageManager): string | null {
  const manifest = new PackageManifest(folder);
  const [, exact] = /^\w+@(\d+\.\d+\.\d+)/.exec(manifest.field('packageManager') ?? '') ?? [];
  if (exact !== undefined && manifest.field('packageManager')?.startsWith(`${manager}@`)) return exact;
  const declared = textAt(manifest.json, 'engines', manager) ?? textAt(manifest.json, 'volta', manager);
  const major = /^[^\d]{0,3}(\d{1,2})/.exec(declared ?? '')?.[1];
  return major ?? versionByLock(folder, manager);
}

function versionByLock(folder: Folder, manager: NodePackageManager): string | null {
  if (manager === 'yarn') return yarnByLock(folder);
  if (manager !== 'pnpm') return null;
  const written = /^lockfileVersion:\s{0,4}'?(\d+)\.(\d+)/m.exec((folder.text('pnpm-lock.yaml') ?? '').slice(0, 2_000));
  const [, format, revision] = written ?? [];
  if (format === '5') return revision === '3' ? '6' : '7';
  if (format === '6') return '8';
  return format === undefined ? null : '10';
}

function yarnByLock(folder: Folder): string | null {
  const format = /^__metadata:\r?\n\s{1,4}version: (\d{1,2})/m.exec(
    (folder.text('yarn.lock') ?? '').slice(0, 2_000),
  )?.[1];
  if (format === undefined) return null;
  return Number(format) >= 8 ? '4' : Number(format) >= 5 ? '3' : '2';
}

/** Yarn from version 2 on is another program: it installs by other options and into another place. */
export function isModernYarn(folder: Folder): boolean {
  const field = new PackageManifest(folder).field('packageManager') ?? '';
  if (field.startsWith('yarn@')) return !field.startsWith('yarn@1.') && !field.startsWith('yarn@0.');
  if (folder.has('.yarnrc.yml')) return true;
  return /^__metadata:/m.test((folder.text('yarn.lock') ?? '').slice(0, 2_000));
}
