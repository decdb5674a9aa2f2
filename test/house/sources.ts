import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { parseSync } from '@swc/core';
import { ROOT } from '../docs/markdown.ts';

export interface Source {
  /** Relative to the root of the repository. */
  path: string;
  text: string;
}

/** Every file of TypeScript below a folder of the repository. */
export const readSources = (folder: string): Source[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .sort()
    .map(name => join(folder, name))
    .map(path => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

/** What a file imports, in whichever way: files by their path from the root, packages by their name. */
export function importsOf({ path, text }: Source): string[] {
  const found = new Set<string>();
  const { body } = parseSync(text, { syntax: 'typescript', decorators: true, target: 'es2024' });
  walk(body, node => {
    const specifier = specifierOf(node);
    if (specifier !== undefined)
      found.add(specifier.startsWith('.') ? normalize(join(dirname(path), specifier)) : specifier);
  });
  return [...found];
}

interface Node {
  type?: string;
  value?: unknown;
  [name: string]: unknown;
}

function walk(node: unknown, visit: (node: Node) => void): void {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) visit(node as Node);
  for (const part of Object.values(node)) walk(part, visit);
}

const textOf = (node: unknown): string | undefined => {
  const { type, value } = (node ?? {}) as Node;
  return type === 'StringLiteral' ? (value as string) : undefined;
};

/** `import … from`, `export … from`, `import('…')` as a value and as a type. */
function specifierOf(node: Node): string | undefined {
  if (node.type === 'TsImportType') return textOf(node.argument);
  if (node.type !== 'CallExpression') return /^(Im|Ex)port/.test(node.type ?? '') ? textOf(node.source) : undefined;
  const [argument] = node.arguments as { expression: unknown }[];
  return (node.callee as Node).type === 'Import' ? textOf(argument?.expression) : undefined;
}
