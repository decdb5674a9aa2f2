import { fallbackVersion, firstVersion, versionInFile, versionOfTool } from '../../declared/versions.ts';
import { type Candidates, candidates, type Found, found } from '../../finding.ts';
import type { Folder } from '../../repository/folder.ts';
import { PackageManifest } from './package-manifest.ts';

export const currentNode = '24';

/** Node's names for its long-term versions, as nvm takes them. */
const codenames: Readonly<Record<string, string>> = { hydrogen: '18', iron: '20', jod: '22', krypton: '24' };

export function nodeVersionOf(folder: Folder): Candidates<string> {
  const manifest = new PackageManifest(folder);
  return candidates(
    inEngines(manifest),
    inVersionFile(folder, '.nvmrc'),
    inVersionFile(folder, '.node-version'),
    versionOfTool(folder, 'node', 'nodejs'),
    inVolta(manifest),
    fallbackVersion(currentNode, 'Node'),
  );
}

function inVersionFile(folder: Folder, name: string): Found<string> | null {
  const alias = /^\s{0,8}(?:lts\/([a-z*]{1,20})|(node|stable|latest))/.exec(folder.text(name) ?? '');
  if (alias === null) return versionInFile(folder, name);
  return found(codenames[alias[1] ?? ''] ?? currentNode, folder.where(name), `${name} names it`, 0.95);
}

function inEngines(manifest: PackageManifest): Found<string> | null {
  const range = manifest.field('engines', 'node');
  const version = range === null ? null : versionInRange(range);
  return version === null ? null : found(version, manifest.file, 'package.json asks for it under engines', 0.95);
}

function inVolta(manifest: PackageManifest): Found<string> | null {
  const version = firstVersion(manifest.field('volta', 'node'));
  return version === null ? null : found(version, manifest.file, 'package.json pins it for Volta', 0.95);
}

/** "20.x" and "^18.2" mean that major; ">=18" is satisfied best by the version supported today. */
function versionInRange(range: string): string | null {
  const alternatives = range.slice(0, 200).split('||');
  const last = alternatives.at(-1)?.trim() ?? '';
  const isOpenEnded = /^>/.test(last) && !last.includes('<') && !/\s-\s/.test(last);
  const lowest = firstVersion(last);
  if (lowest === null) return null;
  if (isOpenEnded) return Number(lowest.split('.')[0]) > Number(currentNode) ? lowest : currentNode;
  const isExact = /^v?\d+\.\d+\.\d+$/.test(last);
  const below = /<\s{0,3}(\d{1,3})/.exec(last)?.[1];
  if (/^>/.test(last) && below !== undefined) return newestBelow(Number(below), lowest);
  return isExact ? lowest : (lowest.split('.')[0] ?? null);
}

/** Even majors are the supported ones. */
function newestBelow(limit: number, lowest: string): string {
  const newest = Math.min(limit - 1, Number(currentNode));
  const even = newest % 2 === 0 ? newest : newest - 1;
  return String(Math.max(even, Number(lowest.split('.')[0])));
}
