/** What was seen in place of each `<name>`. */
export type Seen = Map<string, string>;

const HOLE = /(<[a-z]\w*>|…)/i;

/**
 * Compares what a page shows with what happened. In shown text `…` stands for anything, and `<name>` for something that the
 * page speaks of later. An object has exactly the shown keys unless one of them is `…`; a list ends where it ends unless by `…`.
 * Returns the places that differ.
 */
export function differences(shown: unknown, real: unknown, seen: Seen, place = 'answer'): string[] {
  if (typeof shown === 'string' && HOLE.test(shown)) return differentText(shown, real, seen, place);
  if (Array.isArray(shown)) return differentList(shown, real, seen, place);
  if (typeof shown === 'object' && shown !== null) return differentObject(shown, real, seen, place);
  return shown === real ? [] : [`${place}: the page says ${JSON.stringify(shown)}, it was ${JSON.stringify(real)}`];
}

export function fill(text: string, seen: Seen): string {
  return text.replace(/<([a-z]\w*)>/gi, (hole, name: string) => seen.get(name) ?? hole);
}

function differentText(shown: string, real: unknown, seen: Seen, place: string): string[] {
  if (shown === '…') return [];
  const names = new Set<string>();
  const pattern = shown
    .split(HOLE)
    .map(part => {
      if (part === '…') return '[^]*?';
      const name = /^<(\w+)>$/.exec(part)?.[1];
      if (name === undefined) return part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
      if (names.has(name)) return `\\k<${name}>`;
      names.add(name);
      return `(?<${name}>[^\\s]+?)`;
    })
    .join('');
  const match = new RegExp(`^${pattern}$`).exec(String(real));
  if (match === null) return [`${place}: the page says ${JSON.stringify(shown)}, it was ${JSON.stringify(real)}`];
  for (const name of names) seen.set(name, match.groups?.[name] ?? '');
  return [];
}

function differentList(shown: unknown[], real: unknown, seen: Seen, place: string): string[] {
  if (!Array.isArray(real)) return [`${place}: the page shows a list, it was ${JSON.stringify(real)}`];
  const isOpen = shown.at(-1) === '…';
  const items = isOpen ? shown.slice(0, -1) : shown;
  const isLong = isOpen ? real.length >= items.length : real.length === items.length;
  if (!isLong) return [`${place}: the page shows ${items.length} items, there were ${real.length}`];
  return items.flatMap((item, index) => differences(item, real[index], seen, `${place}[${index}]`));
}

function differentObject(shown: object, real: unknown, seen: Seen, place: string): string[] {
  if (typeof real !== 'object' || real === null)
    return [`${place}: the page shows an object, it was ${JSON.stringify(real)}`];
  const { '…': rest, ...fields } = shown as Record<string, unknown>;
  const hidden = rest === undefined ? Object.keys(real).filter(name => !(name in fields)) : [];
  return [
    ...hidden.map(name => `${place}.${name}: the page does not show it`),
    ...Object.entries(fields).flatMap(([name, value]) =>
      name in real
        ? differences(value, (real as Record<string, unknown>)[name], seen, `${place}.${name}`)
        : [`${place}.${name}: the page shows it, but it is absent`],
    ),
  ];
}
