import type { Folder } from '../repository/folder.ts';
import { type CompiledLanguage, compiledStack, debian } from './compiled.stack.ts';

const cobol: CompiledLanguage = {
  language: 'cobol',
  packageManager: 'cobc',
  sign: folder => folder.files.find(name => /^(?:src\/)?[\w-]+\.cbl$/.test(name)) ?? null,
  build: folder => `cobc -x -o ${cobolProgram(folder).replace(/^.*\/|\.cbl$/g, '')} ${cobolProgram(folder)}`,
  start: folder => `./${cobolProgram(folder).replace(/^.*\/|\.cbl$/g, '')}`,
  buildImage: debian,
  buildPackages: ['gnucobol4'],
  runtimeImage: debian,
  runtimePackages: ['libcob4'],
};

const cobolProgram = (folder: Folder): string =>
  folder.first(['index.cbl', 'src/index.cbl', 'main.cbl', 'src/main.cbl']) ??
  folder.files.find(name => /^(?:src\/)?[\w-]+\.cbl$/.test(name)) ??
  'index.cbl';

export const cobolStack = compiledStack(cobol);
