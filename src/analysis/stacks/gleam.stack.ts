import { fallbackVersion, versionOfTool } from '../declared/versions.ts';
import { candidates } from '../finding.ts';
import { type CompiledLanguage, compiledStack } from './compiled.stack.ts';

const gleam: CompiledLanguage = {
  language: 'gleam',
  packageManager: 'gleam',
  sign: folder => folder.first(['gleam.toml']),
  build: () => 'gleam export erlang-shipment',
  start: () => './build/erlang-shipment/entrypoint.sh run',
  version: folder => candidates(versionOfTool(folder, 'gleam'), fallbackVersion('1.12.0', 'Gleam')),
  install: 'gleam deps download',
  manifests: ['gleam.toml', 'manifest.toml'],
  buildImage: version =>
    `ghcr.io/gleam-lang/gleam:v${/^\d+\.\d+\.\d+$/.exec(version ?? '')?.[0] ?? '1.12.0'}-erlang-alpine`,
  runtimeImage: () => 'erlang:27-alpine',
};

export const gleamStack = compiledStack(gleam);
