import type { Spot } from './spot.ts';

/** A path of a compose file, from the root of the repository. Nothing outside of it is ever named. */
export function insideRepository(spot: Spot, base: string, written: string): string {
  if (/^(?:[A-Za-z][\w+.-]*:|[\w.-]+@)/.test(written))
    return spot.refuse('must be a folder of the repository, not an address', 'Bring it into the repository.');
  if (/\p{Cc}|\\/u.test(written) || written.length > 1024) return spot.refuse('must be a plain path');
  if (/^[/~]/.test(written)) return spot.refuse('must be a path inside the repository');
  const parts: string[] = [];
  for (const part of `${base}/${written}`.split('/')) {
    if (part === '..' && parts.pop() === undefined) return spot.refuse('leads out of the repository');
    if (part !== '' && part !== '.' && part !== '..') parts.push(part);
  }
  return parts.join('/');
}

export const folderOf = (file: string): string => file.slice(0, Math.max(0, file.lastIndexOf('/')));
