import { dockerfile, isCopyable } from '../dockerfile/dockerfile.ts';
import { serveSite } from '../dockerfile/site.dockerfile.ts';
import { type Candidates, candidates, found } from '../finding.ts';
import type { Folder } from '../repository/folder.ts';
import { textAt, valueAt } from '../repository/plain-values.ts';
import { noFacts, type Stack } from '../stack.ts';

const roots = ['public', 'dist', 'site', '_site', 'www', 'html', 'htdocs', 'public_html', 'build', 'docs'];

/** Files that need no building: only somebody to hand them out. */
export const staticStack: Stack = {
  language: 'static',

  sign(folder) {
    const mark = folder.first(['Staticfile', '.static']);
    if (mark !== null) return found('static', folder.where(mark), `${mark} marks a static site`, 0.8);
    if (folder.has('index.html')) return found('static', folder.where('index.html'), 'index.html is at the root', 0.55);
    const root = roots.find(name => folder.has(`${name}/index.html`));
    if (root !== undefined)
      return found('static', folder.where(`${root}/index.html`), `${root}/index.html is there`, 0.3);
    const page = folder.names.find(name => /\.html?$/.test(name));
    return page === undefined ? null : found('static', folder.where(page), `${page} is a page`, 0.25);
  },

  describe: folder => ({
    ...noFacts,
    outputDirectory: rootOf(folder),
    isStatic: [found(true, null, 'there is nothing but files', 0.95)],
  }),

  dockerfile: (folder, plan) =>
    dockerfile(
      ...serveSite({ path: copyable(plan.outputDirectory), port: plan.port, isSinglePage: isSinglePage(folder) }),
    ),
};

function rootOf(folder: Folder): Candidates<string> {
  const written = folder.has('Staticfile') ? textAt(folder.yaml('Staticfile'), 'root') : null;
  const root = roots.find(name => folder.has(`${name}/index.html`));
  return candidates(
    written !== null &&
      found(written.replace(/^\.\//, ''), folder.where('Staticfile'), 'the Staticfile names it', 0.97),
    folder.has('index.html') && found('.', folder.where('index.html'), 'index.html is at the root', 0.9),
    root !== undefined && found(root, folder.where(`${root}/index.html`), `index.html is in ${root}`, 0.85),
    found('.', null, 'the whole folder', 0.5),
  );
}

const copyable = (directory: string | null): string => (directory !== null && isCopyable(directory) ? directory : '.');

const isSinglePage = (folder: Folder): boolean =>
  folder.has('Staticfile') && valueAt(folder.yaml('Staticfile'), 'index_fallback') === true;
