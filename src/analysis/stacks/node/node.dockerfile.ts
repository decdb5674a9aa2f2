import { buildStep } from '../../dockerfile/build-step.ts';
import {
  cmd,
  copy,
  dockerfile,
  env,
  expose,
  from,
  type Instruction,
  run,
  user,
  workdir,
} from '../../dockerfile/dockerfile.ts';
import { serveSite, siteFolder } from '../../dockerfile/site.dockerfile.ts';
import { startWords } from '../../dockerfile/start-words.ts';
import type { Folder } from '../../repository/folder.ts';
import { textAt, valueAt } from '../../repository/plain-values.ts';
import type { BuildPlan } from '../../stack.ts';
import { frameworkConfig, isSetTo } from './framework-config.ts';
import { runScript } from './node-commands.ts';
import { nodeBundlers, nodeFrameworks } from './node-frameworks.ts';
import { installFirst } from './node-install.ts';
import { type NodeToolchain, toolchainOf } from './node-toolchain.ts';
import { PackageManifest } from './package-manifest.ts';
import { workspaceOf } from './workspace.ts';

export function nodeDockerfile(folder: Folder, plan: BuildPlan): string {
  const root = workspaceOf(folder)?.root ?? folder;
  const home = homeOf(root, folder);
  const toolchain = toolchainOf(root, folder, plan);
  const building: Instruction[] = [
    from(toolchain.buildImage, 'build'),
    workdir('/app'),
    env({ ...buildEnvironment(plan, toolchain), PATH: binaries(home) }),
    toolchain.system,
    toolchain.installManager,
    ...installFirst(root, plan, toolchain),
    ...buildSteps(folder, home, plan, toolchain),
  ];
  if (plan.isStatic) return dockerfile(...building, ...site(folder, home, plan));
  return dockerfile(...building, ...prune(folder, root, plan, toolchain), ...runtime(folder, home, plan, toolchain));
}

/** Create React App takes every warning for an error where it sees CI; Yarn's packages must not stay in a cache mount. */
const buildEnvironment = ({ framework }: BuildPlan, { isPlugAndPlay }: NodeToolchain) => ({
  CI: framework === 'create-react-app' ? 'false' : 'true',
  HUSKY: '0',
  NEXT_TELEMETRY_DISABLED: '1',
  YARN_ENABLE_GLOBAL_CACHE: isPlugAndPlay ? 'false' : null,
});

/** Where the application stands in the image. A member keeps its place, since it finds its siblings by it. */
function homeOf(root: Folder, folder: Folder): string {
  const inside = root.path === '' ? folder.path : folder.path.slice(root.path.length + 1);
  return inside === '' || !/^[\w./@+-]+$/.test(inside) ? '/app' : `/app/${inside}`;
}

const binaries = (home: string): string =>
  [...new Set([`${home}/node_modules/.bin`, '/app/node_modules/.bin'])].join(':').concat(':$PATH');

function buildSteps(folder: Folder, home: string, plan: BuildPlan, toolchain: NodeToolchain): Instruction[] {
  const isMember = home !== '/app' && !/(?:--workspace|workspace |--filter|turbo |nx )/.test(plan.buildCommand ?? '');
  const isNext = plan.framework === 'nextjs' || plan.framework === 'blitzjs';
  const caches = isNext ? [{ id: `${plan.cacheScope}-next`, target: `${home}/.next/cache` }] : [];
  return [
    isMember && workdir(home),
    ...buildStep(plan, ...(plan.buildCommand?.startsWith('npx ') ? [toolchain.cache, ...caches] : caches)),
    isStandalone(folder, plan) && run(withAssets(folder, home)),
  ];
}

function site(folder: Folder, home: string, plan: BuildPlan): Instruction[] {
  const inHome = home === '/app' ? '' : `${home.slice('/app/'.length)}/`;
  const { path, moving } = siteFolder(`${inHome}${plan.outputDirectory ?? 'dist'}`);
  return [moving, ...serveSite({ stage: 'build', path, port: plan.port, isSinglePage: isSinglePage(folder, plan) })];
}

