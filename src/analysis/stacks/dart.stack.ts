import { found } from '../finding.ts';
import type { Folder } from '../repository/folder.ts';
import { objectAt, textAt } from '../repository/plain-values.ts';
import { type CompiledLanguage, compiledStack, debian, plainName } from './compiled.stack.ts';

const dart: CompiledLanguage = {
  language: 'dart',
  packageManager: 'pub',
  sign: folder => folder.first(['pubspec.yaml']),
  install: 'dart pub get',
  manifests: ['pubspec.yaml', 'pubspec.lock'],
  build: folder => `dart compile exe bin/${dartProgram(folder)}.dart`,
  start: folder => `./bin/${dartProgram(folder)}.exe`,
  framework(folder) {
    const usesFlutter = (file: string) => 'flutter' in objectAt(folder.yaml(file), 'dependencies');
    const file = folder.files.filter(name => /^(?:[\w-]+\/)?pubspec\.yaml$/.test(name)).find(usesFlutter);
    return file === undefined ? [] : [found('flutter', folder.where(file), `${file} asks for Flutter`, 0.95)];
  },
  buildImage: () => 'dart:stable',
  runtimeImage: debian,
};

function dartProgram(folder: Folder): string {
  const named = plainName(textAt(folder.yaml('pubspec.yaml'), 'name'));
  const files = folder.files.flatMap(file => /^bin\/(\w+)\.dart$/.exec(file)?.[1] ?? []);
  return files.find(name => name === named) ?? files[0] ?? named ?? 'main';
}

export const dartStack = compiledStack(dart);
