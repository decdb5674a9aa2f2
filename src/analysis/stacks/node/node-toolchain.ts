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
  ...['bcrypt', 'better-sqlite3', 'sqlite3', 'canvas', 'argon2', 're2', 'node-sass', 'serialport', 'usb', 'zeromq'],
  ...[
    'isolated-vm',
    'node-pty',
    'sodium-native',
    'libxmljs',
    'libxmljs2',
    'kerberos',
    'couchbase',
    'ssh2',
    'cpu-features',
  ],
  ...[
    'node-gyp',
    'bufferutil',
    'utf-8-validate',
    'oracledb',
    'grpc',
    'leveldown',
    'farmhash',
    'dtrace-provider',
    'nan',
  ],
];

const compilesNatively = (folder: Folder): boolean => new PackageManifest(folder).usesAny(compiled) !== null;

/** Prisma's engine is linked against OpenSSL, which the slim image leaves out. */
function openssl(folder: Folder): Instruction {
  const isNeeded = new PackageManifest(folder).usesAny(['@prisma/client', 'prisma']) !== null;
  return (
    isNeeded &&
    run('apt-get update && apt-get install -y --no-install-recommends openssl && rm -rf /var/lib/apt/lists/*')
  );
}

function installManager(root: Folder, manager: NodePackageManager, modern: boolean): Instruction {
  if (manager === 'pnpm') return run(`npm install -g pnpm@${packageManagerVersion(root, 'pnpm') ?? '10'}`);
  // A repository that carries its own Yarn is started through the Yarn 1 of the image.
  const carriesYarn = root.hasFolder('.yarn/releases');
  return modern && !carriesYarn && run('npm install -g corepack && corepack enable');
}

function cacheFolder(manager: NodePackageManager, modern: boolean): string {
  if (manager === 'yarn') return modern ? '/root/.yarn/berry/cache' : '/usr/local/share/.cache/yarn';
  return { npm: '/root/.npm', pnpm: '/root/.local/share/pnpm/store', bun: '/root/.bun/install/cache' }[manager];
}