function isSinglePage(folder: Folder, plan: BuildPlan): boolean {
  const asked = folder.has('Staticfile') ? valueAt(folder.yaml('Staticfile'), 'index_fallback') : undefined;
  if (typeof asked === 'boolean') return asked;
  return [...nodeFrameworks, ...nodeBundlers].find(({ name }) => name === plan.framework)?.isSinglePage ?? false;
}

function runtime(folder: Folder, home: string, plan: BuildPlan, toolchain: NodeToolchain): Instruction[] {
  const owner = `${toolchain.user}:${toolchain.user}`;
  const standalone = isStandalone(folder, plan);
  const start = standalone ? ['node', 'server.js'] : startWords(ownProgram(folder, plan, toolchain));
  return [
    from(toolchain.runtimeImage, 'runtime'),
    workdir(standalone ? '/app' : home),
    toolchain.system,
    start.some(word => /\b(?:pnpm|yarn)\b/.test(word)) && toolchain.installManager,
    env({ NODE_ENV: 'production', HOST: '0.0.0.0', HOSTNAME: '0.0.0.0', PORT: plan.port, PATH: binaries(home) }),
    copy([standalone ? `${home}/.next/standalone` : '/app'], '/app', { from: 'build', owner }),
    user(toolchain.user),
    expose(plan.port),
    cmd(start),
  ];
}

/** Package managers keep signals to themselves: what the script says is started instead, unless more scripts hang on it. */
function ownProgram(folder: Folder, plan: BuildPlan, { manager, isPlugAndPlay }: NodeToolchain): string {
  const command = plan.startCommand;
  const manifest = new PackageManifest(folder);
  const script = manifest.script('start');
  const isAlone = manifest.script('prestart') === null && manifest.script('poststart') === null && !isPlugAndPlay;
  const isOwn = command === runScript(manager, 'start') && script !== null && script.length <= 4_096;
  return isOwn && isAlone && !/[\p{Cc}]|npm_|\bINIT_CWD\b/u.test(script) ? script : command;
}

/** Next can leave a server with exactly what it needs; its static files have to be put beside it by hand. */
function isStandalone(folder: Folder, plan: BuildPlan): boolean {
  const isAsked =
    plan.framework === 'nextjs' && isSetTo(frameworkConfig(folder, 'next\\.config'), 'output', 'standalone');
  return isAsked && workspaceOf(folder) === null && /^(?:\w+ run start|next start)$/.test(plan.startCommand);
}

function withAssets(folder: Folder, home: string): string {
  const assets = `cp -R ${home}/.next/static ${home}/.next/standalone/.next/static`;
  return folder.hasFolder('public') ? `${assets} && cp -R ${home}/public ${home}/.next/standalone/public` : assets;
}

/** Only where it is plain that the running program needs nothing of what built it. */
function prune(folder: Folder, root: Folder, plan: BuildPlan, toolchain: NodeToolchain): Instruction[] {
  const manifest = new PackageManifest(folder);
  const start = ownProgram(folder, plan, toolchain);
  const devDependencies = Object.keys((valueAt(manifest.json, 'devDependencies') as object | undefined) ?? {});
  const isBuilt = plan.buildCommand !== null && devDependencies.length > 0 && !plan.hasOwnInstall;
  const isPlain = /^node [\w./-]+$/.test(start) && !/\.[cm]?ts$/.test(start);
  const isAlone = root.path === folder.path && workspaceOf(folder) === null && textAt(manifest.json, 'prisma') === null;
  if (!isBuilt || !isPlain || !isAlone || isStandalone(folder, plan)) return [];
  if (toolchain.manager === 'npm') return [run('npm prune --omit=dev --ignore-scripts')];
  return toolchain.manager === 'pnpm' ? [run('pnpm prune --prod --ignore-scripts')] : [];
}
