import { objectAt } from '../repository/plain-values.ts';
import { type CompiledLanguage, compiledStack, debian, plainName } from './compiled.stack.ts';

const haskell: CompiledLanguage = {
  language: 'haskell',
  packageManager: 'stack',
  sign: folder =>
    folder.first(['stack.yaml', 'package.yaml']) ?? folder.names.find(name => name.endsWith('.cabal')) ?? null,
  build: () => 'stack build --copy-bins --local-bin-path /app/bin',
  start: folder => {
    const hpack = folder.has('package.yaml') ? folder.yaml('package.yaml') : null;
    const cabal = folder.names.find(name => name.endsWith('.cabal'));
    const executable = /^executable\s{1,4}([\w-]{1,100})/m.exec(folder.text(cabal ?? '') ?? '')?.[1];
    const name = plainName(Object.keys(objectAt(hpack, 'executables'))[0]) ?? executable;
    return name === undefined ? null : `./bin/${name}`;
  },
  cacheFolder: '/root/.stack',
  buildImage: () => 'haskell:9',
  runtimeImage: debian,
  runtimePackages: ['ca-certificates', 'libgmp10'],
};

export const haskellStack = compiledStack(haskell);
