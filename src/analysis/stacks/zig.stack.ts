import { type CompiledLanguage, compiledStack, plainName } from './compiled.stack.ts';

const zig: CompiledLanguage = {
  language: 'zig',
  packageManager: 'zig',
  sign: folder => folder.first(['build.zig', 'gyro.zzz']) ?? folder.names.find(name => name.endsWith('.zig')) ?? null,
  build: () => 'zig build -Doptimize=ReleaseSafe',
  start: folder => {
    const text = folder.text('build.zig') ?? '';
    const written = /addExecutable\(\s{0,40}(?:\.\{[^}]{0,200}?\.name\s{0,4}=\s{0,4})?"([\w-]{1,64})"/.exec(text)?.[1];
    return `./zig-out/bin/${written ?? plainName(folder.repository.name) ?? 'main'}`;
  },
  buildImage: () => 'alpine:3',
  setUp: 'apk add --no-cache zig',
  runtimeImage: () => 'alpine:3',
};

export const zigStack = compiledStack(zig);
