import { buildStep } from '../dockerfile/build-step.ts';
import { copy, dockerfile, from, run, workdir } from '../dockerfile/dockerfile.ts';
import { serveSite, siteFolder } from '../dockerfile/site.dockerfile.ts';
import { candidates, type Found, found } from '../finding.ts';
import type { Folder } from '../repository/folder.ts';
import { textAt } from '../repository/plain-values.ts';
import { noFacts, type Stack } from '../stack.ts';

/** Hugo and Zola: a program of its own turns pages into a site, and no language is to be seen. */
interface Generator {
  readonly name: string;
  readonly build: string;
  readonly image: string;
  /** The key by which its settings tell where the site is written. */
  readonly outputKey: string;
}

const hugo: Generator = {
  name: 'hugo',
  build: 'hugo --gc --minify',
  image: 'hugomods/hugo:exts',
  outputKey: 'publishDir',
};
const zola: Generator = {
  name: 'zola',
  build: 'zola build',
  image: 'ghcr.io/getzola/zola:v0.21.0',
  outputKey: 'output_dir',
};

export const siteGeneratorStack: Stack = {
  language: 'static',

  sign(folder) {
    const seen = generatorOf(folder);
    return seen && found('static', seen.file, seen.reason, seen.confidence);
  },

  describe(folder) {
    const seen = generatorOf(folder);
    const generator = seen?.value ?? hugo;
    return {
      ...noFacts,
      framework: seen === null ? [] : [found(generator.name, seen.file, seen.reason, seen.confidence)],
      buildCommand: [found(generator.build, seen?.file ?? null, `${generator.name} builds like this`, 0.9)],
      outputDirectory: candidates(
        writtenOutput(folder, generator),
        found('public', null, `${generator.name} writes there by default`, 0.9),
      ),
      isStatic: [found(true, seen?.file ?? null, `${generator.name} builds files`, 0.97)],
    };
  },

  dockerfile(folder, plan) {
    const { path, moving } = siteFolder(plan.outputDirectory ?? 'public');
    const image = plan.framework === 'zola' ? zola.image : hugo.image;
    return dockerfile(
      from(image, 'build'),
      workdir('/app'),
      copy(['.'], './'),
      folder.has('package.json') && plan.framework === 'hugo' && run('npm install'),
      ...buildStep(plan),
      moving,
      ...serveSite({ stage: 'build', path, port: plan.port, isSinglePage: false }),
    );
  },
};

const settings = [
  'hugo.toml',
  'hugo.yaml',
  'hugo.json',
  'config.toml',
  'config.yaml',
  'config.json',
  'config/_default/hugo.toml',
  'config/_default/config.toml',
];

function generatorOf(folder: Folder): Found<Generator> | null {
  const file = folder.first(settings);
  if (file === null) return null;
  const text = folder.text(file) ?? '';
  const isZola = /^base_url\s{0,4}=/m.test(text);
  const isHugo =
    file.includes('hugo.') ||
    (/^['"\s]{0,4}baseURL/im.test(text) &&
      (folder.hasFolder('content') || folder.hasFolder('themes') || folder.hasFolder('layouts')));
  if (isZola) return found(zola, folder.where(file), `${file} configures Zola`, 0.93);
  return isHugo ? found(hugo, folder.where(file), `${file} configures Hugo`, 0.93) : null;
}

function writtenOutput(folder: Folder, { outputKey }: Generator): Found<string> | null {
  const file = folder.first(settings);
  const value = file?.endsWith('.toml') ? textAt(folder.toml(file), outputKey) : null;
  return file && value && /^[\w./-]+$/.test(value) ? found(value, folder.where(file), `${file} names it`, 0.95) : null;
}
