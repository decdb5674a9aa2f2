import { firstVersion } from '../../declared/versions.ts';
import { bestOf, candidates, type Found, found } from '../../finding.ts';
import type { Folder } from '../../repository/folder.ts';
import { noFacts, type Stack, type StackFacts } from '../../stack.ts';
import { nodeDockerfile } from './node.dockerfile.ts';
import { buildCommandOf, installCommandOf } from './node-commands.ts';
import { nodeFrameworkOf } from './node-framework.ts';
import { nodePortOf, startCommandOf } from './node-start.ts';
import { nodeVersionOf } from './node-version.ts';
import { nxBuild } from './nx-workspace.ts';
import { outputDirectoryOf } from './output-directory.ts';
import { packageManagerOf } from './package-manager.ts';
import { PackageManifest } from './package-manifest.ts';
import { isStaticSite } from './site-or-server.ts';
import { workspaceOf } from './workspace.ts';

export const nodeStack: Stack = {
  language: 'node',

  sign(folder) {
    if (folder.has('package.json')) return signInManifest(folder);
    const name = folder.first([
      'server.js',
      'index.js',
      'server.mjs',
      'index.mjs',
      'index.ts',
      'server.ts',
      'main.js',
      'app.js',
    ]);
    return name === null ? null : found('node', folder.where(name), `${name} is a program for Node`, 0.35);
  },

  describe: describeNode,
  dockerfile: nodeDockerfile,

  /** Members of a workspace are installed from its root, so that is what the build must see. */
  contextOf: folder => workspaceOf(folder)?.root.path ?? folder.path,
};

/** Beside another language's manifest a package.json is often only its asset pipeline or its tooling. */
function signInManifest(folder: Folder): Found<string> {
  const manifest = new PackageManifest(folder);
  const runs =
    manifest.script('start') !== null || manifest.field('main') !== null || manifest.field('module') !== null;
  const isApplication = nodeFrameworkOf(folder).length > 0 || runs || manifest.workspaces.length > 0;
  const isEmpty = !manifest.hasDependencies && manifest.script('build') === null && !isApplication;
  return found(
    'node',
    manifest.file,
    'package.json is the manifest of a Node package',
    isEmpty ? 0.4 : isApplication ? 0.87 : 0.75,
  );
}

function describeNode(folder: Folder): StackFacts {
  const root = workspaceOf(folder)?.root ?? folder;
  const frameworks = nodeFrameworkOf(folder);
  const framework = bestOf(frameworks);
  const managers = packageManagerOf(root);
  const manager = bestOf(managers) ?? 'npm';
  const isStatic = isStaticSite(folder, framework);
  const isSite = bestOf(isStatic) === true;
  return {
    ...noFacts,
    languageVersion: nodeVersionOf(folder.has('package.json') ? folder : root),
    framework: frameworks.map(({ value, ...rest }) => ({ ...rest, value: value.name })),
    packageManager: managers,
    installCommand: folder.has('package.json') ? installCommandOf(root, manager) : [],
    buildCommand: candidates(nxBuild(folder), ...buildCommandOf(folder, manager, framework)),
    startCommand: isSite ? [] : startCommandOf(folder, manager, framework),
    outputDirectory: isSite && framework !== null ? outputDirectoryOf(folder, framework) : [],
    isStatic,
    port: isSite ? [] : nodePortOf(folder, framework),
    warnings: warningsOf(folder, framework?.name ?? null),
  };
}

function warningsOf(folder: Folder, framework: string | null): StackFacts['warnings'] {
  const manifest = new PackageManifest(folder);
  const version = Number(firstVersion(bestOf(nodeVersionOf(folder)))?.split('.')[0] ?? 99);
  const warnings = [
    version < 20 && {
      code: 'VERSION_UNSUPPORTED',
      message: `Node ${version} no longer gets security fixes`,
      file: nodeVersionOf(folder)[0]?.file ?? null,
    },
    framework === 'sveltekit' &&
      manifest.uses('@sveltejs/adapter-auto') && {
        code: 'ADAPTER_MISSING',
        message: 'adapter-auto does not build for a server of your own: add @sveltejs/adapter-node',
        file: manifest.file,
      },
  ];
  return warnings.filter(warning => warning !== false);
}
