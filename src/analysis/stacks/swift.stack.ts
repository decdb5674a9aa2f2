import { fallbackVersion, majorMinor, versionInFile } from '../declared/versions.ts';
import { candidates, found } from '../finding.ts';
import type { Folder } from '../repository/folder.ts';
import { type CompiledLanguage, compiledStack, debian } from './compiled.stack.ts';

const swift: CompiledLanguage = {
  language: 'swift',
  packageManager: 'swiftpm',
  sign: folder => folder.first(['Package.swift']),
  install: 'swift package resolve',
  manifests: ['Package.swift', 'Package.resolved'],
  build: () => 'swift build -c release --static-swift-stdlib',
  start: folder => `./.build/release/${swiftProgram(folder)}`,
  framework(folder) {
    const text = `${folder.text('Package.swift') ?? ''}${folder.text('Package.resolved') ?? ''}`;
    const isVapor = /vapor/i.test(text) || folder.files.includes('Sources/App/configure.swift');
    return isVapor ? [found('vapor', folder.where('Package.swift'), 'it is built with Vapor', 0.9)] : [];
  },
  version: folder => candidates(versionInFile(folder, '.swift-version'), fallbackVersion('6.1', 'Swift')),
  buildImage: version => `swift:${majorMinor(/^\d+\.\d+/.exec(version ?? '')?.[0] ?? '6.1')}-bookworm`,
  runtimeImage: debian,
  runtimePackages: ['ca-certificates', 'libcurl4', 'libxml2', 'tzdata'],
};

function swiftProgram(folder: Folder): string {
  const declared = /\.executableTarget\(\s{0,40}name:\s{0,4}"(\w{1,64})"/.exec(folder.text('Package.swift') ?? '')?.[1];
  const withMain = folder.files.flatMap(
    file => /^Sources\/(\w+)\/(?:main|entrypoint)\.swift$/.exec(file)?.[1] ?? [],
  )[0];
  return declared ?? withMain ?? 'App';
}

export const swiftStack = compiledStack(swift);
