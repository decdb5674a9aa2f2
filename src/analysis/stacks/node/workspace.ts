import { Folder } from '../../repository/folder.ts';
import { textsAt } from '../../repository/plain-values.ts';
import { PackageManifest } from './package-manifest.ts';

/** Packages that are installed together, from the root that says so. */
export interface Workspace {
  readonly root: Folder;
  readonly members: readonly Folder[];
}

/** The workspace this folder is the root or a member of. */
export function workspaceOf(folder: Folder): Workspace | null {
  for (const root of upwards(folder)) {
    const patterns = memberPatterns(root);
    if (patterns.length === 0) continue;
    const members = membersOf(root, patterns);
    const isInside = root.path === folder.path || members.some(member => member.path === folder.path);
    return isInside ? { root, members } : null;
  }
  return null;
}

function upwards(folder: Folder): Folder[] {
  const parts = folder.path === '' ? [] : folder.path.split('/');
  return [...parts.keys(), parts.length]
    .reverse()
    .map(count => new Folder(folder.repository, parts.slice(0, count).join('/')));
}

function memberPatterns(root: Folder): string[] {
  const declared = textsAt(root.has('pnpm-workspace.yaml') ? root.yaml('pnpm-workspace.yaml') : null, 'packages');
  const lerna = root.has('lerna.json') ? textsAt(root.json('lerna.json'), 'packages') : [];
  const own = root.has('package.json') ? new PackageManifest(root).workspaces : [];
  return [declared, own, lerna].find(patterns => patterns.length > 0)?.slice(0, 50) ?? [];
}

function membersOf(root: Folder, patterns: readonly string[]): Folder[] {
  const isMember = patterns.filter(pattern => !pattern.startsWith('!')).map(folderMatcher);
  const isExcluded = patterns
    .filter(pattern => pattern.startsWith('!'))
    .map(pattern => folderMatcher(pattern.slice(1)));
  return root.files
    .filter(file => file.endsWith('/package.json'))
    .map(file => file.slice(0, -'/package.json'.length))
    .filter(path => isMember.some(matches => matches(path)) && !isExcluded.some(matches => matches(path)))
    .map(path => root.in(path));
}

/** "packages/*" and "apps/**": compared name by name and with few "**", since patterns can be written to take for ever. */
export function folderMatcher(pattern: string): (path: string) => boolean {
  const wanted = pattern.split('/').filter(name => name !== '' && name !== '.');
  const isReasonable = wanted.length <= 12 && wanted.filter(name => name === '**').length <= 2;
  return path => isReasonable && matchesFrom(wanted, path.split('/'));
}

function matchesFrom(wanted: readonly string[], names: readonly string[]): boolean {
  const [first, ...rest] = wanted;
  if (first === undefined) return names.length === 0;
  if (first === '**') return names.some((_, at) => matchesFrom(rest, names.slice(at))) || rest.length === 0;
  const [name, ...others] = names;
  return name !== undefined && matchesName(first, name) && matchesFrom(rest, others);
}

function matchesName(pattern: string, name: string): boolean {
  if (!pattern.includes('*')) return pattern === name;
  const [before = '', ...others] = pattern.split('*');
  const after = others.at(-1) ?? '';
  return name.length >= before.length + after.length && name.startsWith(before) && name.endsWith(after);
}
