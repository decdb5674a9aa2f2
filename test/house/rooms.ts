import { readPage } from '../docs/markdown.ts';
import { importsOf, type Source } from './sources.ts';

/** The storeys of the house, top first, as CONTRIBUTING.md shows them. */
export function readStoreys(): string[][] {
  const line = /^```text\n(http .*)\n```$/m.exec(readPage('CONTRIBUTING.md').text)?.[1];
  if (line === undefined) throw new Error('CONTRIBUTING.md shows no order of rooms');
  return line.split('›').map(storey => storey.trim().split(' '));
}

/** The composition root sees all; what lies beside it belongs to nobody and knows nobody. */
const isRoof = (path: string) => /^src\/(main|app|app-\w+)\.ts$/.test(path);
const roomOf = (path: string): string | undefined => /^src\/(\w+)(\/|\.ts$)/.exec(path)?.[1];
/** Read by the ORM's configuration alone. */
const APART = 'migrations';

/** Imports that go up, or across a storey, in words. */
export function strayImports(sources: readonly Source[], storeys: readonly string[][]): string[] {
  const floorOf = (room: string) => storeys.findIndex(storey => storey.includes(room));
  return sources
    .filter(({ path }) => !isRoof(path))
    .flatMap(source => importsOf(source).map(imported => [source.path, imported] as const))
    .filter(([path, imported]) => {
      const [from, to] = [roomOf(path), roomOf(imported)];
      if (from === undefined || to === undefined || from === to) return false;
      if (isRoof(imported) || to === APART) return true;
      // Files beside the rooms are the ground: everyone may stand on them, and they stand on each other.
      if (floorOf(to) < 0) return false;
      return floorOf(from) < 0 || floorOf(to) <= floorOf(from);
    })
    .map(([path, imported]) => `${path} imports ${imported}`);
}

/** Rooms that the order does not name, and names of the order that are no rooms. */
export function strangeRooms(sources: readonly Source[], storeys: readonly string[][]): string[] {
  const rooms = new Set(sources.map(({ path }) => /^src\/(\w+)\//.exec(path)?.[1]).filter(room => room !== APART));
  const files = new Set(sources.map(({ path }) => roomOf(path)));
  const named = storeys.flat();
  return [
    ...[...rooms].filter(room => room !== undefined && !named.includes(room)).map(String),
    ...named.filter(room => !files.has(room)),
  ];
}

/** Who may know a package. */
export function knowers(sources: readonly Source[], name: string): string[] {
  const isIt = (imported: string) => imported === name || imported.startsWith(`${name}/`);
  const rooms = sources.filter(source => importsOf(source).some(isIt)).map(({ path }) => roomOf(path) ?? path);
  return [...new Set(rooms)].sort();
}
