import { type CompiledLanguage, compiledStack, debian, plainName } from './compiled.stack.ts';

const cpp: CompiledLanguage = {
  language: 'cpp',
  packageManager: 'cmake',
  sign: folder => folder.first(['CMakeLists.txt']),
  signConfidence: 0.7,
  build: () => 'cmake -B /build -GNinja -DCMAKE_BUILD_TYPE=Release . && cmake --build /build',
  start: folder => {
    const text = folder.text('CMakeLists.txt') ?? '';
    const name = /^\s{0,8}add_executable\s{0,4}\(\s{0,20}([\w-]{1,64})/im.exec(text)?.[1];
    const project = /^\s{0,8}project\s{0,4}\(\s{0,20}([\w-]{1,64})/im.exec(text)?.[1];
    return `/build/${name ?? project ?? plainName(folder.repository.name) ?? 'app'}`;
  },
  output: '/build',
  buildImage: debian,
  buildPackages: ['build-essential', 'cmake', 'ninja-build', 'pkg-config', 'libssl-dev'],
  runtimeImage: debian,
  runtimePackages: ['ca-certificates', 'libstdc++6', 'libssl3'],
};

const cppByMeson: CompiledLanguage = {
  ...cpp,
  packageManager: 'meson',
  sign: folder => folder.first(['meson.build']),
  build: () => 'meson setup /build && meson compile -C /build',
  start: folder => {
    const name = /\bexecutable\s{0,4}\(\s{0,20}['"]([\w-]{1,64})['"]/.exec(folder.text('meson.build') ?? '')?.[1];
    return `/build/${name ?? plainName(folder.repository.name) ?? 'app'}`;
  },
  buildPackages: ['build-essential', 'meson', 'ninja-build', 'pkg-config', 'libssl-dev'],
};

export const cppStacks = [compiledStack(cpp), compiledStack(cppByMeson)];
