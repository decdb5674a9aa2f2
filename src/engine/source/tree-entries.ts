import { lstat, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** One entry of a commit. */
export interface TreeEntry {
  path: string;
  mode: string;
  object: string;
  size: number;
}

export const isFile = ({ mode }: TreeEntry): boolean => mode.startsWith('100');
export const isSubmodule = ({ mode }: TreeEntry): boolean => mode === '160000';

/** `<mode> <type> <object> <size>\t<path>`, with NUL between them; only files have a size. */
export function parseTree(text: string): TreeEntry[] {
  return text.split('\0').flatMap(line => {
    const [, mode, object, size, path] = /^(\d{6}) \w+ ([0-9a-f]+) +(\d+|-)\t(.*)$/s.exec(line) ?? [];
    if (mode === undefined || object === undefined || path === undefined) return [];
    return [{ mode, object, path, size: size === '-' ? 0 : Number(size) }];
  });
}

/** Where a folder of the tree really is, or undefined where that is no folder or outside. Links inside are followed. */
export async function folderInside(tree: string, path: string): Promise<string | undefined> {
  const parts = path.split('/').filter(part => part !== '' && part !== '.');
  if (parts.includes('..')) return undefined;
  try {
    const root = await realpath(tree);
    const real = await realpath(join(root, ...parts));
    const isInside = real === root || real.startsWith(root + sep);
    return isInside && (await lstat(real)).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}

/** Folders on the way to a path that are not plain folders, as far as something is there; a link is none. */
export async function obstacleOn(tree: string, path: string): Promise<string | undefined> {
  const parts = path.split('/');
  for (let length = 1; length < parts.length; length += 1) {
    const above = parts.slice(0, length).join('/');
    const found = await lstat(join(tree, above)).catch(() => undefined);
    if (found === undefined) return undefined;
    if (!found.isDirectory()) return above;
  }
  return undefined;
}
