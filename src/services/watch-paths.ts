/**
 * Whether a change of these files is one of what is watched. Patterns are read as in GitHub's workflows: `*` and `?` stay within a
 * name, `**` goes through folders, a folder means all that is in it, `!` takes out again, and the last that fits counts. Where
 * all of them take out, everything else is watched. No pattern can take long: they come from users, and pushes from anywhere.
 */
export function isWatched(patterns: readonly string[], paths: readonly string[]): boolean {
  const rules = patterns.map(parse);
  const isWatchedAtFirst = rules.every(({ isOut }) => isOut);
  return paths.some(path => {
    const names = path.split('/');
    const last = rules.findLast(({ parts }) => fits(parts, names));
    return last === undefined ? isWatchedAtFirst : !last.isOut;
  });
}

interface Rule {
  parts: string[];
  isOut: boolean;
}

function parse(pattern: string): Rule {
  const isOut = pattern.startsWith('!');
  const parts = pattern
    .slice(isOut ? 1 : 0)
    .split('/')
    .filter(part => part !== '' && part !== '.');
  // What names a folder means all below it; what names a file has nothing below it.
  return { parts: parts.at(-1) === '**' ? parts : [...parts, '**'], isOut };
}

const fits = (parts: readonly string[], names: readonly string[]): boolean =>
  walk(parts, names, '**', (part, name) =>
    walk([...part], [...name], '*', (letter, found) => letter === '?' || letter === found),
  );

/** One star at a time is stretched, and never one before it again: at worst as long as both lengths multiplied. */
function walk(
  pattern: readonly string[],
  items: readonly string[],
  star: string,
  isLike: (wanted: string, found: string) => boolean,
): boolean {
  let [at, item, lastStar, stretched] = [0, 0, -1, 0];
  while (item < items.length) {
    const [wanted, found] = [pattern[at], items[item] ?? ''];
    if (wanted === star) {
      lastStar = at;
      at += 1;
      stretched = item;
    } else if (wanted !== undefined && isLike(wanted, found)) {
      at += 1;
      item += 1;
    } else if (lastStar >= 0) {
      at = lastStar + 1;
      stretched += 1;
      item = stretched;
    } else return false;
  }
  return pattern.slice(at).every(rest => rest === star);
}
