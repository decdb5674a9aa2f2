import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/** A fenced block: its language, the words behind it, and what stands in it. A comment `<!-- test: … -->` is one too. */
export interface Block {
  line: number;
  language: string;
  words: string[];
  text: string;
}

export interface Page {
  /** Relative to the root of the repository. */
  path: string;
  text: string;
}

const TOP_PAGES = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'];

/** Every page we publish. */
export function allPages(): Page[] {
  const inDocs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => join('docs', name));
  return [...TOP_PAGES, ...inDocs.sort()].map(readPage);
}

export const readPage = (path: string): Page => ({ path, text: readFileSync(join(ROOT, path), 'utf8') });

export function blocksOf({ text }: Page): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const fence = /^```(\S*)\s*(.*)$/.exec(line);
    const aside = /^<!-- test: (.*) -->$/.exec(line)?.[1];
    if (!open && aside) blocks.push({ line: index + 1, language: 'test', words: aside.split(' '), text: '' });
    else if (open && fence) {
      blocks.push(open);
      open = undefined;
    } else if (open) open.text += `${line}\n`;
    else if (fence)
      open = {
        line: index + 1,
        language: fence[1] ?? '',
        words: (fence[2] ?? '').split(' ').filter(Boolean),
        text: '',
      };
  }
  return blocks;
}

/** The text around the code: where links and headings are. */
export const proseOf = ({ text }: Page): string => text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '``');

/** The names by which a heading can be linked to, as GitHub makes them. */
export function anchorsOf({ text }: Page): Set<string> {
  const headings = text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^#{1,6} (.+)$/gm);
  const anchors = new Set<string>();
  for (const [, heading = ''] of headings) {
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '');
    const name = plain
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    for (let count = 0; ; count += 1) {
      const free = count === 0 ? name : `${name}-${count}`;
      if (anchors.has(free)) continue;
      anchors.add(free);
      break;
    }
  }
  return anchors;
}

/** The rows of the first table whose head has these columns; cells without their backticks. */
export function tableOf({ text, path }: Page, ...columns: string[]): string[][] {
  const lines = text.split('\n');
  const head = lines.findIndex(line => {
    const cells = cellsOf(line);
    return line.startsWith('|') && columns.every(column => cells.includes(column));
  });
  if (head < 0) throw new Error(`${path} has no table with the columns ${columns.join(', ')}`);
  const wanted = columns.map(column => cellsOf(lines[head] as string).indexOf(column));
  const rows: string[][] = [];
  for (const line of lines.slice(head + 2)) {
    if (!line.startsWith('|')) break;
    const cells = cellsOf(line);
    rows.push(wanted.map(index => cells[index] ?? ''));
  }
  return rows;
}

const cellsOf = (line: string): string[] =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map(cell => cell.trim().replace(/^`([^`]*)`$/, '$1'));

export const fromRoot = (path: string): string => relative(ROOT, path);
