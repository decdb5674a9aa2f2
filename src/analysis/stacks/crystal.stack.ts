import { objectAt, textAt } from '../repository/plain-values.ts';
import { type CompiledLanguage, compiledStack, plainName } from './compiled.stack.ts';

const crystal: CompiledLanguage = {
  language: 'crystal',
  packageManager: 'shards',
  sign: folder => folder.first(['shard.yml']),
  install: 'shards install --production',
  manifests: ['shard.yml', 'shard.lock'],
  build: () => 'shards build --release --production',
  start: folder => {
    const shard = folder.yaml('shard.yml');
    return `./bin/${plainName(Object.keys(objectAt(shard, 'targets'))[0]) ?? plainName(textAt(shard, 'name')) ?? 'app'}`;
  },
  buildImage: () => 'crystallang/crystal:1',
  runtimeImage: () => 'crystallang/crystal:1',
};

export const crystalStack = compiledStack(crystal);
