import type { Folder } from '../../repository/folder.ts';

export const gemManifests = ['Gemfile', 'gems.rb'];
export const gemLocks = ['Gemfile.lock', 'gems.locked'];

/** Gems by name, from the lock file where there is one: the Gemfile is a program. */
export function gemsOf(folder: Folder): ReadonlyMap<string, string> {
  const gems = new Map<string, string>();
  for (const file of [...gemManifests, ...gemLocks].filter(name => folder.has(name))) {
    const text = folder.text(file) ?? '';
    const pattern = gemLocks.includes(file)
      ? /^ {2,6}([\w-]{1,100})(?: \(|$|!$)/gm
      : /^\s{0,8}gem\s{1,4}['"]([\w-]{1,100})['"]/gm;
    for (const [, name] of text.matchAll(pattern)) gems.set(name as string, folder.where(file));
  }
  return gems;
}
