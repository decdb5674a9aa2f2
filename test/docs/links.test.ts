import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from '@jest/globals';
import { allPages, anchorsOf, type Page, proseOf, ROOT, readPage } from './markdown.ts';

const pages = allPages();

function brokenLinks(page: Page): string[] {
  const links = [...proseOf(page).matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)].map(([, target]) => target as string);
  return links.filter(target => !/^[a-z]+:/.test(target)).filter(target => !leadsSomewhere(page, target));
}

function leadsSomewhere({ path }: Page, target: string): boolean {
  const [file = '', anchor] = target.split('#');
  const aim = file === '' ? path : normalize(join(dirname(path), file));
  if (!existsSync(join(ROOT, aim))) return false;
  return anchor === undefined || anchorsOf(readPage(aim)).has(anchor);
}

test.each(pages.map(page => [page.path, page] as const))('%s has no broken link', (_, page) => {
  expect(brokenLinks(page)).toEqual([]);
});

test('every page is reached from README.md', () => {
  const reached = new Set(['README.md']);
  for (const path of reached) {
    const links = [...proseOf(readPage(path)).matchAll(/\[[^\]]*\]\(([^)#\s]+\.md)[^)]*\)/g)];
    for (const [, target = ''] of links)
      if (!/^[a-z]+:/.test(target)) reached.add(normalize(join(dirname(path), target)));
  }
  expect(pages.map(({ path }) => path).filter(path => !reached.has(path))).toEqual([]);
});
