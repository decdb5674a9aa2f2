import { aptInstall } from '../../dockerfile/debian.ts';
import { type CacheMount, type Instruction, run } from '../../dockerfile/dockerfile.ts';
import type { Folder } from '../../repository/folder.ts';
import type { BuildPlan } from '../../stack.ts';
import { currentNode } from './node-version.ts';
import { isModernYarn, type NodePackageManager, packageManagerVersion } from './package-manager.ts';
import { PackageManifest } from './package-manifest.ts';

/** The image and the tools a Node build stands on. */
export interface NodeToolchain {
  readonly manager: NodePackageManager;
  readonly isModernYarn: boolean;
  /** Yarn's own way to find packages, without a node_modules: then nothing runs but through Yarn. */
  readonly isPlugAndPlay: boolean;
  readonly buildImage: string;
  readonly runtimeImage: string;
  readonly user: string;
  /** What both the build and the running program need of the system. */
  readonly system: Instruction;
  /** Puts the package manager into an image that lacks it. */
  readonly installManager: Instruction;
  readonly cache: CacheMount;
}

const managers: readonly string[] = ['npm', 'pnpm', 'yarn', 'bun'];

export function toolchainOf(root: Folder, folder: Folder, plan: BuildPlan): NodeToolchain {
  const manager = (managers.includes(plan.packageManager ?? '') ? plan.packageManager : 'npm') as NodePackageManager;
  const modern = manager === 'yarn' && isModernYarn(root);
  const images = manager === 'bun' ? bunImages(root) : nodeImages(folder, plan.languageVersion);
  return {
    ...images,
    manager,
    isModernYarn: modern,
    isPlugAndPlay: modern && !/^nodeLinker:\s{0,4}["']?(?:node-modules|pnpm)/m.test(root.text('.yarnrc.yml') ?? ''),
    user: manager === 'bun' ? 'bun' : 'node',
    system: openssl(folder),
    installManager: installManager(root, manager, modern),
    cache: { id: `${plan.cacheScope}-${manager}`, target: cacheFolder(manager, modern) },
  };
}

function bunImages(root: Folder) {
  const version = /^\d+(?:\.\d+){0,2}$/.exec(packageManagerVersion(root, 'bun') ?? '')?.[0] ?? '1';
  return { buildImage: `oven/bun:${version}`, runtimeImage: `oven/bun:${version}-slim` };
}

/** Exact versions have no "-bookworm" tag when they are older than it; majors that still get fixes do. */
function nodeImages(folder: Folder, wanted: string | null) {
  const version = /^\d+(?:\.\d+){0,2}$/.exec(wanted ?? '')?.[0] ?? currentNode;
  const variant = /^\d+$/.test(version) && Number(version) >= 18 ? '-bookworm' : '';
  const slim = `node:${version}${variant}-slim`;
  return { buildImage: compilesNatively(folder) ? `node:${version}${variant}` : slim, runtimeImage: slim };
}

/** The slim image has no compiler; these packages want one where they have no ready-made binary. */
const compiled = [
  ...['argon2', 'bcrypt', 'better-sqlite3', 'bufferutil', 'canvas', 'couchbase', 'cpu-features', 'farmhash', 'grpc'],
  ...['isolated-vm', 'kerberos', 'leveldown', 'libxmljs', 'libxmljs2', 'nan', 'node-gyp', 'node-pty', 'node-sass'],
  ...['oracledb', 're2', 'serialport', 'sodium-native', 'sqlite3', 'ssh2', 'usb', 'utf-8-validate', 'zeromq'],
];

const compilesNatively = (folder: Folder): boolean => new PackageManifest(folder).usesAny(compiled) !== null;

/** Prisma's engine is linked against OpenSSL, which the slim image leaves out. */
function openssl(folder: Folder): Instruction {
  return new PackageManifest(folder).usesAny(['@prisma/client', 'prisma']) !== null && aptInstall('openssl');
}

function installManager(root: Folder, manager: NodePackageManager, modern: boolean): Instruction {
  const version = packageManagerVersion(root, manager);
  if (manager === 'pnpm') return run(`npm install -g pnpm@${version ?? '10'}`);
  // A repository that carries its own Yarn is started through the Yarn 1 of the image; any other replaces that.
  const carriesYarn = root.hasFolder('.yarn/releases');
  return modern && !carriesYarn && run(`npm install -g --force @yarnpkg/cli-dist@${version ?? '4'}`);
}

function cacheFolder(manager: NodePackageManager, modern: boolean): string {
  if (manager === 'yarn') return modern ? '/root/.yarn/berry/cache' : '/usr/local/share/.cache/yarn';
  return { npm: '/root/.npm', pnpm: '/root/.local/share/pnpm/store', bun: '/root/.bun/install/cache' }[manager];
}
