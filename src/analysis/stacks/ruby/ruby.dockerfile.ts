import { majorMinor } from '../../declared/versions.ts';
import { buildStep } from '../../dockerfile/build-step.ts';
import { addUser, aptInstall } from '../../dockerfile/debian.ts';
import { copy, dockerfile, env, from, type Instruction, run, workdir } from '../../dockerfile/dockerfile.ts';
import { nodeAssetsOf, nodeStage, nodeTools } from '../../dockerfile/node-assets.ts';
import { serve } from '../../dockerfile/serve.ts';
import { serveSite, siteFolder } from '../../dockerfile/site.dockerfile.ts';
import type { Folder } from '../../repository/folder.ts';
import type { BuildPlan } from '../../stack.ts';
import { gemLocks, gemManifests, gemsOf } from './ruby-gems.ts';

export const currentRuby = '3.4';

const production = {
  RAILS_ENV: 'production',
  RACK_ENV: 'production',
  BUNDLE_WITHOUT: 'development:test',
  BUNDLE_PATH: '/usr/local/bundle',
};

export function rubyDockerfile(folder: Folder, plan: BuildPlan): string {
  const version = /^[234]\.\d+(?:\.\d+)?$/.exec(plan.languageVersion ?? '')?.[0] ?? currentRuby;
  const image = `ruby:${majorMinor(version)}-slim-bookworm`;
  const building = buildStage(folder, plan, image);
  if (!plan.isStatic) return dockerfile(...building, ...runtimeStage(folder, plan, image));
  const { path, moving } = siteFolder(plan.outputDirectory ?? '_site');
  return dockerfile(...building, moving, ...serveSite({ stage: 'build', path, port: plan.port, isSinglePage: false }));
}

function buildStage(folder: Folder, plan: BuildPlan, image: string): Instruction[] {
  const assets = nodeAssetsOf(folder);
  return [
    nodeStage(assets !== null),
    from(image, 'build'),
    workdir('/app'),
    env(production),
    aptInstall('build-essential', 'git', 'libyaml-dev', 'pkg-config', ...librariesOf(folder).build),
    ...nodeTools(assets !== null),
    ...gemsFirst(folder, plan),
    ...(assets === null ? [] : [copy(assets.manifests, './'), run(assets.install, ...plan.secrets)]),
    copy(['.'], './'),
    ...buildStep({ ...plan, buildCommand: withDummyKey(plan) }),
  ];
}

function runtimeStage(folder: Folder, plan: BuildPlan, image: string): Instruction[] {
  return [
    from(image, 'runtime'),
    workdir('/app'),
    aptInstall('libyaml-0-2', ...librariesOf(folder).run),
    addUser(),
    env({ ...production, PORT: plan.port, RAILS_LOG_TO_STDOUT: '1', RAILS_SERVE_STATIC_FILES: '1' }),
    copy(['/usr/local/bundle'], '/usr/local/bundle', { from: 'build' }),
    copy(['/app'], '/app', { from: 'build', owner: 'app:app' }),
    ...serve('app', plan),
  ];
}

/** Rails wants a key even to build assets; this switch makes it invent one for the while. */
const withDummyKey = ({ framework, buildCommand }: BuildPlan): string | null =>
  framework === 'rails' && buildCommand === 'bundle exec rake assets:precompile'
    ? `SECRET_KEY_BASE_DUMMY=1 SECRET_KEY_BASE=build-only ${buildCommand}`
    : buildCommand;

function gemsFirst(folder: Folder, plan: BuildPlan): Instruction[] {
  if (plan.installCommand === null) return [];
  const present = [...gemManifests, ...gemLocks, '.ruby-version'].filter(name => folder.has(name));
  const hasLocalGems = /\bpath:|\bgemspec\b/.test(folder.text('Gemfile') ?? '');
  const cache = { id: `${plan.cacheScope}-gem`, target: '/usr/local/bundle/cache' };
  const needed = plan.hasOwnInstall || hasLocalGems ? ['.'] : present;
  return [copy(needed, './'), run(plan.installCommand, cache, ...plan.secrets)];
}

/** Gems that are compiled against a library of the system, and what they need of it then and later. */
const systemLibraries: readonly (readonly [gem: string, build: string, run: string])[] = [
  ['pg', 'libpq-dev', 'libpq5'],
  ['mysql2', 'default-libmysqlclient-dev', 'libmariadb3'],
  ['sqlite3', 'libsqlite3-dev', 'libsqlite3-0'],
  ['ruby-vips', 'libvips-dev', 'libvips42'],
  ['image_processing', 'libvips-dev', 'libvips42'],
  ['rmagick', 'libmagickwand-dev', 'libmagickwand-6.q16-6'],
  ['charlock_holmes', 'libicu-dev', 'libicu72'],
];

function librariesOf(folder: Folder) {
  const gems = gemsOf(folder);
  const needed = systemLibraries.filter(([gem]) => gems.has(gem));
  return { build: needed.map(([, build]) => build), run: needed.map(([, , runtime]) => runtime) };
}
