import { type Candidates, candidates, type Found, found } from '../../finding.ts';
import type { Folder } from '../../repository/folder.ts';
import { type NodeFramework, nodeBundlers, nodeFrameworks, nodeServers } from './node-frameworks.ts';
import { PackageManifest } from './package-manifest.ts';
import { isDevelopmentServer, servesBuiltFiles } from './start-scripts.ts';

/** A bundler beside a server is that server's asset pipeline if the start script says so, and the site itself otherwise. */
export function nodeFrameworkOf(folder: Folder): Candidates<NodeFramework> {
  const manifest = new PackageManifest(folder);
  const pages = signsOf(nodeFrameworks, folder, manifest);
  const servers = signsOf(nodeServers, folder, manifest);
  const bundlers = signsOf(nodeBundlers, folder, manifest).filter(sign => isBundling(sign.value, folder, manifest));
  const comesFirst = bundlers[0]?.value.serving === 'server' || !startsOwnServer(manifest);
  return candidates(...pages, ...(comesFirst ? [...bundlers, ...servers] : [...servers, ...bundlers]));
}

export function startsOwnServer(manifest: PackageManifest): boolean {
  const start = manifest.command('start');
  return start !== null && !isDevelopmentServer(start) && !servesBuiltFiles(start);
}

function signsOf(table: readonly NodeFramework[], folder: Folder, manifest: PackageManifest): Found<NodeFramework>[] {
  return table.flatMap(framework => signOf(framework, folder, manifest) ?? []);
}

function signOf(framework: NodeFramework, folder: Folder, manifest: PackageManifest): Found<NodeFramework> | null {
  const dependency = manifest.usesAny(framework.packages);
  if (dependency !== null) {
    const confidence = manifest.runsWith(dependency) ? 0.97 : 0.93;
    return found(framework, manifest.file, `package.json depends on ${dependency}`, confidence);
  }
  const file = folder.first(framework.files ?? []);
  return file === null ? null : found(framework, folder.where(file), `${file} configures ${framework.name}`, 0.9);
}

/** Vite also comes along for tests and libraries: then neither a page nor a script builds with it. */
function isBundling(framework: NodeFramework, folder: Folder, manifest: PackageManifest): boolean {
  if (framework.name !== 'vite') return true;
  const hasPage = folder.has('index.html') || folder.names.some(name => name.startsWith('vite.config.'));
  return hasPage || ['build', 'dev', 'start'].some(script => /\bvite\b/.test(manifest.command(script) ?? ''));
}
